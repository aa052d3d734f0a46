"""Random numbers with NumPy's Philox: the samplers of treadle-array on a faster source of the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle_array.counter_generators import Threefry
from treadle_array.kernels.randomness import SAMPLERS
from treadle_cpu.numpy_philox import NumpyPhilox


def _declared(op: str) -> None:
    @kernel(op)
    def factory(xp: Any) -> Callable[..., Any]:
        return SAMPLERS[op](xp, {"philox": NumpyPhilox(), "threefry": Threefry(xp)})


for _op in SAMPLERS:
    _declared(_op)
