"""The traces that a function keeps: found by signature, bounded, the least recently used one let go first."""

from __future__ import annotations

import itertools

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
        """Keep a trace, for one signature or (None) for all that its own covers; drop what no call can reach any more, and what is too much."""
        concrete.last_used = _now()
        if key is None:
            self.relaxed = [*self.relaxed, concrete]
        else:
            for gone in [k for k in list(self.exact) if k.is_gone]:
                self.exact.pop(gone, None)
            self.exact[key] = concrete
        while len(self) > settings.current().most_traces:
            self._drop_oldest()

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
        self.exact, self.relaxed = {}, []
