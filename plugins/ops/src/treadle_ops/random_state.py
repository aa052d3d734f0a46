"""The state of the stateful random ops: the global seed and a counter, read when an op runs and never baked into a graph."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from treadle.state import after_fork

_MASK = (1 << 64) - 1
_DEFAULT_SEED = 87654321
"""The global seed of ops that have a seed of their own, until the user sets one: their numbers are the same in every process."""


class RandomState:
    """Gives out keys for counter-based generators, one per draw.

    The key depends on the global seed, on the op's own seed if it has one, and on how many draws came before.
    """

    _lock = threading.Lock()

    def __init__(self) -> None:
        self._counts: dict[int | None, int] = {}
        self._seed = int.from_bytes(os.urandom(8))
        self._seed_of_op_seeds = _mix(_DEFAULT_SEED)
        self._is_seeded = False

    @classmethod
    def renew_lock(cls) -> None:
        """Take a new lock: in the child of a fork the old one may be held by a thread that is not there."""
        cls._lock = threading.Lock()

    def begun_anew(self) -> RandomState:
        """Streams of their own that begin where these began: without a global seed those of op seeds do, and the global one is another."""
        made = RandomState()
        with self._lock:
            if self._is_seeded:
                made._seed, made._seed_of_op_seeds, made._is_seeded = self._seed, self._seed_of_op_seeds, True
        return made

    def set_seed(self, seed: int) -> None:
        """Start all streams again from a seed."""
        with self._lock:
            self._seed = self._seed_of_op_seeds = _mix(int(seed) & _MASK)
            self._counts = {}
            self._is_seeded = True

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
"""What ops draw from, eagerly and in functions."""
after_fork(RandomState.renew_lock)


class _Thread(threading.local):
    """What the ops of the session draw from that the thread runs, if it does."""

    streams: RandomState | None = None


_thread = _Thread()


def in_force() -> RandomState:
    """What the ops of a graph draw from that this thread runs."""
    return _thread.streams or state


def session_streams() -> Callable[[], AbstractContextManager[None]]:
    """What a session enters for each run: its draws begin anew from the seeds that are in force now, and go on from run to run."""
    streams = state.begun_anew()

    @contextmanager
    def drawn_from() -> Iterator[None]:
        outer, _thread.streams = _thread.streams, streams
        try:
            yield
        finally:
            _thread.streams = outer

    return drawn_from
