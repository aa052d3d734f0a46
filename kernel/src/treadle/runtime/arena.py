"""Planned memory for the large intermediate values of a plan.

A call checks an arena out and gives it back at its end, so calls nest and run in any number of threads without a lock. An arena whose call
raised is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import Spec


class ArenaPlan:
    """Assigns values to slots of memory, each slot used again when what was in it is dead.

    Attributes:
        views: per planned value (slot, shape, NumPy dtype).
        slots: bytes per slot.
    """

    def __init__(self) -> None:
        self.views: list[tuple[int, tuple[int, ...], Any]] = []
        self.slots: list[int] = []
        self._free: list[int] = []

    def place(self, spec: Spec) -> int:
        """A place for a value; the number of its view."""
        nbytes = int(spec.nbytes)
        fitting = [s for s in self._free if self.slots[s] >= nbytes]
        if fitting:
            slot = min(fitting, key=self.slots.__getitem__)
        elif self._free:
            slot = max(self._free, key=self.slots.__getitem__)
            self.slots[slot] = nbytes
        else:
            slot = len(self.slots)
            self.slots.append(nbytes)
        if slot in self._free:
            self._free.remove(slot)
        self.views.append((slot, spec.dims, spec.dtype.numpy))  # type: ignore[arg-type]  # only static specs get a view
        return len(self.views) - 1

    def release(self, view: int) -> None:
        """The value of a view is dead."""
        self._free.append(self.views[view][0])

    def make(self) -> tuple[Any, ...]:
        """A new arena: one array per view."""
        memory = [np.empty(nbytes, np.uint8) for nbytes in self.slots]
        arrays = []
        for slot, shape, dtype in self.views:
            nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            arrays.append(memory[slot][:nbytes].view(dtype).reshape(shape))
        return tuple(arrays)
