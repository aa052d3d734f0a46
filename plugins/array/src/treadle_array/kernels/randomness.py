"""Random numbers from the counter-based generator Philox4x64-10 (Salmon, Moraes, Dror and Shaw, 2011)."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType

_MASK32 = 0xFFFFFFFF
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def philox_bits(xp: Any, key: tuple[int, int], count: int) -> Any:
    """``count`` random uint64 numbers, a function of the key; counters start at 1, as NumPy's ``Philox`` counts."""
    blocks = -(-count // 4)
    c0 = xp.arange(1, blocks + 1, dtype=xp.uint64)
    c1, c2, c3 = xp.zeros_like(c0), xp.zeros_like(c0), xp.zeros_like(c0)
    k0, k1 = key
    for _ in range(10):
        high0, low0 = _wide_multiply(xp, _MULTIPLIERS[0], c0)
        high1, low1 = _wide_multiply(xp, _MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ xp.uint64(k0), low1, high0 ^ c3 ^ xp.uint64(k1), low0
        k0, k1 = (k0 + _WEYL[0]) & ((1 << 64) - 1), (k1 + _WEYL[1]) & ((1 << 64) - 1)
    return xp.stack([c0, c1, c2, c3], 1).reshape(-1)[:count]


def _wide_multiply(xp: Any, a: int, b: Any) -> tuple[Any, Any]:
    """The high and the low 64 bits of a product, by halves."""
    a_high, a_low = xp.uint64(a >> 32), xp.uint64(a & _MASK32)
    shift, mask = xp.uint64(32), xp.uint64(_MASK32)
    b_high, b_low = b >> shift, b & mask
    low_low = a_low * b_low
    middle = a_high * b_low + (low_low >> shift)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> shift) + (other >> shift), xp.uint64(a) * b


def unit_floats(xp: Any, bits: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    """Numbers in [0, 1) from random uint64s, each with as many random bits as the dtype's mantissa holds."""
    if dtype.size == 8:
        return ((bits >> xp.uint64(11)).astype(xp.float64) * 2.0**-53).reshape(shape)
    words = bits.view(xp.uint32)
    count = 1
    for size in shape:
        count *= size
    kept = {"float16": 11, "bfloat16": 8}.get(dtype.name, 24)
    return ((words[:count] >> xp.uint32(32 - kept)).astype(xp.float32) * xp.float32(2.0**-kept)).astype(dtype.numpy).reshape(shape)


@kernel("stateless_uniform")
def stateless_uniform(xp: Any) -> Any:
    """See the op."""
    draw = getattr(xp, "philox_bits", None) or (lambda key, count: philox_bits(xp, key, count))

    def run(shape: tuple[int, ...], key: tuple[int, int], *, dtype: DType) -> Any:
        count = 1
        for size in shape:
            count *= size
        return unit_floats(xp, draw(key, count if dtype.size == 8 else -(-count // 2)), shape, dtype)

    return run
