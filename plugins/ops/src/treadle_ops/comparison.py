"""Comparisons, element by element, and Python's ``==`` and ``!=``, which never raise over shapes or None."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import op
from treadle.dtypes import bool as bool_dtype
from treadle.errors import ShapeError
from treadle.symbolic import SymbolicTensor
from treadle_ops.arguments import tensor
from treadle_ops.inference import ANY, FLOATING, REAL, same_dtype
from treadle_ops.rows import binary, unary

equal = binary("equal", "equal math.equal", ANY, "``x == y``; NaN equals nothing.", dtype=bool_dtype, commutative=True)
not_equal = binary("not_equal", "not_equal math.not_equal", ANY, "``x != y``; NaN differs from all.", dtype=bool_dtype, commutative=True)
less = binary("less", "less math.less", REAL, "``x < y``; never with NaN.", dtype=bool_dtype)
less_equal = binary("less_equal", "less_equal math.less_equal", REAL, "``x <= y``; never with NaN.", dtype=bool_dtype)
greater = binary("greater", "greater math.greater", REAL, "``x > y``; never with NaN.", dtype=bool_dtype)
greater_equal = binary("greater_equal", "greater_equal math.greater_equal", REAL, "``x >= y``; never with NaN.", dtype=bool_dtype)
is_nan = unary("is_nan", "math.is_nan", FLOATING, "Where ``x`` is NaN.", dtype=bool_dtype)
is_inf = unary("is_inf", "math.is_inf", FLOATING, "Where ``x`` is infinite.", dtype=bool_dtype)
is_finite = unary("is_finite", "math.is_finite", FLOATING, "Where ``x`` is neither infinite nor NaN.", dtype=bool_dtype)


@op("equal_or_false")
def equal_or_false(x: Spec, y: Spec) -> Spec:
    """``x == y``, and a scalar False where the shapes turn out not to broadcast."""
    return Spec(_hoped_dims(x, y), bool_dtype)


@op("not_equal_or_true")
def not_equal_or_true(x: Spec, y: Spec) -> Spec:
    """``x != y``, and a scalar True where the shapes turn out not to broadcast."""
    return Spec(_hoped_dims(x, y), bool_dtype)


def _hoped_dims(x: Spec, y: Spec) -> Any:
    """The dims if the shapes broadcast: programs that go on with the result mean that they do."""
    same_dtype(x, y)
    try:
        return sizes.broadcast(x.dims, y.dims)
    except ShapeError:
        return ()


def is_equal(x: Any, y: Any) -> Any:
    """Python's ``x == y``: False for None and for shapes that do not broadcast."""
    return _compared(x, y, equal, equal_or_false, False)


def is_not_equal(x: Any, y: Any) -> Any:
    """Python's ``x != y``: True for None and for shapes that do not broadcast."""
    return _compared(x, y, not_equal, not_equal_or_true, True)


def _compared(x: Any, y: Any, strict: Any, lenient: Any, otherwise: bool) -> Any:
    if y is None:
        return otherwise
    if isinstance(x, SymbolicTensor) or isinstance(y, SymbolicTensor):
        left = tensor(x)
        right = tensor(y, left)
        return (strict if _will_broadcast(left.dims, right.dims) else lenient)(left, right)
    try:
        return strict(x, y)
    except ShapeError:
        return tensor(otherwise)


def _will_broadcast(x: Any, y: Any) -> bool:
    if x is None or y is None:
        return x == () or y == ()
    return all(sizes.known_equal(a, b) or 1 in (a, b) for a, b in zip(reversed(x), reversed(y), strict=False))
