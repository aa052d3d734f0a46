"""Worker threads inside one op: work that a library does on one core is split over several.

A kernel cuts its work into parts that do not touch each other, and the calling thread and the workers take them one after the other: the caller
all of them, if no worker is free. So a call inside a worker waits for nobody.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from treadle import state

T = TypeVar("T")
P = TypeVar("P")

LEAST = 1 << 19
"""Elementary operations that are worth another thread: about a tenth of a millisecond; to wake a worker takes a hundredth."""

_wanted = 0


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
    global _wanted
    if count < 0:
        raise ValueError(f"an op cannot use {count} threads; give 1 or more, or 0 for one per core")
    _wanted = count


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


def starts(stop: int, step: int, work: int) -> list[range]:
    """The blocks of ``range(0, stop, step)`` in as many ranges as threads are worth it; the blocks are the same for any number of threads."""
    return [range(part.start * step, min(part.stop * step, stop), step) for part in shares(-(-stop // step), work)]


def cut(count: int, number: int) -> list[slice]:
    """``range(count)`` in so many slices, nearly equal ones."""
    edges = [count * i // number for i in range(number + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def together(function: Callable[[P], T], parts: Sequence[P]) -> list[T]:
    """The function of every part, in their order; the parts are worked on at the same time.

    Raises:
        BaseException: what the function raised for the first part that it raised for; nothing is worked on any more by then.
    """
    helpers = min(available(), len(parts)) - 1
    if helpers < 1:
        return [function(part) for part in parts]
    job = _Job(function, parts)
    _crew.do(helpers, job.help)
    try:
        job.work()
    finally:  # also when the user interrupts: what the workers have begun must end before its arrays are used for something else
        job.close()
    if job.failures:
        raise job.failures[min(job.failures)]
    return job.results


class _Job:
    """Parts to be worked on by any number of threads.

    Attributes:
        results: of the function, in the order of the parts.
        failures: what it raised, by the number of the part; after a failure no other part is begun.
    """

    def __init__(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> None:
        self._function = function
        self._waiting = deque(enumerate(parts))
        self.results: list[Any] = [None] * len(parts)
        self.failures: dict[int, BaseException] = {}
        self._idle = threading.Condition(threading.Lock())
        self._helping = 0
        self._is_closed = False

    def work(self) -> None:
        """Take parts as long as there are any."""
        while True:
            try:
                number, part = self._waiting.popleft()
            except IndexError:
                return
            try:
                self.results[number] = self._function(part)
            except BaseException as error:
                self.failures[number] = error
                self._waiting.clear()

    def help(self) -> None:
        """Work in another thread, unless the job is closed."""
        with self._idle:
            if self._is_closed:
                return
            self._helping += 1
        try:
            self.work()
        finally:
            with self._idle:
                self._helping -= 1
                self._idle.notify()

    def close(self) -> None:
        """Begin nothing more, and wait for those who help."""
        self._waiting.clear()
        with self._idle:
            self._is_closed = True
            while self._helping:
                self._idle.wait()


class _Crew:
    """Threads that do jobs; NumPy's warnings are off in them as they are in kernels. They live as long as the process."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._size = 0

    def do(self, helpers: int, job: Callable[[], None]) -> None:
        """Let so many workers do a job when they are free; those that are not there yet are made."""
        if self._size < helpers:
            self._grow(helpers)
        for _ in range(min(helpers, self._size)):
            self._jobs.put(job)

    def _grow(self, size: int) -> None:
        with self._lock:
            while self._size < size:
                try:
                    threading.Thread(target=self._run, name=f"treadle-worker-{self._size}", daemon=True).start()
                except RuntimeError:  # the interpreter is closing down, or the system has no thread left: the caller does it all
                    return
                self._size += 1

    def _run(self) -> None:
        np.seterr(all="ignore")
        while True:
            job = self._jobs.get()
            job()
            del job  # what it worked on may go


@cache
def _default() -> int:
    """The threads of an op where nobody said how many."""
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if said.isdecimal() and int(said):
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _after_fork() -> None:
    """Only the forking thread lives on in the child."""
    global _crew
    _crew = _Crew()


_crew = _Crew()
state.after_fork(_after_fork)
