"""Counter-based generators of random bits, written for any array module: Philox4x64-10 and Threefry2x64-20.

Number ``i`` of a stream is a function of the key and of ``i`` alone, so every device draws the same numbers, in any order.

Sources:
    Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math
from typing import Any

Key = tuple[int, int]

MASK64 = (1 << 64) - 1
_MASK32 = 0xFFFFFFFF
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROTATIONS = (16, 42, 12, 31, 16, 32, 24, 21)
_PARITY = 0x1BD11BDAA9FC1A22


def checked(key: Any) -> Key:
    """The key of a draw.

    Raises:
        ValueError: it is not two integers.
    """
    if type(key) is not tuple or len(key) != 2 or not isinstance(key[0], int):
        raise ValueError(f"a seed must be two integers, not {key}")
    return key


def size_of(shape: tuple[int, ...]) -> int:
    """The number of elements of a shape.

    Raises:
        ValueError: a size is negative.
    """
    if any(n < 0 for n in shape):
        raise ValueError(f"the shape {shape} has a negative size")
    return math.prod(shape)


class Philox:
    """Philox4x64-10: four words per counter. Counters start at 1, as those of ``numpy.random.Philox`` do."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def bits(self, key: Key, count: int) -> Any:
        """The first ``count`` words of the stream of a key."""
        xp = self._xp
        blocks = self.blocks(key, xp.arange(-(-count // 4), dtype=xp.uint64), 0)
        return xp.stack(blocks, 1).reshape(-1)[:count]

    def blocks(self, key: Key, index: Any, turn: int) -> list[Any]:
        """Four arrays of words, one of each for every index; another turn gives other words."""
        xp = self._xp
        c0, c1 = index + xp.uint64(1), xp.full(index.shape, turn, xp.uint64)
        c2, c3 = xp.zeros(index.shape, xp.uint64), xp.zeros(index.shape, xp.uint64)
        k0, k1 = key[0] & MASK64, key[1] & MASK64
        for _ in range(10):
            high0, low0 = wide_multiply(xp, _MULTIPLIERS[0], c0)
            high1, low1 = wide_multiply(xp, _MULTIPLIERS[1], c2)
            c0, c1, c2, c3 = high1 ^ c1 ^ xp.uint64(k0), low1, high0 ^ c3 ^ xp.uint64(k1), low0
            k0, k1 = (k0 + _WEYL[0]) & MASK64, (k1 + _WEYL[1]) & MASK64
        return [c0, c1, c2, c3]


class Threefry:
    """Threefry2x64-20: two words per counter."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def bits(self, key: Key, count: int) -> Any:
        """The first ``count`` words of the stream of a key."""
        xp = self._xp
        pair = self._pair(key, xp.arange(-(-count // 2), dtype=xp.uint64), 0)
        return xp.stack(pair, 1).reshape(-1)[:count]

    def blocks(self, key: Key, index: Any, turn: int) -> list[Any]:
        """Four arrays of words, one of each for every index; another turn gives other words."""
        return self._pair(key, index, 2 * turn) + self._pair(key, index, 2 * turn + 1)

    def _pair(self, key: Key, index: Any, turn: int) -> list[Any]:
        xp = self._xp
        k0, k1 = key[0] & MASK64, key[1] & MASK64
        schedule = (k0, k1, k0 ^ k1 ^ _PARITY)
        x0, x1 = index + xp.uint64(k0), xp.full(index.shape, (turn + k1) & MASK64, xp.uint64)
        for i in range(20):
            rotation = _ROTATIONS[i % 8]
            x0 = x0 + x1
            x1 = ((x1 << xp.uint64(rotation)) | (x1 >> xp.uint64(64 - rotation))) ^ x0
            if i % 4 == 3:
                n = i // 4 + 1
                x0 = x0 + xp.uint64(schedule[n % 3])
                x1 = x1 + xp.uint64((schedule[(n + 1) % 3] + n) & MASK64)
        return [x0, x1]


def wide_multiply(xp: Any, a: int, b: Any) -> tuple[Any, Any]:
    """The high and the low 64 bits of a number times an array, by halves."""
    a_high, a_low = xp.uint64(a >> 32), xp.uint64(a & _MASK32)
    shift, mask = xp.uint64(32), xp.uint64(_MASK32)
    b_high, b_low = b >> shift, b & mask
    middle = a_high * b_low + ((a_low * b_low) >> shift)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> shift) + (other >> shift), xp.uint64(a) * b


def scaled(xp: Any, bits: Any, bound: Any) -> Any:
    """``bits * bound / 2**64`` rounded down: a number below ``bound`` for every word (the bound may be an array)."""
    shift, mask = xp.uint64(32), xp.uint64(_MASK32)
    high, low, bound_high, bound_low = bits >> shift, bits & mask, bound >> shift, bound & mask
    middle = high * bound_low + ((low * bound_low) >> shift)
    other = low * bound_high + (middle & mask)
    return high * bound_high + (middle >> shift) + (other >> shift)
