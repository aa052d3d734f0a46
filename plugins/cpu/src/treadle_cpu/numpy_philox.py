"""The Philox generator of treadle-array with the same bits from NumPy's own implementation, which is several times faster."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from treadle_array.counter_generators import MASK64, Key, Philox

_NO_WORDS = np.zeros(4, np.uint64)


class _Local(threading.local):
    """A bit generator for each thread: making one costs more than a small draw."""

    def __init__(self) -> None:
        self.generator = np.random.Philox(key=0)


class NumpyPhilox(Philox):
    """Philox4x64-10 in C."""

    def __init__(self) -> None:
        super().__init__(np)
        self._local = _Local()

    def bits(self, key: Key, count: int) -> Any:
        """See the array version."""
        return self._from_start(key, 0, count)

    def blocks(self, key: Key, index: Any, turn: int) -> list[Any]:
        """See the array version, which serves where the indices have gaps."""
        count = index.shape[0]
        if count < 16 or index[0] or int(index[-1]) != count - 1:
            return super().blocks(key, index, turn)
        return list(self._from_start(key, turn, 4 * count).reshape(count, 4).T)

    def _from_start(self, key: Key, turn: int, count: int) -> Any:
        generator = self._local.generator
        generator.state = {
            "bit_generator": "Philox",
            "state": {
                "counter": np.array((0, turn, 0, 0), np.uint64),
                "key": np.array((key[0] & MASK64, key[1] & MASK64), np.uint64),
            },
            "buffer": _NO_WORDS,
            "buffer_pos": 4,
            "has_uint32": 0,
            "uinteger": 0,
        }
        return generator.random_raw(count)
