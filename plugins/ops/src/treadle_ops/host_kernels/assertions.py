"""Assertions: the comparison runs on the device, and only one that fails brings its values to the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.assertions import RELATIONS, AssertionFailedError, failure
from treadle_ops.print_format import array_text, render
from treadle_ops.shape_assertions import rank_problem, shapes_problem


def _host(xp: Any) -> Callable[[Any], Any]:
    return getattr(xp, "asnumpy", np.asarray)


def _comparison(op: str) -> None:
    sign, relation = RELATIONS[op]

    @kernel(op)
    def factory(xp: Any) -> Any:
        holds_everywhere = getattr(xp, relation.__name__)
        to_host = _host(xp)

        def run(x: Any, y: Any, *, message: str, summarize: int | None) -> None:
            holds = holds_everywhere(x, y)
            if not bool(holds.all()):
                raise failure(sign, message, to_host(x), to_host(y), to_host(holds), summarize)

        return run


for _op in RELATIONS:
    _comparison(_op)


@kernel("assert_near")
def assert_near(xp: Any) -> Any:
    """See the op."""
    to_host = _host(xp)

    def run(x: Any, y: Any, rtol: Any, atol: Any, *, message: str, summarize: int | None) -> None:
        holds = xp.abs(x - y) <= atol + rtol * xp.abs(y)
        if not bool(holds.all()):
            near = f"x and y not equal to tolerance rtol = {array_text(to_host(rtol), -1)}, atol = {array_text(to_host(atol), -1)}"
            raise failure("~=", f"{message}\n{near}" if message else near, to_host(x), to_host(y), to_host(holds), summarize)

    return run


@kernel("assert")
def assert_(xp: Any) -> Any:
    """See the op."""
    to_host = _host(xp)

    def run(condition: Any, data: list[Any], *, pieces: tuple[Any, ...], summarize: int) -> None:
        if condition.ndim:
            raise ValueError(f"the condition must be a scalar, not of shape {condition.shape}")
        if not bool(condition):
            shown = "\n".join(render((piece,), [to_host(d) for d in data], summarize) for piece in pieces)
            raise AssertionFailedError(f"Expected the condition to be true. Summarized data: {shown}")

    return run


@kernel("check_numerics")
def check_numerics(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, message: str) -> Any:
        finite = xp.isfinite(x)
        if bool(finite.all()):
            return x
        kinds = [kind for kind, found in (("Inf", xp.isinf(x)), ("NaN", xp.isnan(x))) if bool(found.any())]
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(kinds)} values")

    return run


@kernel("assert_rank")
def assert_rank(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, ranks: tuple[int, ...], *, at_least: bool, message: str) -> None:
        problem = rank_problem(x.ndim, list(x.shape), ranks, at_least, message)
        if problem:
            raise ShapeError(problem)

    return run


@kernel("assert_shapes")
def assert_shapes(xp: Any) -> Any:
    """See the op."""

    def run(tensors: list[Any], *, constraints: tuple[Any, ...], message: str) -> None:
        problem, _ = shapes_problem([t.shape for t in tensors], constraints, message)
        if problem:
            raise ShapeError(problem)

    return run
