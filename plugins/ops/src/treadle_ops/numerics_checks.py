"""``td.debugging.enable_check_numerics``: the first op that makes a NaN or an infinity says so.

Eager ops are looked at as a tape would; a compiled graph gets a guard behind every node, in its branches and loops and on the way back too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from treadle import state
from treadle.autodiff.tape import identity_of
from treadle.declare import FreeSpec, op, public
from treadle.errors import InvalidArgumentError
from treadle.graph.effects import needed_nodes
from treadle.graph.graph import Graph, Value
from treadle.graph.source import Source, caller, differentiated
from treadle.state import LOCAL
from treadle.tensor import Tensor
from treadle_ops.inference import FLOATING_OR_COMPLEX, require_kind
from treadle_ops.observers import Observer

Host: TypeAlias = np.ndarray[Any, Any]
_OWN = ("guard_numerics", "check_numerics")
_MOST_LINES = 1 << 16
"""Results whose lines are remembered for the way back, the latest."""


@op("guard_numerics", effect="writes", can_fail=True)
def guard_numerics_op(x: FreeSpec, inputs: Sequence[FreeSpec], *, made_by: str, output: int) -> None:
    """Fail if output ``x`` of the op ``made_by``, which had these inputs, has a NaN or an infinity."""
    require_kind(x, FLOATING_OR_COMPLEX, "x")


def what_is_wrong(made_by: str, output: int, x: Host, inputs: Sequence[Host], where: str = "") -> InvalidArgumentError:
    """The error for a result that is not finite.

    Args:
        made_by: the op.
        output: which of its results.
        x: the result.
        inputs: the tensors that the op had.
        where: the user's line, where the error does not get it otherwise.
    """
    had = "; ".join(f"input {i} is {_range(array)}" for i, array in enumerate(inputs)) or "it has no floating-point inputs"
    at = f", called at {where}" if where else ""
    return InvalidArgumentError(f"check_numerics: output {output} of op {made_by!r} has {_bad(x)}: it is {_range(x)}; {had}{at}")


def _bad(x: Host) -> str:
    kinds = [("NaN", np.isnan(x)), ("Inf", np.isinf(x))]
    return " and ".join(f"{int(found.sum())} {name}" for name, found in kinds if found.any()) + f" among {x.size} elements"


def _range(x: Host) -> str:
    kind = f"{x.dtype.name}{list(x.shape)}"
    if not x.size:
        return f"{kind} without elements"
    finite = x[np.isfinite(x)]
    text = f"{kind} from {float(finite.min()):g} to {float(finite.max()):g}" if finite.size and x.dtype.kind != "c" else kind
    bad = [f"{int(count)} {name}" for name, count in (("NaN", np.isnan(x).sum()), ("Inf", np.isinf(x).sum())) if count]
    return text + (f" with {' and '.join(bad)}" if bad else "")


class NumericsChecker(Observer):
    """Looks at every floating-point result."""

    def __init__(self) -> None:
        self._lines: OrderedDict[int, Source] = OrderedDict()

    def record_op(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: Any) -> None:
        """Check the results of an eager op.

        Raises:
            InvalidArgumentError: one has a NaN or an infinity.
        """
        if op.name in _OWN:
            return
        for i, output in enumerate(outputs):
            if output.dtype.is_differentiable and type(output) is Tensor:
                with state.untaped():
                    array = output.numpy()
                    if not np.isfinite(array).all():
                        flat = [t for entry in inputs for t in (entry if isinstance(entry, list | tuple) else [entry])]
                        arrays = [np.asarray(t.numpy()) for t in flat if getattr(getattr(t, "dtype", None), "is_differentiable", False)]
                        raise what_is_wrong(op.name, i, np.asarray(array), arrays, self._where())
                if len(LOCAL.tapes) > 1:
                    self._remember(output)

    def _remember(self, output: Tensor) -> None:
        """Keep the line that made a result, as its gradient may turn out bad."""
        lines = self._lines
        lines[identity_of(output)] = caller()
        if len(lines) > _MOST_LINES:
            lines.popitem(last=False)

    def _where(self) -> str:
        """The user's line; on the way back, the op that is differentiated and the line that called it."""
        record = differentiated()
        made = None if record is None else self._lines.get(record.results[0])
        if made is None:
            return str(caller())
        return f"{made._replace(gradient=record.name)}, asked for at {caller()}"

    def stop(self) -> None:
        """See no more."""
        self._lines = OrderedDict()
        super().stop()

    def instrument(self, graph: Graph) -> None:
        """Put a guard behind every node that a result or an effect of the graph depends on."""
        needed = needed_nodes(graph, ("random", "writes", "io"))
        for node in list(graph.nodes):
            if node.op.structural or node.op.name in _OWN or node not in needed:
                continue
            inputs = [v for v in node.inputs if _is_checked(v)]
            for i, value in enumerate(node.outputs):
                if _is_checked(value):
                    attrs = {"made_by": node.op.name, "output": i}
                    graph.add(guard_numerics_op.op, [value, *inputs], attrs, splits=(-1, len(inputs)), before=node.next, source=node.source)


def _is_checked(value: Value) -> bool:
    dtype = value.spec.dtype
    return dtype.is_differentiable and dtype.kind != "l" and not value.spec.resource


_checker = NumericsChecker()


@public("debugging.enable_check_numerics")
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Check every result that this thread computes, eagerly or in traced functions, for NaN and infinities.

    The first op that makes one raises InvalidArgumentError with its name, the ranges of its inputs and the user's line. Functions that are traced
    already are checked too: they are compiled again with the checks.

    Args:
        stack_height_limit: ignored.
        path_length_limit: ignored.

    Sources:
        TensorFlow ``tf.debugging.enable_check_numerics``.
    """
    _checker.start()


@public("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Check no more; see ``enable_check_numerics``."""
    _checker.stop()
