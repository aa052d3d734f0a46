"""Operations on the bits of integers."""

from __future__ import annotations

from treadle_ops.inference import INTEGER
from treadle_ops.rows import binary, unary

bitwise_and = binary("bitwise_and", "bitwise.bitwise_and", INTEGER, "The bits that both have.", commutative=True)
bitwise_or = binary("bitwise_or", "bitwise.bitwise_or", INTEGER, "The bits that one of the two has, or both.", commutative=True)
bitwise_xor = binary("bitwise_xor", "bitwise.bitwise_xor", INTEGER, "The bits that one of the two has, and not both.", commutative=True)
invert = unary("invert", "bitwise.invert", INTEGER, "Every bit the other way round.")
left_shift = binary("left_shift", "bitwise.left_shift", INTEGER, "Bits moved up by ``y``, which counts as 0 below 0 and at most as all bits but one.")
right_shift = binary(
    "right_shift",
    "bitwise.right_shift",
    INTEGER,
    "Bits moved down by ``y``, which counts as 0 below 0 and at most as all bits but one; signs are kept.",
)
