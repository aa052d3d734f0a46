"""Counts: of elements that are not 0, of integers by their value, and of pairs of labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim, Size
from treadle.dtypes import DType, float32, int32, int64
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import dtype_argument, integer_argument, tensor
from treadle_ops.casting import cast, cast_op
from treadle_ops.elementwise import multiply
from treadle_ops.inference import ANY, INTEGER, NUMERIC, reduced, require_kind, require_rank
from treadle_ops.reductions import reduce_along
from treadle_ops.segments import take_segments, unsorted_segment_sum_op
from treadle_ops.shaping import reshape_op

# ---------------------------------------------------------------------- what is not 0


@op("count_nonzero")
def count_nonzero_op(x: Spec, *, axis: tuple[int, ...] | None, keepdims: bool, dtype: DType) -> Spec:
    """How many elements over axes are not 0."""
    require_kind(x, ANY, "input")
    return Spec(reduced(x, axis, keepdims), dtype)


@public("math.count_nonzero")
def count_nonzero(input: Any, axis: Any = None, keepdims: Any = None, dtype: Any = int64, name: str | None = None) -> Any:
    """How many elements over axes are not 0; NaN is not.

    Args:
        input: any shape, any dtype.
        axis: an int, a list of ints, or a tensor of them; all axes by default.
        keepdims: keep the axes reduced, with size 1.
        dtype: of the result.
        name: ignored.

    Returns:
        The shape without the axes reduced, of ``dtype``.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.

    Sources:
        TensorFlow ``tf.math.count_nonzero``.
    """
    return reduce_along(partial(count_nonzero_op, dtype=dtype_argument(dtype, int64)), input, axis, keepdims)


@op("zero_fraction", public=("math.zero_fraction", "nn.zero_fraction"))
def zero_fraction(value: Spec) -> Spec:
    """Which part of the elements is 0; NaN for no elements. It has no gradient.

    Args:
        value: any shape, any numeric dtype.
        name: ignored.

    Returns:
        A float32 scalar.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.zero_fraction``.
    """
    require_kind(value, NUMERIC, "value")
    return Spec((), float32)


# ---------------------------------------------------------------------- integers by their value


@op("bincount", can_fail=True)
def bincount_op(arr: IndexSpec, weights: Sequence[FreeSpec], lengths: HostSpec, *, rows: bool, binary: bool, dtype: DType) -> Spec:
    """How often every integer from 0 occurs, or the sums of their weights, in all of ``arr`` or in each of its rows.

    ``lengths`` are the least and the largest number of results; -1 for none.
    """
    require_kind(arr, INTEGER, "arr")
    for weight in weights:
        require_kind(weight, NUMERIC, "weights")
        if arr.dims is not None and weight.dims is not None and _differ(arr, weight):
            raise ShapeError(f"weights of shape {weight.shape} do not fit arr of shape {arr.shape}; they must be equal")
    count: Size = Dim.symbol()
    if lengths.dims is not None and (len(lengths.dims) != 1 or sizes.known_different(lengths.dims[0], 2)):
        raise ShapeError(f"minlength and maxlength have the shape {lengths.shape}; expected two numbers")
    if isinstance(lengths.value, tuple):
        least, most = lengths.value
        if any(isinstance(n, int) and n < -1 for n in (least, most)):
            raise InvalidArgumentError(f"minlength {least} and maxlength {most} must be 0 or more")
        if isinstance(most, int) and most >= 0 and (most == 0 or (isinstance(least, int) and least >= most)):
            count = most
    kind = weights[0].dtype if weights else dtype
    if not rows:
        return Spec((count,), kind)
    return Spec((require_rank(arr, 2, "arr")[0], count), kind)


def _differ(a: Spec, b: Spec) -> bool:
    x, y = a.dims or (), b.dims or ()
    return len(x) != len(y) or any(sizes.known_different(p, q) for p, q in zip(x, y, strict=True))


@gradient(bincount_op)
def _(ctx: Any, g: Any) -> Any:
    arr, weights, _ = ctx.inputs
    if not weights or ctx.rows:
        return None, [None] * len(weights), None
    return None, [take_segments(g, known_places(arr, g))], None


@op("known_places")
def known_places(arr: IndexSpec, counts: FreeSpec) -> Spec:
    """Integers, and -1 for those that are not counted."""
    return Spec(arr.dims, int64)


@public("math.bincount")
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Any:
    """How often every integer from 0 to the largest occurs.

    Args:
        arr: any shape, integers that are not negative, or floats (cut toward 0) or bools; ``(N, M)`` for ``axis=-1``.
        weights: the shape of ``arr``: what to add up instead of counting.
        minlength: the least number of results; the last ones are 0.
        maxlength: the largest number of results; integers from it on are left out.
        dtype: of the result, where there are no weights.
        name: ignored.
        axis: None or 0 for all of ``arr``, -1 for each of its rows.
        binary_output: 1 for every integer that occurs, however often.

    Returns:
        ``(K,)``, or ``(N, K)`` for ``axis=-1``, of ``dtype`` or of the dtype of ``weights``.

    Raises:
        ValueError: there is no such axis, or there are weights for a binary result.
        ShapeError: the shape of ``weights`` is not that of ``arr``.
        InvalidArgumentError: an integer is negative.

    Sources:
        TensorFlow ``tf.math.bincount``.
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"axis is {axis!r}; only 0 and -1 are supported")
    if binary_output and weights is not None:
        raise ValueError("binary_output and weights exclude each other: give one of them")
    numbers = tensor(arr)
    if numbers.dtype.is_floating or numbers.dtype.is_bool:
        numbers = cast_op(numbers, dtype=int32)
    by_rows = axis == -1 and (numbers.dims is None or len(numbers.dims) != 1)
    weighted = [] if weights is None else [tensor(weights)]
    lengths = [_length(minlength, "minlength"), _length(maxlength, "maxlength")]
    return bincount_op(numbers, weighted, lengths, rows=by_rows, binary=bool(binary_output), dtype=dtype_argument(dtype, int32))


def _length(given: Any, what: str) -> Any:
    return -1 if given is None else integer_argument(given, what)


# ---------------------------------------------------------------------- pairs of labels


@op("class_count")
def class_count(labels: IndexSpec, predictions: IndexSpec) -> Spec:
    """The number of classes that labels and predictions name: the largest + 1."""
    return Spec((), int64)


@op("confusion_places", can_fail=True)
def confusion_places(labels: IndexSpec, predictions: IndexSpec, num_classes: HostSpec) -> Spec:
    """The places of pairs in a confusion matrix whose rows stand one after the other."""
    for spec, what in ((labels, "labels"), (predictions, "predictions")):
        require_kind(spec, INTEGER, what)
    (count,), (others,) = require_rank(labels, 1, "labels"), require_rank(predictions, 1, "predictions")
    return Spec((sizes.unify(count, others, "the sizes of labels and predictions"),), int64)


@public("math.confusion_matrix")
def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = int32, name: str | None = None) -> Any:
    """How often each class was predicted for each class.

    Args:
        labels: ``(N,)``, integers, the true classes.
        predictions: ``(N,)``, integers.
        num_classes: an integer; by default the largest class + 1.
        weights: ``(N,)``: what to add up instead of counting.
        dtype: of the result.
        name: ignored.

    Returns:
        ``(num_classes, num_classes)`` of ``dtype``: a row per label, a column per prediction.

    Raises:
        ShapeError: the shapes differ.
        InvalidArgumentError: a class is negative, or not below ``num_classes``.

    Sources:
        TensorFlow ``tf.math.confusion_matrix``.
    """
    true, guessed = (cast(_as_vector(tensor(t)), int64) for t in (labels, predictions))
    wanted = dtype_argument(dtype, int32)
    count = class_count(true, guessed) if num_classes is None else integer_argument(num_classes, "num_classes")
    if not isinstance(count, int) and count.dtype is not int64:
        count = cast(count, int64)
    places = confusion_places(true, guessed, count)
    pairs = count * count if isinstance(count, int) else multiply(count, count)
    if weights is None:
        found = bincount_op(places, [], [pairs, pairs], rows=False, binary=False, dtype=wanted)
    else:
        found = unsorted_segment_sum_op(cast(tensor(weights), wanted), places, pairs)
    return reshape_op(found, [count, count])


def _as_vector(x: Any) -> Any:
    """``(N,)`` of ``(N, 1)``, as TensorFlow does."""
    return reshape_op(x, (-1,)) if x.dims is not None and len(x.dims) == 2 and x.dims[1] == 1 else x
