"""The state of the stateful random ops: the global seed and a counter, read when an op runs and never baked into a graph."""

from __future__ import annotations

import os
import threading
import time

from treadle.state import after_fork

_MASK = (1 << 64) - 1
_DEFAULT_SEED = 87654321
"""The global seed of ops that have a seed of their own, until the user sets one: their numbers are the same in every process."""


class RandomState:
    """Gives out keys for counter-based generators, one per draw.

    The key depends on the global seed, on the op's own seed if it has one, and on how many draws came before.
    """

    def __init__(self) -> None:
        self.renew_lock()
        self._counts: dict[int | None, int] = {}
        self._seed = _mix((time.time_ns() ^ (os.getpid() << 40)) & _MASK)
        self._seed_of_op_seeds = _mix(_DEFAULT_SEED)

    def renew_lock(self) -> None:
        """Take a new lock: in the child of a fork the old one may be held by a thread that is not there."""
        self._lock = threading.Lock()

    def set_seed(self, seed: int) -> None:
        """Start all streams again from a seed."""
        with self._lock:
            self._seed = self._seed_of_op_seeds = _mix(int(seed) & _MASK)
            self._counts = {}

    def next_key(self, op_seed: int | None) -> tuple[int, int]:
        """The key of the next draw, of the global stream or of an op seed's own."""
        with self._lock:
            count = self._counts.get(op_seed, 0)
            self._counts[op_seed] = count + 1
            if op_seed is None:
                return self._seed, count
            return _mix(self._seed_of_op_seeds ^ _mix((op_seed + 1) & _MASK)), count


def _mix(x: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): seeds that differ little give keys that differ much."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


state = RandomState()
after_fork(state.renew_lock)
