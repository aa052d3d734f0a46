"""Rows folded together by the number of the segment that they belong to.

``segment_*`` take a number per row that only grows, and give as many rows as the last number says; ``unsorted_segment_*`` take numbers in any
order, leave out negative ones, and are told how many segments there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim, Size
from treadle.dtypes import DType, float32, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import integers_argument, tensor
from treadle_ops.broadcasting import shape_of, shape_op
from treadle_ops.casting import cast_op
from treadle_ops.cumulative import linear_recurrence, shift
from treadle_ops.division import divide
from treadle_ops.elementwise import divide_op, multiply, subtract
from treadle_ops.gathering import gather_op
from treadle_ops.inference import INTEGER, NUMERIC, REAL, require_kind, require_scalar
from treadle_ops.powers import sqrt
from treadle_ops.run_time_order import axis_from_back, axis_to_back
from treadle_ops.shaping import expand_dims_op, reshape_op
from treadle_ops.sorting import argsort_op

# ---------------------------------------------------------------------- sorted numbers


def _sorted(name: str, kinds: str, summary: str, nothing: str) -> Any:
    """Declare one of the ops on growing numbers."""

    def infer(data: Spec, segment_ids: IndexSpec) -> Spec:
        dtype = require_kind(data, kinds, "data")
        require_kind(segment_ids, INTEGER, "segment_ids")
        if segment_ids.dims is not None and len(segment_ids.dims) != 1:
            raise ShapeError(f"segment_ids of shape {segment_ids.shape} must be a vector: one number for every row of data")
        if data.dims is None:
            return Spec(None, dtype)
        if not data.dims or (segment_ids.dims is not None and sizes.known_different(data.dims[0], segment_ids.dims[0])):
            raise ShapeError(
                f"segment_ids of shape {segment_ids.shape} should be the same size as the first axis of data, whose shape is {data.shape}"
            )
        return Spec((Dim.symbol(), *data.dims[1:]), dtype)

    infer.__module__ = __name__
    infer.__doc__ = f"""{summary}

    Args:
        data: ``(N, ...)``, {"integers or floating" if kinds == REAL else "any numeric dtype"}.
        segment_ids: ``(N,)``, integers, each the one before it or more.
        name: ignored.

    Returns:
        ``(last number + 1, ...)`` of the dtype of ``data``; {nothing} for a segment without rows.

    Raises:
        ShapeError: ``segment_ids`` does not have a number for every row.
        InvalidArgumentError: a number is negative, or less than the one before.
        DTypeError: a dtype is another one.

    Sources:
        TensorFlow ``tf.math.{name}``.
    """
    return op(name, public=f"math.{name}", can_fail=True)(infer)


segment_sum = _sorted("segment_sum", NUMERIC, "The sum of the rows of every segment.", "0")
segment_prod = _sorted("segment_prod", NUMERIC, "The product of the rows of every segment, element by element.", "1")
segment_max = _sorted("segment_max", REAL, "The largest of the rows of every segment, element by element; NaN if one is.", "0")
segment_min = _sorted("segment_min", REAL, "The smallest of the rows of every segment, element by element; NaN if one is.", "0")
segment_mean = _sorted("segment_mean", NUMERIC, "The mean of the rows of every segment, cut toward zero for integers.", "0")

# ---------------------------------------------------------------------- numbers in any order


def _count(num_segments: Spec) -> Size:
    require_scalar(num_segments, "num_segments")
    count: Any = num_segments.value
    if isinstance(count, int) and count < 0:
        raise InvalidArgumentError(f"num_segments is {count}; it must be 0 or more")
    return Dim.symbol() if count is None else count


def _unsorted(name: str, kinds: str, summary: str) -> tuple[Any, Any]:
    """Declare one of the ops on numbers in any order, and its public function."""

    def infer(data: Spec, segment_ids: IndexSpec, num_segments: HostSpec) -> Spec:
        dtype = require_kind(data, kinds, "data")
        require_kind(segment_ids, INTEGER, "segment_ids")
        count = _count(num_segments)
        if data.dims is None or segment_ids.dims is None:
            return Spec(None, dtype)
        rank = len(segment_ids.dims)
        if rank > len(data.dims) or any(sizes.known_different(a, b) for a, b in zip(data.dims, segment_ids.dims, strict=False)):
            raise ShapeError(f"the shape of data, {data.shape}, must begin with that of segment_ids, {segment_ids.shape}")
        return Spec((count, *data.dims[rank:]), dtype)

    infer.__module__ = __name__
    infer.__doc__ = summary
    entry = op(name, can_fail=True)(infer)

    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        return entry(data, segment_ids, number_of(num_segments))

    function.__name__ = function.__qualname__ = name
    describe = _described(summary, "integers or floating" if kinds == REAL else "any numeric dtype", "the dtype of ``data``")
    return entry, public(f"math.{name}")(describe(function))


def _described(summary: str, dtypes: str, result: str) -> Callable[[Any], Any]:
    """Give a function of ``data``, ``segment_ids`` and ``num_segments`` its docstring."""

    def describe(function: Any) -> Any:
        function.__doc__ = _documented(summary, dtypes, result, function.__name__)
        return function

    return describe


def _documented(summary: str, dtypes: str, result: str, name: str) -> str:
    return f"""{summary}

    Args:
        data: ``(*shape of segment_ids, ...)``, {dtypes}.
        segment_ids: any shape, integers; rows with a negative one are left out.
        num_segments: an integer.
        name: ignored.

    Returns:
        ``(num_segments, ...)`` of {result}.

    Raises:
        ShapeError: the shape of ``data`` does not begin with that of ``segment_ids``.
        InvalidArgumentError: a number is not below ``num_segments``.
        DTypeError: a dtype is another one.

    Sources:
        TensorFlow ``tf.math.{name}``.
    """


def number_of(num_segments: Any) -> Any:
    """How many segments there are, as an op wants it."""
    return num_segments if type(num_segments) is int else integers_argument(num_segments, "num_segments")


unsorted_segment_sum_op, unsorted_segment_sum = _unsorted(
    "unsorted_segment_sum", NUMERIC, "The sum of the rows of every segment; 0 for a segment without rows."
)
unsorted_segment_prod_op, unsorted_segment_prod = _unsorted(
    "unsorted_segment_prod", NUMERIC, "The product of the rows of every segment; 1 for a segment without rows."
)
unsorted_segment_max_op, unsorted_segment_max = _unsorted(
    "unsorted_segment_max", REAL, "The largest of the rows of every segment; the least finite number of the dtype for a segment without rows."
)
unsorted_segment_min_op, unsorted_segment_min = _unsorted(
    "unsorted_segment_min", REAL, "The smallest of the rows of every segment; the largest finite number of the dtype for a segment without rows."
)


@op("segment_sizes", can_fail=True)
def segment_sizes(segment_ids: IndexSpec, num_segments: HostSpec, *, dtype: DType) -> Spec:
    """How many rows each segment has, at least 1."""
    return Spec((_count(num_segments),), dtype)


def _over_sizes(total: Any, segment_ids: Any, count: Any, over: Callable[[Any, Any], Any], power: Callable[[Any], Any] | None = None) -> Any:
    """Totals of segments over their sizes, or over a function of these."""
    dtype = total.dtype
    number = segment_sizes(segment_ids, count, dtype=float32 if dtype.size == 2 and dtype.is_floating else dtype)
    if power is not None:
        number = power(number)
    rows = total if number.dtype is dtype else cast_op(total, dtype=number.dtype)
    if total.dims is None:
        means = axis_from_back(over(axis_to_back(rows, 0), number), 0)
    else:
        for _ in range(len(total.dims) - 1):
            number = expand_dims_op(number, axis=-1)
        means = over(rows, number)
    return means if number.dtype is dtype else cast_op(means, dtype=dtype)


@public("math.unsorted_segment_mean")
@_described(
    "The mean of the rows of every segment; 0 for a segment without rows.",
    "any numeric dtype",
    "the dtype of ``data``, or what integers give when divided",
)
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    ids, count = tensor(segment_ids), number_of(num_segments)
    return _over_sizes(unsorted_segment_sum_op(data, ids, count), ids, count, divide)


@public("math.unsorted_segment_sqrt_n")
@_described(
    "The sum of the rows of every segment over the square root of their number; 0 for a segment without rows.",
    "floating or complex",
    "the dtype of ``data``",
)
def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    ids, count = tensor(segment_ids), number_of(num_segments)
    return _over_sizes(unsorted_segment_sum_op(data, ids, count), ids, count, divide_op, sqrt)


# ---------------------------------------------------------------------- gradients


@op("take_segments", can_fail=True)
def take_segments(g: Spec, segment_ids: IndexSpec) -> Spec:
    """A row of ``g`` for every number; zeros for negative ones."""
    return Spec(None if g.dims is None or segment_ids.dims is None else (*segment_ids.dims, *g.dims[1:]), g.dtype)


@op("share_among_segment_ties")
def share_among_segment_ties(g: Spec, data: Spec, y: Spec, segment_ids: IndexSpec) -> Spec:
    """``g`` of every segment in equal parts for those rows of ``data`` that are equal to its result ``y``, element by element."""
    return Spec(data.dims, data.dtype)


@op("mean_of_segment_ties")
def mean_of_segment_ties(g: Spec, data: Spec, y: Spec, segment_ids: IndexSpec) -> Spec:
    """The mean of ``g`` over those rows of ``data`` that are equal to the result ``y`` of their segment, element by element."""
    return Spec(y.dims, y.dtype)


@op("continues_segment")
def continues_segment(rows: Spec, segment_ids: IndexSpec) -> Spec:
    """Of the shape of ``rows``: 1 where a row is of the same segment as the one before it, else 0."""
    return Spec(rows.dims, rows.dtype)


@op("flatten_leading", aliases=True)
def flatten_leading(x: Spec, leading: IndexSpec) -> Spec:
    """As many first axes as ``leading`` has, made one."""
    if x.dims is None or leading.dims is None:
        return Spec(None, x.dtype)
    axes = len(leading.dims)
    return Spec((sizes.product(x.dims[:axes]), *x.dims[axes:]), x.dtype)


def _length(x: Any) -> Any:
    """The size of the first axis, as a host input wants it."""
    if x.dims is not None and type(x.dims[0]) is int:
        return x.dims[0]
    return gather_op(shape_op(x, out_type=int32), 0, axis=0, batch_dims=0)


@gradient(segment_sum)
def _(ctx: Any, g: Any) -> Any:
    return take_segments(g, ctx.inputs[1]), None


@gradient(unsorted_segment_sum_op)
def _(ctx: Any, g: Any) -> Any:
    return take_segments(g, ctx.inputs[1]), None, None


@gradient(take_segments)
def _(ctx: Any, g: Any) -> Any:
    rows, ids = ctx.inputs
    return unsorted_segment_sum_op(g, ids, _length(rows)), None


@gradient(segment_mean)
def _(ctx: Any, g: Any) -> Any:
    ids = ctx.inputs[1]
    return take_segments(_over_sizes(g, ids, _length(g), divide_op), ids), None


@gradient(segment_max, segment_min)
def _(ctx: Any, g: Any) -> Any:
    data, ids = ctx.inputs
    return share_among_segment_ties(g, data, ctx.output, ids), None


@gradient(unsorted_segment_max_op, unsorted_segment_min_op)
def _(ctx: Any, g: Any) -> Any:
    data, ids, _ = ctx.inputs
    return share_among_segment_ties(g, data, ctx.output, ids), None, None


@gradient(share_among_segment_ties)
def _(ctx: Any, g: Any) -> Any:
    _, data, y, ids = ctx.inputs
    return mean_of_segment_ties(g, data, y, ids), None, None, None


@gradient(mean_of_segment_ties)
def _(ctx: Any, g: Any) -> Any:
    _, data, y, ids = ctx.inputs
    return share_among_segment_ties(g, data, y, ids), None, None, None


@gradient(segment_prod)
def _(ctx: Any, g: Any) -> Any:
    data, ids = ctx.inputs
    return multiply(take_segments(g, ids), _product_of_others(data, ids)), None


@gradient(unsorted_segment_prod_op)
def _(ctx: Any, g: Any) -> Any:
    data, ids, _ = ctx.inputs
    numbers = reshape_op(ids, (-1,))
    order = argsort_op(numbers, axis=0, descending=False)
    rows = gather_op(flatten_leading(data, ids), order, axis=0, batch_dims=0)
    others = _product_of_others(rows, gather_op(numbers, order, axis=0, batch_dims=0))
    back = gather_op(others, argsort_op(order, axis=0, descending=False), axis=0, batch_dims=0)
    return multiply(take_segments(g, ids), reshape_op(back, shape_of(data))), None, None


@gradient(flatten_leading)
def _(ctx: Any, g: Any) -> Any:
    return reshape_op(g, shape_of(ctx.inputs[0])), None


def _product_of_others(rows: Any, ids: Any) -> Any:
    """For each row the product of all others of its segment, for growing numbers: exact where one is 0, since nothing is divided.

    The product of those before is a recurrence that begins anew at every segment, as is that of those after.
    """
    same = continues_segment(rows, ids)
    before = linear_recurrence(multiply(shift(rows, axis=0, by=1, fill=0.0), same), subtract(1, same), axis=0, reverse=False)
    same = shift(same, axis=0, by=-1, fill=0.0)
    after = linear_recurrence(multiply(shift(rows, axis=0, by=-1, fill=0.0), same), subtract(1, same), axis=0, reverse=True)
    return multiply(before, after)
