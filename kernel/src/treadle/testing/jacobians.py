"""Jacobians of a function, by the tape and by differences (TensorFlow's ``tf.test.compute_gradient``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.autodiff.tape import GradientTape
from treadle.conversion import convert_to_tensor
from treadle.tensor import Tensor
from treadle.testing.ways import tensor_of

Array = np.ndarray[Any, Any]


def compute_gradient(f: Callable[..., Any], x: Any, delta: float | None = None) -> tuple[list[Array], list[Array]]:
    """The Jacobians of a function: those that its gradients give, and those by central differences.

    Args:
        f: takes the tensors of ``x`` and gives one tensor.
        x: a list or tuple of the arguments, floating or complex.
        delta: the step; by default 1/1024, which is exact in binary.

    Returns:
        Two lists with a matrix per argument, the theoretical and the numerical Jacobian: a row per element of the result, a column per element of
        the argument. Complex values count as twice as many real ones.

    Raises:
        ValueError: ``x`` is no list or tuple, or the gradient of an empty result is not zeros of the argument's shape.

    Sources:
        TensorFlow 2.21, ``tf.test.compute_gradient``.
    """
    if not isinstance(x, list | tuple):
        raise ValueError(f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}")
    step = 1.0 / 1024 if delta is None else delta
    tensors = [convert_to_tensor(value) for value in x]
    pairs = [(_theoretical(f, tensors, i), _numerical(f, tensors, i, step)) for i in range(len(tensors))]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _real(array: Array, dtype: Any) -> Array:
    """The elements in a row, complex ones as two real ones."""
    parts: Array = np.ascontiguousarray(array).reshape(-1)
    return (parts.view(parts.real.dtype) if parts.dtype.kind == "c" else parts).astype(dtype)


def _real_dtype(tensor: Tensor) -> Any:
    return tensor.dtype.real_dtype.numpy


def _theoretical(f: Callable[..., Any], tensors: list[Any], which: int) -> Array:
    source = tensors[which]
    with GradientTape(persistent=True) as tape:
        tape.watch(source)
        result = convert_to_tensor(f(*tensors))
    dtype = _real_dtype(source)
    empty = np.zeros(result.shape, result.dtype.numpy)
    columns = _real(np.asarray(source), dtype).size
    rows = _real(empty, _real_dtype(result)).size
    jacobian: Array = np.zeros((rows, columns), dtype)
    for row in range(rows):
        seed = empty.copy()
        seed.reshape(-1).view(_real_dtype(result))[row] = 1
        gradient = tape.gradient(result, source, tensor_of(seed))
        if gradient is not None:
            jacobian[row] = _real(np.asarray(convert_to_tensor(gradient)), dtype)
    if not rows:
        gradient = tape.gradient(result, source, tensor_of(empty), unconnected_gradients="zero")
        found = np.asarray(convert_to_tensor(gradient))
        if found.shape != tuple(source.shape):
            raise ValueError(f"Empty gradient has wrong shape: expected {tuple(source.shape)}, got {found.shape}")
        if np.any(found):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _numerical(f: Callable[..., Any], tensors: list[Any], which: int, step: float) -> Array:
    original = np.array(np.asarray(tensors[which]))
    dtype = _real_dtype(tensors[which])
    first = convert_to_tensor(f(*tensors))
    wide: np.dtype[Any] = np.dtype(np.float32) if _real_dtype(first).itemsize < 4 else _real_dtype(first)

    def at(column: int, change: float) -> Array:
        moved = original.copy()
        moved.reshape(-1).view(dtype)[column] += dtype.type(change)
        given = [*tensors[:which], tensor_of(moved), *tensors[which + 1 :]]
        return _real(np.asarray(convert_to_tensor(f(*given))), wide)

    count = _real(original, dtype).size
    columns = [(at(column, step) - at(column, -step)) / wide.type(2 * step) for column in range(count)]
    rows = _real(np.asarray(first), wide).size
    return np.stack(columns, 1).astype(dtype) if columns else np.zeros((rows, 0), dtype)
