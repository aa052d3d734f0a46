"""Worker threads inside one op: work that a library does on one core is split over several.

A kernel cuts its work into parts that do not touch each other; the calling thread takes the first, the workers the others, and what no worker has
begun when the caller is done it takes too. So a busy machine costs little, and a call inside a worker waits for nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from treadle import state

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
P = TypeVar("P")

LEAST = 1 << 19
"""Elementary operations that are worth another thread: about a tenth of a millisecond; to wake a worker takes a hundredth."""

_wanted = 0
_pool: ThreadPoolExecutor | None = None


def get_count() -> int:
    """Threads that an op may use, as they were set; 0 for as many as the process has cores."""
    return _wanted


def set_count(count: int) -> None:
    """Say how many threads an op may use.

    Args:
        count: of threads, the caller's among them: 1 for that one alone; 0 for as many as the process has cores.

    Raises:
        ValueError: it is negative.
    """
    global _wanted, _pool
    if count < 0:
        raise ValueError(f"an op cannot use {count} threads; give 1 or more, or 0 for one per core")
    _wanted, _pool = count, None


def available() -> int:
    """How many threads an op may use: what was set, else ``OMP_NUM_THREADS`` as it was at the first question, else the cores of the process."""
    return _wanted or _default()


def shares(count: int, work: int) -> list[slice]:
    """``range(count)`` in as many slices as threads are worth it, nearly equal ones.

    Args:
        count: of things that can be worked on apart.
        work: elementary operations that they take together.
    """
    number = min(available(), count, work // LEAST)
    if number < 2:
        return [slice(0, count)]
    return cut(count, number)


def cut(count: int, number: int) -> list[slice]:
    """``range(count)`` in so many slices, nearly equal ones."""
    edges = [count * i // number for i in range(number + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def together(function: Callable[[P], T], parts: Sequence[P]) -> list[T]:
    """The function of every part, in their order; the parts are worked on at the same time.

    Raises:
        Exception: what the function raised for the first part that it raised for; nothing is worked on any more by then.
    """
    if len(parts) == 1 or available() == 1:
        return [function(part) for part in parts]
    try:
        pool = _workers()
        futures = [pool.submit(function, part) for part in parts[1:]]
    except RuntimeError:  # the interpreter is closing down, and starts no thread any more
        return [function(part) for part in parts]
    try:
        first = function(parts[0])
        mine = {i: function(part) for i, part in enumerate(parts[1:]) if futures[i].cancel()}
        return [first, *[mine[i] if i in mine else future.result() for i, future in enumerate(futures)]]
    finally:
        for future in futures:
            if not future.cancel():
                future.exception()


def _workers() -> ThreadPoolExecutor:
    """The pool, made at the first need; NumPy's warnings are off in its threads as they are in kernels."""
    global _pool
    pool = _pool
    if pool is None:
        from concurrent.futures import ThreadPoolExecutor

        pool = _pool = ThreadPoolExecutor(max(1, available() - 1), "treadle-worker", initializer=np.seterr, initargs=("ignore",))
    return pool


@cache
def _default() -> int:
    """The threads of an op where nobody said how many."""
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if said.isdecimal() and int(said):
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _after_fork() -> None:
    """Only the forking thread lives on in the child."""
    global _pool
    _pool = None


state.after_fork(_after_fork)
