"""Sums, products, means and truth over axes, and their gradients; ``reduction`` declares them and ``axis_extremes`` declares more."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import DType, float32, int32
from treadle.inspection import get_static_value
from treadle.symbolic import SymbolicTensor
from treadle_ops.arguments import axes_argument, integers_argument, tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_of
from treadle_ops.casting import cast_op
from treadle_ops.cumulative import cumprod_op
from treadle_ops.elementwise import conj, divide_op, multiply
from treadle_ops.inference import BOOL, NUMERIC, kinds_text, normalize_axes, reduced, require_kind
from treadle_ops.known import carried
from treadle_ops.run_time_axes import reduce_over_tensor
from treadle_ops.shaping import expand_dims_op, reshape_op

# ---------------------------------------------------------------------- how they are declared


def reduction(
    name: str, kinds: str, summary: str, *, value: Any = None, dtype: Callable[[DType], DType] | None = None, paths: tuple[str, ...] = ()
) -> tuple[Any, Any]:
    """Declare the op of a reduction and its public function.

    Args:
        name: of the op, and of the function.
        kinds: of dtypes that it takes.
        summary: what it does, in one line, and what it gives over nothing.
        value: a ufunc of sizes, so that what is reduced of a known shape is known while tracing.
        dtype: of the result, for that of the input; by default the same.
        paths: the public names; by default the name, and the name in ``math``.

    Returns:
        The op's entry point and the public function.
    """

    def infer(x: Spec, *, axis: tuple[int, ...] | None, keepdims: bool) -> Spec:
        own = require_kind(x, kinds)
        result = Spec(reduced(x, axis, keepdims), own if dtype is None else dtype(own))
        if value is not None and x.value is not None:
            result.value = fitting(carried(lambda array: np.asarray(value.reduce(array, axis=axis, keepdims=keepdims), object), x), x.dtype)
        return result

    infer.__module__ = inspect.currentframe().f_back.f_globals["__name__"]
    infer.__doc__ = summary
    entry = op(name)(infer)

    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        return reduce_along(entry, input_tensor, axis, keepdims)

    function.__name__ = function.__qualname__ = name
    function.__module__ = infer.__module__
    function.__doc__ = summarized(
        summary, kinds_text(kinds), "the dtype of ``input_tensor``" if dtype is None else "its real dtype", paths[0] if paths else name
    )
    return entry, public(*(paths or (name, f"math.{name}")))(function)


def summarized(summary: str, dtypes: str, result: str, path: str) -> str:
    """The docstring of a reduction's public function."""
    return f"""{summary}

    Args:
        input_tensor: any shape, {dtypes}.
        axis: an int, a list of ints, or a tensor of them; all axes by default.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        The shape without the axes reduced, {result}.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.{path}``.
    """


def reduce_along(entry: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """Call a reduction's op with TensorFlow's arguments; an axis may be a tensor known only at run time."""
    if axis is None:
        return entry(x, axis=None, keepdims=bool(keepdims))
    if type(axis) is int:
        return entry(x, axis=(axis,), keepdims=bool(keepdims))
    axes = integers_argument(axis, "axis")
    if isinstance(axes, SymbolicTensor) and get_static_value(axes) is None:
        return reduce_over_tensor(entry, tensor(x), axes, bool(keepdims))
    return entry(x, axis=axes_argument(axes), keepdims=bool(keepdims))


def fitting(value: Any, dtype: DType) -> Any:
    """A known value, or None where an integer in it does not fit the dtype and so would wrap."""
    items = [value]
    while items:
        item = items.pop()
        if isinstance(item, tuple):
            items += item
        elif isinstance(item, int) and dtype.is_integer and not dtype.min <= item <= dtype.max:
            return None
    return value


# ---------------------------------------------------------------------- ops

reduce_sum_op, reduce_sum = reduction("reduce_sum", NUMERIC, "The sum over axes; 0 over nothing.", value=np.add)
reduce_prod_op, reduce_prod = reduction("reduce_prod", NUMERIC, "The product over axes; 1 over nothing.", value=np.multiply)
reduce_mean_op, reduce_mean = reduction(
    "reduce_mean", NUMERIC, "The mean over axes, cut toward zero for integers; over nothing NaN, or the integer 0."
)
reduce_any_op, reduce_any = reduction("reduce_any", BOOL, "Whether any element over axes holds; False over nothing.")
reduce_all_op, reduce_all = reduction("reduce_all", BOOL, "Whether all elements over axes hold; True over nothing.")


@op("reduced_count", spec_only=True)
def reduced_count(x: Spec, *, axis: tuple[int, ...] | None, dtype: DType) -> Spec:
    """How many elements of ``x`` go into one result of a reduction over axes."""
    if x.dims is not None:
        normalize_axes(axis, len(x.dims))
    return Spec((), dtype)


@op("kept_shape", spec_only=True)
def kept_shape(x: Spec, *, axis: tuple[int, ...] | None) -> Spec:
    """The shape of ``x`` with size 1 for the axes reduced."""
    dims = reduced(x, axis, True)
    return Spec((sizes.Dim.symbol() if dims is None else len(dims),), int32, dims)


# ---------------------------------------------------------------------- gradients


@gradient(reduce_sum_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return spread(g, x, ctx.axis, ctx.keepdims)


@gradient(reduce_mean_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return spread(divided_by_count(g, x, ctx.axis), x, ctx.axis, ctx.keepdims)


@gradient(reduce_prod_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    if ctx.axis == ():
        return g
    return multiply(kept(g, x, ctx.axis, ctx.keepdims), conj(product_of_others(x, ctx.axis)))


def product_of_others(x: Any, axis: tuple[int, ...] | None) -> Any:
    """For each element the product of all others over the axes: exact where one of them is 0, since nothing is divided."""
    if axis is None:
        return reshape_op(_others_along(reshape_op(x, (-1,)), 0), shape_of(x))
    *rest, last = axis
    others = _others_along(x, last)
    return multiply(others, product_of_others(reduce_prod_op(x, axis=(last,), keepdims=True), tuple(rest))) if rest else others


def _others_along(x: Any, axis: int) -> Any:
    before = cumprod_op(x, axis=axis, exclusive=True, reverse=False)
    return multiply(before, cumprod_op(x, axis=axis, exclusive=True, reverse=True))


def divided_by_count(g: Any, x: Any, axis: tuple[int, ...] | None) -> Any:
    """``g`` over the number of elements of ``x`` that go into one result; short floats in float32, where the number may not fit them."""
    dtype = float32 if g.dtype.size == 2 else g.dtype
    wide = g if g.dtype is dtype else cast_op(g, dtype=dtype)
    share = divide_op(wide, _count(x, axis, dtype))
    return share if share.dtype is g.dtype else cast_op(share, dtype=g.dtype)


def _count(x: Any, axis: tuple[int, ...] | None, dtype: DType) -> Any:
    dims = x.dims
    if dims is not None:
        count = sizes.product(dims if axis is None else [dims[a] for a in normalize_axes(axis, len(dims))])
        if type(count) is int:
            return count
    return reduced_count(x, axis=axis, dtype=dtype)


def spread(g: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """A value per reduction repeated for every element of ``x`` that went into it."""
    return broadcast_to_op(g if g.dims == () else kept(g, x, axis, keepdims), shape_of(x))


def kept(g: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """A reduction's result with the axes reduced put back as size 1."""
    if keepdims or x.dims == () or axis == ():
        return g
    if x.dims is None:
        return reshape_op(g, kept_shape(x, axis=axis))
    rank = len(x.dims)
    gone = normalize_axes(axis, rank)
    if g.dims is not None and all(type(d) is int for d in g.dims):
        left = iter(g.dims)
        return reshape_op(g, tuple(1 if i in gone else next(left) for i in range(rank)))
    for i in gone:
        g = expand_dims_op(g, axis=i)
    return g
