"""Norms of vectors and matrices, and scaling to norm 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError
from treadle_ops.arguments import tensor
from treadle_ops.axis_extremes import reduce_max_op
from treadle_ops.broadcasting import axis_size, shape_op
from treadle_ops.called_function import checked, subject
from treadle_ops.casting import cast
from treadle_ops.complex_numbers import real_op
from treadle_ops.division import divide
from treadle_ops.elementwise import multiply
from treadle_ops.inference import FLOATING_OR_COMPLEX, normalize_axis, reduced, require_kind
from treadle_ops.joining import concat_op, stack_op
from treadle_ops.powers import pow_op
from treadle_ops.reductions import kept, kept_shape, reduce_sum_op
from treadle_ops.run_time_axes import reduced_shape, rows_of_axes
from treadle_ops.shaping import expand_dims_op, reshape_op, transpose_op
from treadle_ops.signs import absolute
from treadle_ops.singular_values import singular_values
from treadle_ops.zero_safe import divide_no_nan

Axes = tuple[int, ...] | None


@op("euclidean_norm")
def euclidean_norm(x: Spec, *, axis: Axes, keepdims: bool) -> Spec:
    """The square root of the sum of squared moduli, of the dtype of ``x``; its gradient at 0 is 0."""
    return Spec(reduced(x, axis, keepdims), require_kind(x, FLOATING_OR_COMPLEX, "tensor"))


@gradient(euclidean_norm)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    share = cast(divide_no_nan(real_op(g), real_op(ctx.output)), x.dtype) if x.dtype.is_complex else divide_no_nan(g, ctx.output)
    return multiply(x, kept(share, x, ctx.axis, ctx.keepdims))


def _is_pair(axis: Any) -> bool:
    return isinstance(axis, list | tuple) and len(axis) == 2


def _axes_argument(axis: Any) -> tuple[int, ...] | None:
    if axis is None:
        return None
    if isinstance(axis, int | np.integer):
        return (int(axis),)
    if _is_pair(axis) and all(isinstance(a, int | np.integer) for a in axis) and axis[0] != axis[1]:
        return int(axis[0]), int(axis[1])
    raise InvalidArgumentError(f"{subject()}'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis!r}")


def _order_argument(ord: Any, is_matrix: bool) -> Any:
    if is_matrix:
        if ord in ("euclidean", "fro", 1, 2, np.inf):
            return "euclidean" if ord == "fro" else ord
        raise InvalidArgumentError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord!r}")
    if ord == "euclidean":
        return ord
    if isinstance(ord, int | float | np.number) and not isinstance(ord, bool) and ord > 0:
        return ord
    raise InvalidArgumentError(f"{subject()}'ord' must be a supported vector norm: 'euclidean', inf or a positive number, got {ord!r}")


@public("norm", "linalg.norm")
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None) -> Any:
    """The norm of vectors, of matrices, or of a tensor as one vector.

    Args:
        tensor: any shape, floating or complex.
        ord: ``"euclidean"``; a positive number p, for the p-th root of the sum of p-th powers; inf, for the largest modulus. For matrices
            ``"euclidean"`` or ``"fro"``, 1 (the largest sum of a column), inf (that of a row) or 2 (the largest singular value).
        axis: None for all axes; an int for vectors; two ints for matrices.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        The shape without the axes reduced, the dtype of ``tensor``; the real dtype where the norm is not Euclidean.

    Raises:
        ValueError: ``ord`` or ``axis`` is another one.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.norm``. The gradient at 0 is 0 for Euclidean norms.
    """
    axes = _axes_argument(axis)
    order = _order_argument(ord, axes is not None and len(axes) == 2)
    x = _tensor(tensor)
    keeps = bool(keepdims)
    if axes is not None and len(axes) == 2 and order not in ("euclidean", 1, np.inf):
        return _spectral(x, axes, keeps)
    if order in ("euclidean", 2):
        return euclidean_norm(x, axis=axes, keepdims=keeps)
    size = absolute(x)
    if axes is not None and len(axes) == 2:
        summed, largest = axes if order == 1 else (axes[1], axes[0])
        found = reduce_max_op(reduce_sum_op(size, axis=(summed,), keepdims=True), axis=(largest,), keepdims=True)
        return found if keeps else _squeezed(found, axes)
    if order == 1:
        return reduce_sum_op(size, axis=axes, keepdims=keeps)
    if order == np.inf:
        return reduce_max_op(size, axis=axes, keepdims=keeps)
    return pow_op(reduce_sum_op(pow_op(size, float(order)), axis=axes, keepdims=keeps), 1 / float(order))


_tensor = tensor


def _squeezed(x: Any, axes: tuple[int, ...]) -> Any:
    return reduce_sum_op(x, axis=axes, keepdims=False)


def _spectral(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The largest singular value of matrices in two axes."""
    if x.dims is None:
        return _spectral_of_unknown_rank(x, axes, keepdims)
    rank = len(x.dims)
    rows, columns = (checked(normalize_axis, a, rank) for a in axes)
    others = [i for i in range(rank) if i not in (rows, columns)]
    matrices = x if (rows, columns) == (rank - 2, rank - 1) else transpose_op(x, perm=(*others, rows, columns))
    found = reduce_max_op(singular_values(matrices), axis=(-1,), keepdims=False)
    if keepdims:
        for i in sorted((rows, columns)):
            found = expand_dims_op(found, axis=i)
    return found


def _spectral_of_unknown_rank(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    others = reduced_shape(shape_op(x, out_type=int32), axes, keepdims=False)
    sizes = stack_op([axis_size(x, axis=axis) for axis in axes], axis=0)
    matrices = reshape_op(rows_of_axes(x, axes, as_named=True), concat_op([others, sizes], axis=0))
    found = reduce_max_op(singular_values(matrices), axis=(-1,), keepdims=False)
    return reshape_op(found, kept_shape(x, axis=axes)) if keepdims else found


@public("linalg.normalize")
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> Any:
    """A tensor scaled to norm 1, and the norm that it had.

    Args:
        tensor: any shape, floating or complex; integers too where the norm takes them.
        ord: as for ``td.norm``.
        axis: as for ``td.norm``.
        name: ignored.

    Returns:
        The tensor divided by its norm, as ``td.divide`` does, and the norm with the axes reduced kept.

    Raises:
        ValueError: ``ord`` or ``axis`` is another one.

    Sources:
        TensorFlow ``tf.linalg.normalize``.
    """
    x = _tensor(tensor)
    size = cast(norm(x, ord, axis, keepdims=True), x.dtype)
    return divide(x, size), size
