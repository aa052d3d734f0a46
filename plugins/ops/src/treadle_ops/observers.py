"""What looks at every op that a thread runs, from the place of a tape that watches nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import state
from treadle.state import LOCAL


class Observer:
    """Sees every op that its thread runs eagerly; ``instrument`` may see to those of compiled graphs.

    Attributes:
        instrument: called with every graph that is compiled for this thread, before it is optimised; None leaves graphs alone.
    """

    _watched: frozenset[int] = frozenset()
    instrument: Callable[[Any], None] | None = None

    def record_op(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: Any) -> None:
        """Note the results of an op."""

    def record_call(self, name: str, inputs: list[Any], outputs: list[Any], pull: Any, zeros: bool = True) -> bool:
        """A call with a gradient of its own: nothing that is watched here."""
        return False

    def is_watching(self, things: list[Any]) -> bool:
        """Never."""
        return False

    def record_read(self, variable: Any, tensor: Any) -> None:
        """A read of a Variable: nothing to see."""

    def touch(self, variable: Any) -> None:
        """A Variable that a function reads: nothing to see."""

    def start(self) -> None:
        """Begin to see what this thread does."""
        if self not in LOCAL.tapes:
            state.enter()
            LOCAL.tapes = (self, *LOCAL.tapes)

    def stop(self) -> None:
        """See no more."""
        if self in LOCAL.tapes:
            LOCAL.tapes = tuple(t for t in LOCAL.tapes if t is not self)
            state.leave()
