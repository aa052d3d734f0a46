"""Why a function was traced again: which argument differed from the nearest earlier trace, how, and what to do about it."""

from __future__ import annotations

import collections
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, NamedTuple

from treadle.functions.keys import Key, PythonPart, TensorPart, VariablePart

_LOGGER = logging.getLogger("treadle.function")
MANY = 6
"""Traces of one function from which a warning is worth it."""

_MOST_LOGGED = 10_000
_MOST_REMEMBERED = 2_000
_MOST_COMPARED = 64
_MOST_CAUSES = 3
_MOST_SHOWN = 40
_LET_GO = "the trace for this signature was let go: by clear(), or as the function has more signatures than it keeps (function.most_traces)"


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
    """The traces of one function (the last two thousand), and the one warning that it may give.

    Args:
        name: of the function.
        code: of the Python function, which many traced functions may be made of; None if it has none.
        of: whose first call a first call is, for messages.
    """

    def __init__(self, name: str, code: CodeType | None = None, of: str = "") -> None:
        self.name = name
        self.records: collections.deque[TraceRecord] = collections.deque(maxlen=_MOST_REMEMBERED)
        self._earlier: collections.deque[Told] = collections.deque(maxlen=_MOST_COMPARED)
        self._hashes: collections.deque[int] = collections.deque(maxlen=_MOST_REMEMBERED)
        self._code = code
        self._of = of
        self._count = 0
        self._warned = False
        self._lock = threading.Lock()

    def add(self, key: Key, arguments: Arguments, seconds: float, note: str = "") -> None:
        """Note a trace, and warn once when there are many.

        Args:
            key: the signature that was asked for.
            arguments: what says it in the user's words.
            seconds: that tracing took.
            note: a cause that the signatures do not show.
        """
        now = told(key, arguments)
        with self._lock:
            if now.hash in self._hashes and not key.references:  # the number of an object that went is given to another
                note = note or _LET_GO
            cause = note or (why(self._earlier, now, arguments) if self._earlier else self._first())
            record = TraceRecord(self.name, cause, seconds)
            self.records.append(record)
            self._earlier.append(now)
            self._hashes.append(now.hash)
            self._count += 1
            warn = self._count >= MANY and not self._warned
            self._warned = self._warned or warn
        _log.append(record)
        if warn:
            _LOGGER.warning("%r has been traced %d times, which costs more than it saves; the last time since %s", self.name, self._count, cause)

    def _first(self) -> str:
        """The cause of a first trace; a warning, once, when many functions were made of one code."""
        if self._of or self._code is None:
            return f"first call{self._of}"
        number = _made[self._code] = _made.get(self._code, 0) + 1
        if number == 1:
            return "first call"
        place = f"{self._code.co_filename}:{self._code.co_firstlineno}"
        if number == MANY:
            _LOGGER.warning(
                "%r (%s) has been made into a traced function %d times, and is traced anew each time; make it once, outside of the loop or "
                "function that makes it, and keep it",
                self.name,
                place,
                number,
            )
        return f"first call of another td.function of the same code ({place}), the {number}th; make it once, and keep it"

    def failed(self, error: Exception, seconds: float) -> None:
        """Note a trace that came to nothing."""
        record = TraceRecord(self.name, f"it failed: {type(error).__name__}", seconds)
        with self._lock:
            self.records.append(record)
            self._count += 1
        _log.append(record)

    def explain(self) -> str:
        """One line a trace."""
        with self._lock:
            count, records = self._count, list(self.records)
        lines = [f"trace {i}: {r.cause} ({r.seconds * 1e3:.1f} ms)" for i, r in enumerate(records, count - len(records) + 1)]
        return "\n".join([f"{self.name}{self._of.replace(' on', ' of', 1)}: {count} trace{'s' if count != 1 else ''}", *lines])


_made: weakref.WeakKeyDictionary[CodeType, int] = weakref.WeakKeyDictionary()
"""Code to how many traced functions of it were called."""


class Arguments(NamedTuple):
    """The arguments of a signature, in the user's words.

    Attributes:
        paths: of the leaves.
        structures: a signature to its arguments by name, each nested as text.
        relaxes: whether sizes that vary are relaxed as it is.
    """

    paths: list[str]
    structures: Callable[[Key], dict[str, str]]
    relaxes: bool


class Seen(NamedTuple):
    """A Python value of an earlier signature, as text, so that nothing of the user's is kept alive."""

    type: str
    text: str
    hash: int

    def __repr__(self) -> str:
        return self.text


class Told(NamedTuple):
    """A signature as a history remembers it.

    Attributes:
        structure: the hash of the arguments' structure.
        arguments: by name, each nested as text.
        parts: one per leaf.
        context: the device scope.
        aliases: which lists and dicts among the arguments are the same one.
        hash: of the whole.
    """

    structure: int
    arguments: dict[str, str]
    parts: tuple[Any, ...]
    context: Any
    aliases: tuple[tuple[int, int], ...]
    hash: int


def told(key: Key, arguments: Arguments) -> Told:
    """A signature as something that can be kept."""
    parts = tuple([part if isinstance(part, TensorPart | VariablePart) else _seen(part) for part in key.parts])
    return Told(hash(key.structure), arguments.structures(key), parts, key.context, key.aliases, hash(key))


def _seen(part: Any) -> Seen:
    kind = part.type.__name__ if isinstance(part, PythonPart) else type(part).__name__
    text = repr(part)
    return Seen(kind, text if len(text) < _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "...", hash(part))


def why(earlier: Sequence[Told], now: Told, arguments: Arguments) -> str:
    """Why a signature was traced, in terms of the nearest of the earlier ones."""
    alike = [k for k in earlier if k.structure == now.structure]
    if not alike:
        return _few(_other_structure(earlier[-1].arguments, now.arguments))
    nearest = min(reversed(alike), key=lambda k: _distance(k, now))
    parts = zip(arguments.paths, nearest.parts, now.parts, strict=True)
    causes = [_cause(path, a, b, arguments.relaxes) for path, a, b in parts if a != b]
    if nearest.context != now.context:
        causes.append(f"the device scope is {now.context or 'the default'} instead of {nearest.context or 'the default'}")
    if nearest.aliases != now.aliases:
        causes.append("one list or dict is given in other places than before; give one object twice always, or never")
    return _few(causes)


def _few(causes: list[str]) -> str:
    """The first causes, and how many more there are."""
    rest = len(causes) - _MOST_CAUSES
    return "; ".join(causes[:_MOST_CAUSES]) + (f"; and {rest} more" if rest > 0 else "")


def _other_structure(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """What differs between the arguments of two signatures that are nested otherwise; a dot stands for a tensor or a plain value."""
    causes = []
    for name in {**before, **now}:
        if name not in now:
            causes.append(f"argument {name!r} is missing and was {before[name]} before; give it always, or never")
        elif name not in before:
            causes.append(f"argument {name!r} is {now[name]} and was not given before; give it always, or never")
        elif before[name] != now[name]:
            causes.append(f"argument {name!r} is {now[name]} and was {before[name]}; pass the same nesting of lists, tuples and dicts")
    return causes or ["the arguments are nested in containers of other classes than before; pass the same classes"]


_FARTHEST = 8


def _distance(a: Told, b: Told) -> int:
    apart = sum(_apart(x, y) for x, y in zip(a.parts, b.parts, strict=True) if x != y)
    return apart + int(a.context != b.context) + int(a.aliases != b.aliases)


def _apart(a: Any, b: Any) -> int:
    """How different two parts are: the closer, the less a user has to change to get the one instead of the other."""
    if type(a) is not type(b):
        return _FARTHEST
    if isinstance(a, TensorPart):
        same_rank = a.dims is not None and b.dims is not None and len(a.dims) == len(b.dims)
        return (1 if same_rank else 2) + (4 if a.dtype is not b.dtype else 0)
    return 1 if not isinstance(a, Seen) or a.type == b.type else 4


def _cause(path: str, before: Any, now: Any, relaxes: bool) -> str:
    if isinstance(before, TensorPart) and isinstance(now, TensorPart):
        if before.dtype is not now.dtype:
            return f"argument {path!r} is {now!r} and was {before!r}; cast it to one dtype"
        if before.dims is not None and now.dims is not None and len(before.dims) == len(now.dims):
            advice = "use reduce_retracing=True, or an input_signature with None for sizes that vary"
            if relaxes:
                advice = "sizes that vary are relaxed from here on"
            return f"argument {path!r} is {now!r} and was {before!r}; {advice}"
        return f"argument {path!r} is {now!r} and was {before!r}; use an input_signature with TensorSpec(None) for any rank"
    if isinstance(before, Seen) and isinstance(now, Seen):
        if now.type in ("int", "float", "bool", "complex"):
            return (
                f"argument {path!r} is the Python {now.type} {now!r} and was {before!r}; Python numbers are part of the signature, pass a tensor "
                "(td.constant) for one trace to serve all values"
            )
        if now.type != before.type:
            return f"argument {path!r} is {now!r} and was {before!r}; pass the same kind of value"
        if now.text == before.text:
            return f"argument {path!r} is another {now.type} ({now!r}) than before; pass the same object"
        return f"argument {path!r} is {now!r} and was {before!r}; pass an equal value for the trace to serve again"
    if isinstance(before, VariablePart) and isinstance(now, VariablePart):
        if (before.dtype, before.shape, before.trainable) == (now.dtype, now.shape, now.trainable):
            return (
                f"argument {path!r} is the same Variable as another argument now and was not, or the other way round; give each its own always, "
                "or never"
            )
        if before.trainable != now.trainable:
            return f"argument {path!r} is a {_trainable(now)} Variable and was a {_trainable(before)} one; pass Variables that are alike in that"
        return f"argument {path!r} is {now!r} and was {before!r}; pass Variables of one dtype and shape"
    return f"argument {path!r} is {now!r} and was {before!r}; pass the same kind of value"


def _trainable(part: VariablePart) -> str:
    return "trainable" if part.trainable else "non-trainable"
