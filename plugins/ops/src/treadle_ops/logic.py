"""Logic on bools, and Python's ``&``, ``|``, ``^`` and ``~``, which are logical on bools and bitwise on integers."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle_ops.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert
from treadle_ops.inference import BOOL
from treadle_ops.rows import binary, unary

logical_and = binary("logical_and", "logical_and math.logical_and", BOOL, "Where both hold.", commutative=True)
logical_or = binary("logical_or", "logical_or math.logical_or", BOOL, "Where one of the two holds, or both.", commutative=True)
logical_not = unary("logical_not", "logical_not math.logical_not", BOOL, "Where ``x`` does not hold.")
logical_xor_op = binary("logical_xor", (), BOOL, "Where one of the two holds, and not both.", commutative=True)


@public("math.logical_xor")
def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Any:
    """Where one of the two holds, and not both.

    Args:
        x: any shape, bool.
        y: a shape that broadcasts with that of ``x``, bool.
        name: ignored.

    Returns:
        The broadcast shape, bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.logical_xor``.
    """
    return logical_xor_op(x, y)


def and_operator(x: Any, y: Any) -> Any:
    """Python's ``x & y``."""
    return logical_and(x, y) if x.dtype.is_bool else bitwise_and(x, y)


def or_operator(x: Any, y: Any) -> Any:
    """Python's ``x | y``."""
    return logical_or(x, y) if x.dtype.is_bool else bitwise_or(x, y)


def xor_operator(x: Any, y: Any) -> Any:
    """Python's ``x ^ y``."""
    return logical_xor_op(x, y) if x.dtype.is_bool else bitwise_xor(x, y)


def invert_operator(x: Any) -> Any:
    """Python's ``~x``."""
    return logical_not(x) if x.dtype.is_bool else invert(x)
