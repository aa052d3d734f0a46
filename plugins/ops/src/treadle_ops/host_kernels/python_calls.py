"""Calls back into the user's Python, with the tapes that differentiate them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from treadle import devices, state
from treadle.autodiff.tape import GradientTape
from treadle.contracts.spec import Spec
from treadle.declare import kernel
from treadle.dtypes import from_numpy
from treadle.errors import OpError
from treadle.registry import open_devices
from treadle.tensor import Tensor, to_device
from treadle_ops.python_calls import DTypes, as_array, gradients_of, results_of, watched

_numbers = itertools.count(1)
_calls: dict[int, Any] = {}
"""Number to what a call left for its gradient, until the array that holds the number is gone."""


@kernel("numpy_function")
def numpy_function(xp: Any) -> Any:
    """See the op."""
    to_host = getattr(xp, "asnumpy", np.asarray)

    def run(inputs: list[Any], *, function: Any, dtypes: DTypes, made_at: Any = None) -> Any:
        arrays = [np.array(to_host(x))[()] if not x.ndim else np.array(to_host(x)) for x in inputs]
        with _noted("op 'numpy_function'", inputs, made_at):
            results = results_of(function(*arrays), dtypes, as_array, "the function given to numpy_function")
        return tuple(xp.asarray(r) for r in results)

    return run


@kernel("py_function")
def py_function(xp: Any) -> Any:
    """See the op."""

    def run(inputs: list[Any], *, function: Any, dtypes: DTypes, made_at: Any = None) -> Any:
        device = _device_of(inputs)
        with state.observed_only(), _noted("op 'py_function'", inputs, made_at):
            call = watched(function, _tensors(xp, inputs, device), dtypes)
        return _left(xp, call, inputs, device)

    return run


@kernel("py_function_gradient")
def py_function_gradient(xp: Any) -> Any:
    """See the op."""

    def run(inputs: list[Any], cotangents: list[Any], tape: Any, *, function: Any, dtypes: DTypes, made_at: Any = None) -> Any:
        device = _device_of(inputs)
        with state.observed_only(), _noted("the gradient of op 'py_function'", inputs, made_at):
            recorded, sources, results = _calls.get(int(tape)) or watched(function, _tensors(xp, inputs, device), dtypes)
            given = _tensors(xp, cotangents, device)
            with _Continued(recorded) as continued:
                continued.watch(given)
                gradients = gradients_of(continued, sources, results, given)
        return _left(xp, (continued, [*sources, *given], gradients), [*inputs, *cotangents], device)

    return run


class _Continued(GradientTape):
    """A tape that goes on from what another one has seen, which stays as it is."""

    def __init__(self, tape: Any) -> None:
        super().__init__(persistent=True)
        self._records = list(tape._records)
        self._watched = set(tape._watched)
        self._variables = dict(tape._variables)
        self._kept = [tape]


@contextmanager
def _noted(what: str, inputs: list[Any], made_at: Any) -> Iterator[None]:
    """Note on what the user's function raises which line called it; errors of ops get that in their message."""
    try:
        yield
    except Exception as error:
        if made_at is not None and not isinstance(error, OpError):
            specs = ", ".join(repr(Spec(x.shape, from_numpy[x.dtype])) for x in inputs)
            error.add_note(f"in {what} ({specs}), made at {made_at}")
        raise


def _left(xp: Any, call: Any, given: list[Any], device: Any) -> tuple[Any, ...]:
    """The results of a call for the graph, and the number under which the call is remembered."""
    number = next(_numbers)
    buffer = device.normalize(np.array(number))
    _calls[number] = call
    weakref.finalize(buffer, _calls.pop, number, None)
    return (*(_own(xp, to_device(r, device)._buffer, given) for r in call[2]), buffer)


def _own(xp: Any, buffer: Any, given: list[Any]) -> Any:
    """A result in memory of its own: the user's function may give back what it got."""
    return xp.array(buffer) if any(xp.may_share_memory(buffer, x) for x in given) else buffer


def _tensors(xp: Any, buffers: list[Any], device: Any) -> list[Any]:
    """Buffers as tensors with memory of their own: the function may keep them, and a plan writes over what it needs no longer."""
    return [Tensor(xp.array(x), device.key(from_numpy[x.dtype])) for x in buffers]


def _device_of(inputs: list[Any]) -> Any:
    for device in open_devices.values():
        if inputs and device.holds(inputs[0]):
            return device
    return devices.default()
