"""How the best plain NumPy or SciPy expression of an op is written down, for ``kernels.py``; the expressions are in the modules beside this one.

An expression gives what the op gives, edges included, to rounding. Where it is not plain which of several is fastest, all are given, and the
fastest one counts. A *yardstick* gives something else of a cost that the op is held to: a matrix product, a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

LIMIT = 1.15
"""How much slower than the best plain expression a kernel may be."""

SIDE = 1024
TABLE: dict[str, Callable[[], list[Line]]] = {}
"""Op to its lines, which are made when they are measured."""

Array = np.ndarray[Any, Any]


class Line(NamedTuple):
    """One call of an op, and how NumPy does it.

    Attributes:
        inputs: of the op; arrays become tensors, and anything else is passed on.
        theirs: expressions of the inputs with the same results.
        what: which case of the op it is.
        limit: of the ratio.
        yardstick: what to time instead; the results of ``theirs`` are compared all the same.
        rtol: of the comparison.
        attrs: of the op.
    """

    inputs: tuple[Any, ...]
    theirs: tuple[Callable[..., Any], ...]
    what: str
    limit: float
    yardstick: Callable[..., Any] | None
    rtol: float
    attrs: dict[str, Any]


def line(
    *inputs: Any,
    numpy: Callable[..., Any] | tuple[Callable[..., Any], ...],
    what: str = "",
    limit: float = LIMIT,
    yardstick: Callable[..., Any] | None = None,
    rtol: float = 1e-4,
    **attrs: Any,
) -> Line:
    """A line, written as the op would be called."""
    return Line(inputs, numpy if isinstance(numpy, tuple) else (numpy,), what, limit, yardstick, rtol, attrs)


def lines(*names: str) -> Callable[[Callable[[str], list[Line]]], Callable[[str], list[Line]]]:
    """Declare the lines of ops: a function of the op's name."""

    def declare(function: Callable[[str], list[Line]]) -> Callable[[str], list[Line]]:
        for name in names:
            assert name not in TABLE, name
            TABLE[name] = lambda name=name: function(name)
        return function

    return declare


def f(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32, seed: int = 0) -> Array:
    """Floats; a square matrix if no shape is given."""
    return np.random.default_rng(seed).uniform(low, high, shape or (SIDE, SIDE)).astype(dtype)


def g(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32) -> Array:
    """Other floats."""
    return f(*shape, low=low, high=high, dtype=dtype, seed=1)


def i(*shape: int, low: int = -99, high: int = 100, dtype: Any = np.int32, seed: int = 0) -> Array:
    """Integers from ``low`` up to but without ``high``."""
    return np.random.default_rng(seed).integers(low, high, shape or (SIDE, SIDE)).astype(dtype)


def b(*shape: int, seed: int = 0) -> Array:
    """Bools."""
    return i(*shape, low=0, high=2, seed=seed).astype(bool)


def c(*shape: int, dtype: Any = np.complex64) -> Array:
    """Complex numbers."""
    return (f(*shape) + 1j * g(*shape)).astype(dtype)
