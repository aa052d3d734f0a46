"""``td.nondifferentiable_batch_function``: calls of several threads run together as one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from treadle import nest
from treadle.declare import public
from treadle.errors import InvalidArgumentError, UnavailableError
from treadle_ops.arguments import tensor
from treadle_ops.creation import zeros
from treadle_ops.joining import concat


class _Call:
    """One caller's tensors, and what came of them."""

    def __init__(self, tensors: list[Any]) -> None:
        self.tensors = tensors
        self.size = int(tensors[0].shape[0])
        self.done = threading.Event()
        self.results: Any = None
        self.error: BaseException | None = None


class _Batcher:
    """Collects calls until there are enough rows or the first has waited long enough; its first caller runs them all."""

    def __init__(self, function: Callable[..., Any], threads: int, most: int, seconds: float, sizes: tuple[int, ...], waiting: int) -> None:
        self._function = function
        self._most = most
        self._seconds = seconds
        self._sizes = sizes
        self._waiting_most = waiting * most
        self._queue: deque[_Call] = deque()
        self._changed = threading.Condition()
        self._running = threading.Semaphore(threads)

    def __call__(self, *args: Any) -> Any:
        call = _Call([tensor(a) for a in args])
        if call.size > self._most:
            raise InvalidArgumentError(f"batch function: a call has {call.size} rows, and max_batch_size is {self._most}; give fewer, or split them")
        with self._changed:
            if sum(c.size for c in self._queue) + call.size > self._waiting_most:
                raise UnavailableError("batch function: too many rows wait already (max_enqueued_batches); call again later")
            self._queue.append(call)
            self._changed.notify_all()
        self._work(call)
        if call.error is not None:
            raise call.error
        return call.results

    def _work(self, call: _Call) -> None:
        deadline = time.monotonic() + self._seconds
        while not call.done.is_set():
            with self._changed:
                if self._queue and self._queue[0] is call:
                    while sum(c.size for c in self._queue) < self._most and (left := deadline - time.monotonic()) > 0:
                        self._changed.wait(left)
                    batch = self._take()
                    self._changed.notify_all()
                else:
                    self._changed.wait_for(lambda: call.done.is_set() or (bool(self._queue) and self._queue[0] is call))
                    continue
            with self._running:
                self._run(batch)
            with self._changed:
                self._changed.notify_all()

    def _take(self) -> list[_Call]:
        batch: list[_Call] = []
        rows = 0
        while self._queue and rows + self._queue[0].size <= self._most:
            batch.append(self._queue.popleft())
            rows += batch[-1].size
        return batch

    def _run(self, batch: list[_Call]) -> None:
        try:
            rows = sum(c.size for c in batch)
            padding = next((s for s in self._sizes if s >= rows), rows) - rows
            columns = []
            for parts in zip(*[c.tensors for c in batch], strict=True):
                extra = [zeros([padding, *parts[0].shape[1:]], parts[0].dtype)] if padding else []
                columns.append(concat([*parts, *extra], axis=0))
            results = self._function(*columns)
            start = 0
            for call in batch:
                here = slice(start, start + call.size)
                call.results = nest.map_structure(lambda t, here=here: t[here], results)
                start += call.size
        except BaseException as error:
            for call in batch:
                call.error = error
        finally:
            for call in batch:
                call.done.set()


@public("nondifferentiable_batch_function")
def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function so that calls of several threads run together, joined along their first axis.

    Args:
        num_batch_threads: how many batches may run at once.
        max_batch_size: rows of a batch, at most.
        batch_timeout_micros: how long a call waits for others, in microseconds.
        allowed_batch_sizes: sizes that a batch is filled up to with zeros, rising; by default any size.
        max_enqueued_batches: batches that may wait; more calls raise UnavailableError.
        autograph: ignored; decorate the function with ``td.function`` for that.
        enable_large_batch_splitting: ignored; a call of too many rows raises InvalidArgumentError.

    Returns:
        A decorator; the function takes and gives tensors whose first axis counts rows.

    Sources:
        TensorFlow ``tf.nondifferentiable_batch_function``.
    """
    sizes = tuple(allowed_batch_sizes or ())
    if sizes and (list(sizes) != sorted(set(sizes)) or sizes[-1] != max_batch_size):
        raise InvalidArgumentError(f"allowed_batch_sizes is {sizes}; the sizes must rise, and the last be max_batch_size, {max_batch_size}")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _Batcher(function, num_batch_threads, max_batch_size, batch_timeout_micros / 1e6, sizes, max_enqueued_batches)

    return decorate
