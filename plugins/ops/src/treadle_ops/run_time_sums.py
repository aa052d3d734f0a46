"""Einstein sums and products of tensors whose ranks are known only when a graph runs.

What an ellipsis stands for becomes one axis before the sum, and its axes again after it.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError
from treadle_ops.broadcasting import broadcast_to_op, shape_op
from treadle_ops.creation import ones_op
from treadle_ops.equal_sizes import equal_sizes
from treadle_ops.joining import concat_op
from treadle_ops.products import matmul_op
from treadle_ops.reductions import reduce_prod_op
from treadle_ops.run_time_axes import reduced_shape, rows_of_axes
from treadle_ops.shaping import reshape_op
from treadle_ops.sizes import broadcast_dynamic_shape_op, size_op


def einsum_of_unknown_rank(contract: Callable[..., Any], equation: str, operands: Sequence[Any]) -> Any:
    """An Einstein sum with an ellipsis over operands of which not all ranks are known.

    Args:
        contract: the sum for an equation without an ellipsis.
        equation: what TensorFlow takes, with an ellipsis in it, and in its result if that is given.
        operands: tensors.
    """
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise InvalidArgumentError(f"einsum: the equation {equation!r} has {len(terms)} operands, and {len(operands)} tensors were given")
    if not arrow:
        right = "..." + "".join(sorted(letter for letter in set(left) if letter.isalpha() and left.count(letter) == 1))
    joint = next((letter for letter in string.ascii_letters if letter not in text), None)
    if joint is None:
        raise InvalidArgumentError(f"einsum: {equation!r} uses every letter; an operand of unknown rank needs one for its ellipsis")
    shapes = [_parts(x, term) if "..." in term else None for x, term in zip(operands, terms, strict=True)]
    wide = _broadcast([parts[1] for parts in shapes if parts is not None])
    count = reshape_op(reduce_prod_op(wide, axis=None, keepdims=False), (1,))
    ready = [x if parts is None else _joined(x, *parts, wide, count) for x, parts in zip(operands, shapes, strict=True)]
    result = contract(f"{left.replace('...', joint)}->{right.replace('...', joint)}", *ready)
    before, _, after = _parts(result, right.replace("...", joint), joint)
    return reshape_op(result, concat_op([before, wide, after], axis=0))


def _parts(x: Any, term: str, dots: str = "...") -> tuple[Any, Any, Any]:
    """The sizes of the axes before an ellipsis, of those that it stands for, and of those after it."""
    shape = shape_op(x, out_type=int32)
    before, _, after = term.partition(dots)
    start, end = len(before), -len(after) if after else None
    return shape[:start], shape[start:end], shape[end:] if after else shape[:0]


def _broadcast(shapes: list[Any]) -> Any:
    wide = shapes[0]
    for shape in shapes[1:]:
        wide = broadcast_dynamic_shape_op(wide, shape, out_type=int32)
    return wide


def _joined(x: Any, before: Any, own: Any, after: Any, wide: Any, count: Any) -> Any:
    """An operand with the axes of its ellipsis broadcast and made one."""
    more = ones_op([size_op(wide, out_type=int32) - size_op(own, out_type=int32)], dtype=int32)
    aligned = reshape_op(x, concat_op([before, more, own, after], axis=0))
    repeated = broadcast_to_op(aligned, concat_op([before, wide, after], axis=0))
    return reshape_op(repeated, concat_op([before, count, after], axis=0))


def tensordot_of_unknown_rank(a: Any, b: Any, axes: Any) -> Any:
    """The product of two tensors summed over pairs of their axes.

    Args:
        a: a tensor.
        b: a tensor of the same dtype.
        axes: how many of the last axes of ``a`` meet the first of ``b``, or which of each as two tuples.
    """
    if isinstance(axes, int):
        if axes < 0:
            raise InvalidArgumentError(f"tensordot: `axes` must be 0 or more, not {axes}")
        axes = (tuple(range(-axes, 0)), tuple(range(axes)))
    if len(axes) != 2:
        raise InvalidArgumentError(f"tensordot: `axes` must be an integer or have length 2, got {axes}")
    first, second = ((each,) if isinstance(each, int) else each for each in axes)
    if len(first) != len(second):
        raise InvalidArgumentError(f"tensordot: Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}.")
    for axis, other in zip(first, second, strict=True):
        a = equal_sizes(a, b, axis=axis, other=other, what=f"tensordot: the sizes of axis {axis} of a and axis {other} of b")
    product = matmul_op(rows_of_axes(a, first, as_named=True), rows_of_axes(b, second, as_named=True), transpose_b=True)
    left = [reduced_shape(shape_op(x, out_type=int32), each, keepdims=False) for x, each in ((a, first), (b, second))]
    return reshape_op(product, concat_op(left, axis=0))
