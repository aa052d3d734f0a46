"""The state of the stateful random ops: the global seed and a counter, read when an op runs and never baked into a graph."""

from __future__ import annotations

import threading
import time

_MASK = (1 << 64) - 1


class RandomState:
    """Gives out keys for counter-based generators, one per draw.

    The key depends on the global seed, on the op's own seed if it has one, and on how many draws came before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.set_seed(time.time_ns())

    def set_seed(self, seed: int) -> None:
        """Start all streams again from a seed."""
        with self._lock:
            self._seed = _mix(int(seed) & _MASK)
            self._counts: dict[int | None, int] = {}

    def next_key(self, op_seed: int | None) -> tuple[int, int]:
        """The key of the next draw, of the global stream or of an op seed's own."""
        with self._lock:
            count = self._counts.get(op_seed, 0)
            self._counts[op_seed] = count + 1
            stream = self._seed if op_seed is None else _mix(self._seed ^ _mix((op_seed & _MASK) + 1))
        return stream, count


def _mix(x: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): seeds that differ little give keys that differ much."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


state = RandomState()
