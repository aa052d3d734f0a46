"""Batching rules of ops that take leading axes or name their axes: reductions, shapes, orders, products, matrices, softmax and losses.

Elementwise ops need none. Where a rule is one line, the op is listed with the others of its kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.declare import batching
from treadle.dtypes import float32
from treadle_ops.batch_operands import (
    Operand,
    aligned,
    known_host,
    length_of,
    merged,
    moved,
    parted,
    prefixed,
    shifted,
    sizes_of,
)
from treadle_ops.broadcasting import broadcast_to_op
from treadle_ops.casting import cast_op
from treadle_ops.comparison import equal
from treadle_ops.elementwise import add, multiply, subtract
from treadle_ops.reductions import reduce_all_op, reduce_mean_op, reduce_sum_op, reduced_count
from treadle_ops.shaping import reshape_op
from treadle_ops.slicing import strided_slice_op

AXES = ("axis", "axes", "seq_axis", "batch_axis")
"""Attributes that name axes."""

EACH = "the number of elements"
"""Stands for what a shape gets in front."""


def leading_axes(op: Any, *operands: Any, **attrs: Any) -> Any:
    """An op that works on the axes that it names, or on the last ones: the batch axis is one more in front."""
    return _with_leading_axis(op, {}, operands, attrs)


def with_prefix(**first: Any) -> Callable[..., Any]:
    """The same for an op with host inputs that say something of every axis; ``first`` is what they say of the batch axis."""

    def rule(op: Any, *operands: Any, **attrs: Any) -> Any:
        return _with_leading_axis(op, first, operands, attrs)

    return rule


def _with_leading_axis(op: Any, first: dict[str, Any], operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    inputs: list[Any] = []
    tensors: list[Operand] = []
    for declared, operand in zip(op.op.inputs, operands, strict=True):
        if declared.kind == "host":
            value = operand.shared()
            if declared.name in first:
                value = prefixed(value, operand.count if first[declared.name] is EACH else first[declared.name])
            inputs.append(value)
        elif declared.sequence:
            tensors += operand
            inputs.append([o.batched() for o in operand])
        else:
            tensors.append(operand)
            inputs.append(operand.batched())
    return op(*inputs, **_shifted_axes(attrs, *tensors))


def _shifted_axes(attrs: dict[str, Any], *operands: Operand) -> dict[str, Any]:
    return {name: shifted(value, lambda: max(o.rank for o in operands)) if name in AXES else value for name, value in attrs.items()}


batching(
    *("argmax", "argmin", "argsort", "sort", "top_k", "searchsorted"),
    *("cumsum", "cumprod", "cumulative_logsumexp", "linear_recurrence", "shift", "reverse", "roll"),
    *("softmax", "softmax_grad", "log_softmax", "log_softmax_grad", "softmax_cross_entropy", "softmax_cross_entropy_grad"),
    *("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"),
    *("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min", "reduce_all", "reduce_any", "reduce_logsumexp"),
    *("reduce_euclidean_norm", "reduce_variance", "euclidean_norm", "moments", "count_nonzero"),
    *("share_among_ties", "mean_of_ties", "exp_of_difference"),
    *("stop_gradient", "cast", "zeros_like", "ones_like", "check_numerics", "bitcast"),
    *("matrix_transpose", "band_part", "set_diag", "cholesky", "cofactors", "det", "slogdet", "inv", "inverse_orders", "expm", "logm", "sqrtm"),
    *("eig", "eigh", "eigvals", "eigvalsh", "lu", "qr", "wide_matrices", "svd", "singular_values", "cross"),
    *("fft", "rfft", "irfft", "fit_axes", "overlap_and_add"),
    *("add_n", "elu_grad", "gelu_grad", "leaky_relu_grad", "relu_grad", "relu6_grad", "selu_grad", "silu_grad", "sigmoid_grad", "tanh_grad"),
    *("sigmoid_cross_entropy", "sigmoid_cross_entropy_grad"),
    *("concat", "stack", "split", "split_evenly", "unstack", "expand_dims", "one_hot"),
)(leading_axes)

batching("pad", "crop", "mirror_pad", "mirror_fold")(with_prefix(paddings=(0, 0)))
batching("tile")(with_prefix(multiples=1))
batching("sum_tiles")(with_prefix(multiples=1, shape=EACH))
batching("slice_grad")(with_prefix(begin=0, shape=EACH))


@batching("solve", "triangular_solve", "tridiagonal_solve", "standardize")
@batching("assert_equal", "assert_greater", "assert_greater_equal", "assert_less", "assert_less_equal", "assert_near", "assert_none_equal")
def broadcasting(op: Any, *operands: Any, **attrs: Any) -> Any:
    """An op whose inputs broadcast in front of what it works on: as an elementwise one."""
    return op(*aligned(operands), **attrs)


@batching("matmul")
def _(op: Any, a: Operand, b: Operand, *, transpose_a: bool, transpose_b: bool) -> Any:
    if b.is_batched or b.rank != 2 or transpose_a:
        return op(*aligned([a, b]), transpose_a=transpose_a, transpose_b=transpose_b)
    rows = a.batched()
    *lead, inner = sizes_of(rows)
    total = lead[0]
    for size in lead[1:]:
        total = total * size
    product = op(reshape_op(rows, [total, inner]), b.tensor, transpose_b=transpose_b)
    return reshape_op(product, [*lead, sizes_of(product)[1]])


@batching("clip_by_value", "keep_scaled")
def _(op: Any, first: Operand, *others: Operand, **attrs: Any) -> Any:
    return op(first.batched(), *(o.of_rank(first.rank) for o in others), **attrs)


@batching("pinv")
def _(op: Any, a: Operand, rcond: Operand) -> Any:
    rank = max(a.rank, rcond.rank + 2)
    return op(a.of_rank(rank), rcond.of_rank(rank - 2))


@batching("lstsq")
def _(op: Any, matrix: Operand, rhs: Operand) -> Any:
    return op(matrix.batched(), rhs.batched()) if matrix.rank == rhs.rank else NotImplemented


@batching("einsum")
def _(op: Any, operands: list[Operand], *, terms: Any, result: Any) -> Any:
    taken = {label for term in (*terms, result) for label in term}
    label = next(chr(code) for code in range(ord("a"), 0x10FFFF) if chr(code) not in taken)
    wider = tuple((label, *term) if o.is_batched else term for o, term in zip(operands, terms, strict=True))
    return op([o.tensor for o in operands], terms=wider, result=(label, *result))


# ---------------------------------------------------------------------- sizes


@batching("shape", shared=True)
def _(op: Any, x: Operand, *, out_type: Any) -> Any:
    return strided_slice_op(op(x.tensor, out_type=out_type), index=((1, None, 1),))


@batching("axis_size", "reduced_count", shared=True)
def _(op: Any, x: Operand, **attrs: Any) -> Any:
    return op(x.tensor, **_shifted_axes(attrs, x))


@batching("kept_shape", shared=True)
def _(op: Any, x: Operand, *, axis: Any) -> Any:
    return strided_slice_op(op(x.tensor, axis=shifted(axis, lambda: x.rank)), index=((1, None, 1),))


@batching("rank", shared=True)
def _(op: Any, x: Operand) -> Any:
    return subtract(op(x.tensor), 1)


@batching("size", shared=True)
def _(op: Any, x: Operand, *, out_type: Any) -> Any:
    return reduced_count(x.tensor, axis=tuple(range(1, x.rank + 1)), dtype=out_type)


# ---------------------------------------------------------------------- shapes


@batching("reshape")
def _(op: Any, x: Operand, shape: Operand) -> Any:
    wanted = known_host(shape.shared())
    tensor = x.batched()
    if isinstance(wanted, tuple) and -1 in wanted and tensor.dims is not None:
        wanted = _without_gap(wanted, sizes_of(tensor)[1:])  # no element at all would not tell what is left
    return op(tensor, [x.count, *wanted] if isinstance(wanted, tuple) else prefixed(wanted, x.count))


def _without_gap(wanted: tuple[int, ...], sizes: list[Any]) -> tuple[Any, ...]:
    """A shape with what is left of an element of some sizes in place of -1."""
    given = math.prod(size for size in wanted if size != -1)
    left = math.prod(size for size in sizes if type(size) is int)
    for size in sizes:
        left = left if type(size) is int else left * size
    return tuple((left // given if given else 0) if size == -1 else size for size in wanted)


@batching("broadcast_to")
def _(op: Any, x: Operand, shape: Operand) -> Any:
    wanted = shape.shared()
    return op(x.of_rank(length_of(wanted)), prefixed(wanted, x.count))


@batching("sum_to_shape")
def _(op: Any, x: Operand, shape: Operand) -> Any:
    wanted = shape.shared()
    result = x.batched()
    extra = x.rank - length_of(wanted)
    if extra:
        result = reduce_sum_op(result, axis=tuple(range(1, extra + 1)), keepdims=False)
    return op(result, prefixed(wanted, x.count))


@batching("fill")
def _(op: Any, shape: Operand, value: Operand) -> Any:
    wanted = shape.shared()
    filling = Operand(value.batched(), True, value.count).of_rank(length_of(wanted))
    return broadcast_to_op(filling, prefixed(wanted, value.count))


@batching("transpose")
def _(op: Any, x: Operand, *, perm: tuple[int, ...] | None) -> Any:
    rank = x.rank
    order = tuple(range(rank - 1, -1, -1)) if perm is None else perm
    return op(x.tensor, perm=(0, *(axis % rank + 1 for axis in order)))


@batching("squeeze")
def _(op: Any, x: Operand, *, axis: tuple[int, ...] | None) -> Any:
    if axis is not None:
        return op(x.tensor, axis=shifted(axis, lambda: x.rank))
    sizes = sizes_of(x.tensor)[1:]
    if not all(type(size) is int for size in sizes):
        return NotImplemented
    return op(x.tensor, axis=tuple(i for i, size in enumerate(sizes, 1) if size == 1))


@batching("ensure_shape")
def _(op: Any, x: Operand, *, shape: tuple[int | None, ...]) -> Any:
    return op(x.tensor, shape=(None, *shape))


@batching("required_rows")
def _(op: Any, x: Operand, *, axis: int, **attrs: Any) -> Any:
    return op(x.batched(), axis=axis + 1, **attrs)


@batching("equal_sizes")
def _(op: Any, x: Operand, y: Operand, *, axis: int, other: int, what: str) -> Any:
    return op(x.batched(), y.batched(), axis=axis + (axis >= 0), other=other + (other >= 0), what=what)


@batching("flatten_leading")
def _(op: Any, x: Operand, leading: Operand) -> Any:
    result = x.batched()
    for _ in range(leading.rank - 1):
        result = merged(result, 1)
    return result


@batching("pad_with")
def _(op: Any, x: Operand, paddings: Operand, value: Operand) -> Any:
    return op(x.batched(), prefixed(paddings.shared(), (0, 0)), value.shared())


@batching("diag")
def _(op: Any, diagonal: Operand, padding: Operand, size: Operand, **attrs: Any) -> Any:
    return op(diagonal.batched(), padding.shared(), size.shared(), **attrs)


@batching("diag_part")
def _(op: Any, x: Operand, padding: Operand, **attrs: Any) -> Any:
    return op(x.batched(), padding.shared(), **attrs)


@batching("repeat")
def _(op: Any, x: Operand, repeats: Operand, *, axis: int) -> Any:
    return op(x.batched(), repeats.shared(), axis=shifted(axis, lambda: x.rank))


@batching("reverse_sequence")
def _(op: Any, x: Operand, seq_lengths: Operand, *, seq_axis: int, batch_axis: int) -> Any:
    rank = x.rank
    seq, batch = seq_axis % rank, batch_axis % rank
    if not seq_lengths.is_batched:
        return op(x.tensor, seq_lengths.tensor, seq_axis=seq + 1, batch_axis=batch + 1)
    rows = moved(x.batched(), batch + 1, 1)
    result = op(merged(rows), merged(seq_lengths.tensor), seq_axis=seq + 1 if seq < batch else seq, batch_axis=0)
    return moved(parted(result, *sizes_of(rows)[:2]), 1, batch + 1)


@batching("boolean_mask")
def _(op: Any, x: Operand, mask: Operand, *, axis: int) -> Any:
    return op(x.batched(), mask.shared(), axis=shifted(axis, lambda: x.rank))


@batching("boolean_mask_grad")
def _(op: Any, g: Operand, mask: Operand, shape: Operand, *, axis: int) -> Any:
    return op(g.batched(), mask.shared(), prefixed(shape.shared(), g.count), axis=shifted(axis, lambda: g.rank))


@batching("non_max_suppression")
def _(op: Any, *operands: Operand, pad: bool, **attrs: Any) -> Any:
    return _with_leading_axis(op, {}, operands, {"pad": pad, **attrs}) if pad else NotImplemented


@batching("sum_repeats")
def _(op: Any, x: Operand, repeats: Operand, shape: Operand, *, axis: int) -> Any:
    return op(x.batched(), repeats.shared(), prefixed(shape.shared(), x.count), axis=shifted(axis, lambda: x.rank))


@batching("linspace")
def _(op: Any, start: Operand, stop: Operand, num: Operand, *, axis: int) -> Any:
    both = aligned([start, stop])
    if axis < 0 and not all(o.is_batched for o in (start, stop)):
        both = [start.batched(), stop.batched()]
    return op(*both, num.shared(), axis=shifted(axis, lambda: 0))


@batching("sequence_mask")
def _(op: Any, lengths: Operand, maxlen: Operand, *, dtype: Any) -> Any:
    most = known_host(maxlen.shared())
    return NotImplemented if most == () else op(lengths.batched(), most, dtype=dtype)


@batching("unravel_index")
def _(op: Any, indices: Operand, dims: Operand) -> Any:
    return moved(op(indices.batched(), dims.shared()), 1, 0)


@batching("frame")
def _(op: Any, signal: Operand, pad_value: Operand, lengths: Operand, *, axis: int, pad_end: bool) -> Any:
    return op(signal.batched(), pad_value.shared(), lengths.shared(), axis=shifted(axis, lambda: signal.rank), pad_end=pad_end)


@batching("frame_grad")
def _(op: Any, g: Operand, shape: Operand, lengths: Operand, *, axis: int, pad_end: bool) -> Any:
    return op(g.batched(), prefixed(shape.shared(), g.count), lengths.shared(), axis=shifted(axis, lambda: g.rank), pad_end=pad_end)


# ---------------------------------------------------------------------- sums over everything, biases, checks


def _own_axes(x: Operand) -> tuple[int, ...]:
    return tuple(range(1, x.rank + 1))


@batching("l2_loss")
def _(op: Any, t: Operand) -> Any:
    return multiply(reduce_sum_op(multiply(t.tensor, t.tensor), axis=_own_axes(t), keepdims=False), 0.5)


@batching("bias_add")
def _(op: Any, value: Operand, bias: Operand, *, axis: int) -> Any:
    if axis == -1 and not bias.is_batched:
        return op(value.tensor, bias.tensor, axis=axis)
    rank = value.rank
    shape = [bias.count if bias.is_batched else 1, *[1] * rank]
    shape[axis % rank + 1] = sizes_of(bias.tensor)[-1]
    return add(value.batched(), reshape_op(bias.tensor, shape))


@batching("zero_fraction")
def _(op: Any, value: Operand) -> Any:
    zeros = cast_op(equal(value.tensor, cast_op(0, dtype=value.dtype)), dtype=float32)
    return reduce_mean_op(zeros, axis=_own_axes(value), keepdims=False)


@batching("assert")
def _(op: Any, condition: Operand, data: list[Operand], **attrs: Any) -> Any:
    return op(reduce_all_op(condition.tensor, axis=None, keepdims=False), [o.tensor for o in data], **attrs)


@batching("guard_numerics")
def _(op: Any, x: Operand, inputs: list[Operand], **attrs: Any) -> Any:
    return op(x.tensor, [o.tensor for o in inputs], **attrs)
