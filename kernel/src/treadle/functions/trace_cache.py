"""The traces that a function keeps: found by signature, bounded, the least recently used one let go first.

A trace for an object that counts by identity goes when the object goes, as no call can have its signature any more.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from typing import Any

from treadle import settings
from treadle.functions.concrete import ConcreteFunction
from treadle.functions.keys import Key, TypePart
from treadle.functions.relaxation import covers

_now = itertools.count(1).__next__


class TraceCache:
    """The traces of one function.

    Attributes:
        exact: signature to its trace.
        relaxed: traces for sizes that vary, or for an input signature; they serve every signature that they cover.
    """

    def __init__(self) -> None:
        self.exact: dict[Key, ConcreteFunction] = {}
        self.relaxed: list[ConcreteFunction] = []
        self._watched: dict[int, weakref.ref[Any]] = {}

    def find(self, key: Key) -> ConcreteFunction | None:
        """The trace for a signature."""
        found = self.exact.get(key)
        if found is None:
            typed = any(isinstance(part, TypePart) for part in key.parts)
            for concrete in self.all() if typed else self.relaxed:
                if covers(concrete.key, key):
                    found = concrete
                    break
            else:
                return None
        found.last_used = _now()
        return found

    def add(self, concrete: ConcreteFunction, key: Key | None) -> None:
        """Keep a trace, for one signature or (None) for all that its own covers; drop what is too much."""
        concrete.last_used = _now()
        if key is None:
            self.relaxed = [*self.relaxed, concrete]
        else:
            self.exact[key] = concrete
        for reference in concrete.key.references:
            self._watch(reference.thing)
        while len(self) > settings.current().most_traces:
            self._drop_oldest()

    def _watch(self, thing: Any) -> None:
        """Drop the traces for an object when it goes."""
        number, cache = id(thing), weakref.ref(self)

        def drop(_: Any) -> None:
            here = cache()
            if here is not None:
                here._watched.pop(number, None)
                for key in [k for k in list(here.exact) if k.is_gone]:
                    here.exact.pop(key, None)
                here.relaxed = [c for c in here.relaxed if not c.key.is_gone]

        if number not in self._watched and thing is not None:
            with contextlib.suppress(TypeError):  # what cannot be referred to weakly is kept alive by the key
                self._watched[number] = weakref.ref(thing, drop)

    def _drop_oldest(self) -> None:
        oldest = min(self.all(), key=lambda concrete: concrete.last_used)
        for key, concrete in list(self.exact.items()):
            if concrete is oldest:
                self.exact.pop(key, None)
        self.relaxed = [concrete for concrete in self.relaxed if concrete is not oldest]

    def all(self) -> list[ConcreteFunction]:
        """Every trace there is."""
        return [*self.exact.values(), *self.relaxed]

    def __len__(self) -> int:
        return len(self.exact) + len(self.relaxed)

    def clear(self) -> None:
        """Forget every trace."""
        self.exact, self.relaxed, self._watched = {}, [], {}
