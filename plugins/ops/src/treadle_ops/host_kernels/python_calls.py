"""Calls back into the user's Python, with the tapes that differentiate them."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from treadle import devices, state
from treadle.autodiff.tape import GradientTape
from treadle.declare import kernel
from treadle.dtypes import from_numpy
from treadle.registry import open_devices
from treadle.tensor import Tensor, to_device
from treadle_ops.creation import zeros_like
from treadle_ops.python_calls import DTypes, as_array, as_eager, results_of

_numbers = itertools.count(1)
_tapes: dict[int, Any] = {}
"""Number to what a call left for its gradient, until the array that holds the number is gone."""


@kernel("numpy_function")
def numpy_function(xp: Any) -> Any:
    """See the op."""
    to_host = getattr(xp, "asnumpy", np.asarray)

    def run(inputs: list[Any], *, function: Any, dtypes: DTypes) -> Any:
        arrays = [np.array(to_host(x))[()] if not x.ndim else np.array(to_host(x)) for x in inputs]
        results = results_of(function(*arrays), dtypes, as_array, "the function given to numpy_function")
        return tuple(xp.asarray(r) for r in results)

    return run


@kernel("py_function")
def py_function(xp: Any) -> Any:
    """See the op."""

    def run(inputs: list[Any], *, function: Any, dtypes: DTypes) -> Any:
        device = _device_of(inputs)
        tape, sources, results = _watched(function, _copies(xp, inputs), dtypes, device)
        number = next(_numbers)
        buffer = device.normalize(np.array(number))
        _tapes[number] = (tape, sources, results)
        weakref.finalize(buffer, _tapes.pop, number, None)
        return (*(_own(xp, to_device(r, device)._buffer, inputs) for r in results), buffer)

    return run


@kernel("py_function_gradient")
def py_function_gradient(xp: Any) -> Any:
    """See the op."""

    def run(inputs: list[Any], cotangents: list[Any], tape: Any, *, function: Any, dtypes: DTypes) -> Any:
        device = _device_of(inputs)
        recorded, sources, results = _tapes.get(int(tape)) or _watched(function, _copies(xp, inputs), dtypes, device)
        with state.recording(None):
            given = [Tensor(c, device.key(from_numpy[c.dtype])) for c in cotangents]
            targets = [r for r in results if r.dtype.is_differentiable]
            gradients = recorded.gradient(targets, sources, given)
            gradients = [zeros_like(s) if g is None else g for g, s in zip(gradients, sources, strict=True)]
        return tuple(_own(xp, to_device(g, device)._buffer, [*inputs, *cotangents]) for g in gradients)

    return run


def _own(xp: Any, buffer: Any, given: list[Any]) -> Any:
    """A result in memory of its own: the user's function may give back what it got."""
    return xp.array(buffer) if any(xp.may_share_memory(buffer, x) for x in given) else buffer


def _copies(xp: Any, inputs: list[Any]) -> list[Any]:
    """The inputs in memory of their own: the function may keep them, and a plan writes over what it needs no longer."""
    return [xp.array(x) for x in inputs]


def _watched(function: Any, inputs: list[Any], dtypes: DTypes, device: Any) -> tuple[Any, list[Any], list[Any]]:
    """A call with a tape around it: the tape, the inputs as tensors and the results."""
    with state.recording(None):
        sources = [Tensor(x, device.key(from_numpy[x.dtype])) for x in inputs]
        with GradientTape(persistent=True) as tape:
            tape.watch([s for s in sources if s.dtype.is_differentiable])
            results = results_of(function(*sources), dtypes, as_eager, "the function given to py_function")
    return tape, sources, results


def _device_of(inputs: list[Any]) -> Any:
    for device in open_devices.values():
        if inputs and device.holds(inputs[0]):
            return device
    return devices.default()
