"""Why a function was traced again: which argument differed from the nearest earlier trace, how, and what to do about it."""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from treadle.functions.keys import Key, PythonPart, TensorPart, VariablePart

_LOGGER = logging.getLogger("treadle.function")
MANY = 6
"""Traces of one function from which a warning is worth it."""

_MOST_LOGGED = 10_000
_MOST_REMEMBERED = 1_000


class TraceRecord(NamedTuple):
    """One trace.

    Attributes:
        function: its name.
        cause: why it was made.
        seconds: that tracing took.
    """

    function: str
    cause: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.function}: {self.cause} ({self.seconds * 1e3:.1f} ms)"


_log: collections.deque[TraceRecord] = collections.deque(maxlen=_MOST_LOGGED)


def trace_log() -> list[TraceRecord]:
    """The traces of this process, the earliest first, each with its cause and what it cost (the last ten thousand)."""
    return list(_log)


class History:
    """The traces of one function (the last thousand), and the one warning that it may give.

    Args:
        name: of the function.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: collections.deque[TraceRecord] = collections.deque(maxlen=_MOST_REMEMBERED)
        self._keys: collections.deque[Key] = collections.deque(maxlen=_MOST_REMEMBERED)
        self._count = 0
        self._warned = False
        self._lock = threading.Lock()

    def add(self, key: Key, paths: list[str], seconds: float) -> None:
        """Note a trace, and warn once when there are many."""
        with self._lock:
            cause = why(self._keys, key, paths)
            record = TraceRecord(self.name, cause, seconds)
            self.records.append(record)
            self._keys.append(key)
            self._count += 1
            warn = self._count >= MANY and not self._warned
            self._warned = self._warned or warn
        _log.append(record)
        if warn:
            _LOGGER.warning("%r has been traced %d times, which costs more than it saves; the last time since %s", self.name, self._count, cause)

    def explain(self) -> str:
        """One line a trace."""
        with self._lock:
            count, records = self._count, list(self.records)
        lines = [f"trace {i}: {r.cause} ({r.seconds * 1e3:.1f} ms)" for i, r in enumerate(records, count - len(records) + 1)]
        return "\n".join([f"{self.name}: {count} trace{'s' if count != 1 else ''}", *lines])


def why(earlier: Sequence[Key], key: Key, paths: list[str]) -> str:
    """Why a signature was traced, in terms of the nearest of the earlier ones."""
    if not earlier:
        return "first call"
    alike = [k for k in earlier if k.structure == key.structure]
    if not alike:
        return "the arguments have another structure than in every earlier call; pass the same nesting of lists, tuples and dicts"
    nearest = min(reversed(alike), key=lambda k: _distance(k, key))
    causes = [_cause(path, a, b) for path, a, b in zip(paths, nearest.parts, key.parts, strict=True) if a != b]
    if nearest.context != key.context:
        causes.append(f"the device scope is {key.context or 'the default'} instead of {nearest.context or 'the default'}")
    if nearest.aliases != key.aliases:
        causes.append("one list or dict is given in other places than before; give one object twice always, or never")
    return "; ".join(causes) or "it was forgotten"


def _distance(a: Key, b: Key) -> int:
    return sum(bool(x != y) for x, y in zip(a.parts, b.parts, strict=True)) + int(a.context != b.context) + int(a.aliases != b.aliases)


def _cause(path: str, before: Any, now: Any) -> str:
    if isinstance(before, TensorPart) and isinstance(now, TensorPart):
        if before.dtype is not now.dtype:
            return f"argument {path!r} is {now!r} and was {before!r}; cast it to one dtype"
        if before.dims is not None and now.dims is not None and len(before.dims) == len(now.dims):
            return f"argument {path!r} is {now!r} and was {before!r}; use reduce_retracing=True, or an input_signature with None for sizes that vary"
        return f"argument {path!r} is {now!r} and was {before!r}; use an input_signature with TensorSpec(None) for any rank"
    if isinstance(before, PythonPart) and isinstance(now, PythonPart):
        if now.type in (int, float, bool, complex):
            return (
                f"argument {path!r} is the Python {now.type.__name__} {_shown(now)} and was {_shown(before)}; Python numbers are part of the "
                "signature, pass a tensor (td.constant) for one trace to serve all values"
            )
        return f"argument {path!r} is another {now.type.__name__} ({_shown(now)}) than before; pass the same object"
    if isinstance(before, VariablePart) and isinstance(now, VariablePart):
        if (before.dtype, before.shape, before.trainable) == (now.dtype, now.shape, now.trainable):
            return (
                f"argument {path!r} is the same Variable as another argument now and was not, or the other way round; give each its own always, "
                "or never"
            )
        return f"argument {path!r} is {now!r} and was {before!r}; pass Variables of one dtype and shape"
    return f"argument {path!r} is {now!r} and was {before!r}; pass the same kind of value"


def _shown(part: PythonPart) -> str:
    text = repr(part)
    return text if len(text) < 40 else text[:37] + "..."
