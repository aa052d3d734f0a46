"""Coordinates: grids of them from vectors, and those of places in a flat array."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, IndexSpec, op, public
from treadle.dims import Dim
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.broadcasting import broadcast_to_op, sizes_along
from treadle_ops.inference import INTEGER, require_kind
from treadle_ops.shaping import reshape_op


@public("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> Any:
    """The coordinates of all points of a grid, one tensor per axis.

    Args:
        *args: vectors of the coordinates along each axis, of one dtype; a scalar is a vector of one.
        **kwargs: ``indexing``, ``"xy"`` (the default: the first vector varies along the second axis) or ``"ij"``; ``name``, ignored.

    Returns:
        A list of as many tensors, each of the shape of the whole grid.

    Raises:
        ValueError: ``indexing`` is another one.
        TypeError: a keyword is not known.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.meshgrid``.
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"meshgrid: {next(iter(kwargs))!r} is an invalid keyword argument; expected indexing or name")
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f"meshgrid: indexing is {indexing!r}; expected 'xy' or 'ij'")
    vectors = [reshape_op(tensor(arg), (-1,)) for arg in args]
    for vector in vectors[1:]:
        if vector.dtype is not vectors[0].dtype:
            raise DTypeError(f"meshgrid: the vectors have the dtypes {vectors[0].dtype.name} and {vector.dtype.name}; they must be equal")
    rank = len(vectors)
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[:2] = 1, 0
    sizes = sizes_along(vectors, 0)
    shape = shape_argument([sizes[axis] for axis in axes])
    along = [tuple(-1 if at == axis else 1 for at in range(rank)) for axis in axes]
    return [broadcast_to_op(reshape_op(vector, inner), shape) for vector, inner in zip(vectors, along, strict=True)]


@op("unravel_index", can_fail=True)
def unravel_index_op(indices: IndexSpec, dims: HostSpec) -> Spec:
    """The coordinates, in an array of a shape, of places in it when it is flat."""
    dtype = require_kind(indices, INTEGER, "indices")
    if dims.dims is not None and len(dims.dims) != 1:
        raise ShapeError(f"dims must be a vector, not of shape {dims.shape}")
    if indices.dims is None:
        return Spec(None, dtype)
    return Spec((Dim.symbol() if dims.dims is None else dims.dims[0], *indices.dims), dtype)


@public("unravel_index")
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """The coordinates, in an array of a shape, of places in it when it is flat.

    Args:
        indices: any shape, integers in ``[0, product of dims)``.
        dims: the shape of the array, a vector of integers.
        name: ignored.

    Returns:
        ``(len(dims), *indices.shape)`` of the dtype of ``indices``.

    Raises:
        IndexOutOfRangeError: an index is out of range.
        ShapeError: ``dims`` is no vector.

    Sources:
        TensorFlow ``tf.unravel_index``.
    """
    return unravel_index_op(tensor(indices), shape_argument(dims))
