"""The pass contract: a frozen dataclass whose fields are its options and whose ``run`` rewrites a graph.

A pass may not change a result by one bit, nor an error, an effect or their order, unless ``context.fast_math``; a second run changes nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from treadle.errors import GraphError


class PassContext:
    """What a pass may use, and where it tells what it did.

    Attributes:
        fast_math: inexact rewrites are allowed.
        device: the device that the graph is for.
        rewrites: rule to how often it was applied.
    """

    def __init__(self, device: Any, fast_math: bool, most: int) -> None:
        self.device = device
        self.fast_math = fast_math
        self.rewrites: Counter[str] = Counter()
        self._most = most
        self._count = 0

    def rewrote(self, rule: str, node: Any) -> None:
        """Tell that a rule was applied to a node.

        Raises:
            GraphError: rules were applied far more often than the graph has nodes: they undo each other.
        """
        self.rewrites[rule] += 1
        self._count += 1
        if self._count > self._most:
            raise GraphError(f"{self._count} rewrites without an end, the last by rule {rule!r} at {node!r}")

    def evaluate(self, node: Any) -> list[Any] | None:
        """The host arrays of a node whose inputs are all constants, by the kernel of the device it would run on; None if it has none or raises."""
        raise NotImplementedError


class Pass:
    """Base of the passes; subclasses are frozen dataclasses.

    Attributes:
        name: kebab-case, the entry point's name.
        requires: names of passes that must stand before it in a schedule.
        ensures: what holds after it, in words, for the reader.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    ensures: ClassVar[str] = ""

    def run(self, item: Any, context: PassContext) -> bool:
        """Rewrite ``item.graph``; whether anything changed."""
        raise NotImplementedError


@dataclass
class PassReport:
    """What one run of a pass did.

    Attributes:
        name: of the pass.
        plugin: where it comes from.
        graph: name of the graph.
        round: counted from 1.
        nodes_before: before the run.
        nodes_after: after it.
        seconds: that it took.
        changed: whether it changed the graph.
        rewrites: rule to how often it was applied.
        error: why it was rolled back, or None.
        text: the graph after it, when asked for.
    """

    name: str
    plugin: str
    graph: str
    round: int
    nodes_before: int
    nodes_after: int = 0
    seconds: float = 0.0
    changed: bool = False
    rewrites: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    text: str | None = None
