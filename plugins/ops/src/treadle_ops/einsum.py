"""Einstein summation: any product of tensors summed over any of their axes, by matrix products where there is one in it.

The op takes one or two tensors, a label for each of their axes, and labels of the result; an equation of more is a series of such. Labels
that start with a dot stand for the axes of an ellipsis, counted from the last: their sizes broadcast, those of others must be equal.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import static_value, tensor
from treadle_ops.broadcasting import axis_size, broadcast_to_op, shape_of, sum_to_shape
from treadle_ops.called_function import subject
from treadle_ops.elementwise import conj
from treadle_ops.inference import NUMERIC, same_dtype
from treadle_ops.run_time_sums import einsum_of_unknown_rank, tensordot_of_unknown_rank
from treadle_ops.shaping import expand_dims_op

Labels = tuple[str, ...]


@op("einsum")
def einsum_op(operands: Sequence[Spec], *, terms: tuple[Labels, ...], result: Labels) -> Spec:
    """The product of one or two tensors, summed over the labels that are not in the result; a label that is there twice makes a diagonal."""
    dtype = same_dtype(*operands, kinds=NUMERIC)
    known: dict[str, Any] = {}
    if len(operands) != len(terms):
        raise InvalidArgumentError(f"{len(operands)} operands are given for the equation {_text(terms, result)}")
    for spec, labels in zip(operands, terms, strict=True):
        dims = spec.dims
        if dims is None:
            dims = tuple(sizes.Dim.symbol() for _ in labels)
        if len(dims) != len(labels):
            raise ShapeError(f"an operand has rank {len(dims)} (shape {spec.shape}); the equation {_text(terms, result)} needs rank {len(labels)}")
        for label, size in zip(labels, dims, strict=True):
            before = known.get(label)
            known[label] = size if before is None else _merged(label, before, size, operands, terms, result)
    return Spec(tuple(known[label] for label in result), dtype)


def _merged(label: str, a: Any, b: Any, operands: Sequence[Spec], terms: tuple[Labels, ...], output: Labels) -> Any:
    if is_loose(label):
        return (sizes.broadcast((a,), (b,)) or (a,))[0]
    if sizes.known_different(a, b):
        shapes = ", ".join(str(spec.shape) for spec in operands)
        raise ShapeError(f"the axes {label!r} of {_text(terms, output)} have the sizes {a} and {b} (shapes {shapes}); Dimensions must be equal")
    return sizes.unify(a, b, f"axes {label!r} of einsum")


def _text(terms: tuple[Labels, ...], output: Labels) -> str:
    return f"'{','.join(''.join(t) for t in terms)}->{''.join(output)}'"


def is_loose(label: str) -> bool:
    """Whether the sizes of a label's axes broadcast: it stands for an axis of an ellipsis."""
    return label[0] == "."


@gradient(einsum_op)
def _(ctx: Any, g: Any) -> Any:
    (operands,) = ctx.inputs
    found = []
    for i, (x, labels) in enumerate(zip(operands, ctx.terms, strict=True)):
        if not ctx.needs[i]:
            found.append(None)
            continue
        rest = [conj(operands[1 - i])] if len(operands) == 2 else []
        rest_terms = [ctx.terms[1 - i]] if rest else []
        found.append(_gradient_of(x, labels, [g, *rest], (ctx.result, *rest_terms)))
    return found


def _gradient_of(x: Any, labels: Labels, factors: list[Any], terms: tuple[Labels, ...]) -> Any:
    """The gradient of one operand: the other factors contracted to its labels, repeated along what it alone was summed over."""
    unique = tuple(dict.fromkeys(labels))
    present = {label for term in terms for label in term}
    result = einsum_op(factors, terms=terms, result=tuple(label for label in unique if label in present))
    missing = [i for i, label in enumerate(unique) if label not in present]
    if missing:
        for i in missing:
            result = expand_dims_op(result, axis=i)
        result = broadcast_to_op(result, _sizes(x, [labels.index(label) for label in unique], result, missing))
    if len(unique) < len(labels):
        result = einsum_op([result], terms=(unique,), result=labels)
    if any(is_loose(label) for label in labels) and result.dims != x.dims:
        result = sum_to_shape(result, shape_of(x))
    return result


def _sizes(x: Any, axes: list[int], result: Any, missing: list[int]) -> Any:
    """Sizes of the result to be: those of ``x`` for the axes missing, and of the result as it is for others."""
    found = []
    for i, axis in enumerate(axes):
        source, at = (x, axis) if i in missing else (result, i)
        size = source.dims[at] if source.dims is not None else None
        found.append(size if type(size) is int else axis_size(source, axis=at))
    return tuple(found) if all(type(size) is int for size in found) else found


# ---------------------------------------------------------------------- equations


class Equation(NamedTuple):
    """A label for each axis of each operand, and the labels of the result."""

    terms: tuple[Labels, ...]
    output: Labels


@functools.lru_cache(maxsize=1024)
def parsed(equation: str, ranks: tuple[int | None, ...]) -> Equation:
    """Read an equation such as ``"...ij,jk->...ik"`` for operands of these ranks (None: unknown).

    Raises:
        ValueError: it is not an equation, or not one of so many operands.
        ShapeError: an operand's rank does not fit.
    """
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    if any(c not in ".,-" and not (c.isascii() and c.isalpha()) for c in left + right) or "->" in right or "-" in left + right or "," in right:
        raise InvalidArgumentError(f"{subject()}Subscripts have incorrect format: {equation}")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise InvalidArgumentError(f"einsum: the equation {equation!r} has {len(inputs)} operands, and {len(ranks)} tensors were given")
    terms = tuple(_labels(term, rank, i, equation) for i, (term, rank) in enumerate(zip(inputs, ranks, strict=True)))
    used = [label for term in terms for label in term]
    loose = sorted({label for label in used if is_loose(label)}, reverse=True)
    if not arrow:
        named = sorted(label for label in dict.fromkeys(used) if not is_loose(label) and used.count(label) == 1)
        return Equation(terms, (*loose, *named))
    output = _split(right, equation)
    if len(set(output)) != len(output):
        raise InvalidArgumentError(f"Output subscripts contain a label appearing more than once: {equation}")
    for label in output:
        if label != "..." and label not in used:
            raise InvalidArgumentError(f"Output subscripts contain the label {label!r} not present in the input subscripts: {equation}")
    if loose and "..." not in output:
        raise ShapeError(f"einsum: the ellipsis of the operands stands for {len(loose)} axes, and the result of {equation!r} has none")
    return Equation(terms, tuple(one for label in output for one in (loose if label == "..." else (label,))))


def _split(term: str, equation: str) -> list[str]:
    """The labels of a term, its ellipsis as ``"..."``."""
    before, dots, after = term.partition("...")
    if "." in before + after:
        raise InvalidArgumentError(f"Subscripts have incorrect format: {equation}")
    return [*before, *(["..."] if dots else []), *after]


def _labels(term: str, rank: int | None, position: int, equation: str) -> Labels:
    labels = _split(term, equation)
    if "..." not in labels:
        if rank is not None and rank != len(labels):
            raise ShapeError(f"einsum: Expected input {position} to have rank {len(labels)} but got: {rank} (equation {equation!r})")
        return tuple(labels)
    count = rank - (len(labels) - 1)
    if count < 0:
        raise ShapeError(f"einsum: Expected input {position} to have rank at least {len(labels) - 1} but got: {rank} (equation {equation!r})")
    return tuple(one for label in labels for one in ([f".{count - 1 - i}" for i in range(count)] if label == "..." else [label]))


@public("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """The product of tensors summed over some of their axes, by Einstein's convention.

    Args:
        equation: a letter for each axis of each operand, and those of the result: ``"ij,jk->ik"`` is the matrix product. Letters that are not in the
            result are summed over; one that is twice in a term takes its diagonal; ``...`` stands for any axes, which broadcast. Without ``->``
            the result has the letters that are there once, in alphabetical order.
        *inputs: tensors of one dtype, any numeric one.
        optimize: ignored: of three operands and more, the pair with the smallest product comes first.
        name: ignored.

    Returns:
        A tensor of their dtype.

    Raises:
        ValueError: the equation is not one, or has another number of operands.
        ShapeError: a rank does not fit, or axes with the same letter have different sizes.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.einsum``; NumPy 2.4 ``numpy.einsum``.
    """
    unknown = [key for key in kwargs if key not in ("name", "optimize", "greedy")]
    if unknown:
        raise TypeError(f"Invalid keyword arguments for einsum: {', '.join(unknown)}. Valid arguments: name, optimize, greedy.")
    like = next((x for x in inputs if hasattr(x, "dtype")), None)
    operands = [tensor(x, like) for x in inputs]
    text = str(equation)
    if "..." in text and any(x.dims is None for x in operands):
        if "->" not in text or "..." in text.partition("->")[2]:
            return einsum_of_unknown_rank(einsum, text, operands)
        text = text.replace("...", "")  # it may only stand for nothing, which the ranks show
    ranks = tuple([None if x.dims is None else len(x.dims) for x in operands])
    terms, output = parsed(text, ranks)
    if len(operands) <= 2:
        return einsum_op(operands, terms=terms, result=output)
    return _pair_by_pair(operands, list(terms), output)


def _pair_by_pair(operands: list[Any], terms: list[Labels], output: Labels) -> Any:
    """Three operands and more, two at a time: those whose product is smallest beside them come first."""
    while len(operands) > 2:
        i, j = _cheapest(operands, terms, output)
        others = {label for n, term in enumerate(terms) for label in term if n not in (i, j)} | set(output)
        kept = tuple(label for label in dict.fromkeys((*terms[i], *terms[j])) if label in others)
        product = einsum_op([operands[i], operands[j]], terms=(terms[i], terms[j]), result=kept)
        operands = [x for n, x in enumerate(operands) if n not in (i, j)] + [product]
        terms = [t for n, t in enumerate(terms) if n not in (i, j)] + [kept]
    return einsum_op(operands, terms=tuple(terms), result=output)


def _cheapest(operands: list[Any], terms: list[Labels], output: Labels) -> tuple[int, int]:
    lengths: dict[str, int] = {}
    for x, term in zip(operands, terms, strict=True):
        for label, size in zip(term, x.dims or (None,) * len(term), strict=True):
            lengths[label] = max(lengths.get(label, 1), size if type(size) is int else 16)  # what is not known counts as small

    def growth(pair: tuple[int, int]) -> tuple[bool, int]:
        i, j = pair
        others = {label for n, term in enumerate(terms) for label in term if n not in pair} | set(output)
        shared = set(terms[i]) & set(terms[j])
        kept = (set(terms[i]) | set(terms[j])) & others
        volume = [math.prod(lengths[label] for label in labels) for labels in (kept, set(terms[i]), set(terms[j]))]
        return not shared, volume[0] - volume[1] - volume[2]

    pairs = [(i, j) for i in range(len(terms)) for j in range(i + 1, len(terms))]
    return min(pairs, key=growth)


# ---------------------------------------------------------------------- tensordot


@public("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """The product of two tensors summed over pairs of their axes.

    Args:
        a: any shape, any numeric dtype.
        b: any shape, the same dtype.
        axes: how many of the last axes of ``a`` meet the first of ``b``, or which axes of ``a`` and which of ``b`` as two lists.
        name: ignored.

    Returns:
        The axes of ``a`` that are left, then those of ``b``.

    Raises:
        ValueError: the lists differ in length, or an axis is out of range.
        ShapeError: axes that meet have different sizes.

    Sources:
        TensorFlow ``tf.tensordot``.
    """
    a = tensor(a, b if hasattr(b, "dtype") else None)
    b = tensor(b, a)
    meeting = static_value(axes, "axes")
    if not _are_integers(meeting):
        raise InvalidArgumentError(f"tensordot: `axes` must be an integer or two lists of integers, got {axes!r}")
    if a.dims is None or b.dims is None:
        return tensordot_of_unknown_rank(a, b, meeting)
    rank_a, rank_b = len(a.dims), len(b.dims)
    axes_a, axes_b = _meeting(meeting, rank_a, rank_b)
    labels_a = [f"a{i}" for i in range(rank_a)]
    labels_b = [f"b{i}" for i in range(rank_b)]
    for i, j in zip(axes_a, axes_b, strict=True):
        labels_b[j] = labels_a[i]
    output = [label for i, label in enumerate(labels_a) if i not in axes_a] + [label for j, label in enumerate(labels_b) if j not in axes_b]
    return einsum_op([a, b], terms=(tuple(labels_a), tuple(labels_b)), result=tuple(output))


def _are_integers(axes: Any) -> bool:
    """Whether axes are an integer, or a tuple of integers and of tuples of them."""
    items = [item for each in axes for item in (each if isinstance(each, tuple) else (each,))] if isinstance(axes, tuple) else [axes]
    return all(type(item) is int for item in items)


def _meeting(axes: Any, rank_a: int, rank_b: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(rank_a, rank_b):
            raise InvalidArgumentError(f"tensordot: `axes` must be from 0 to {min(rank_a, rank_b)}, the lower rank of the tensors, not {axes}")
        return list(range(rank_a - axes, rank_a)), list(range(axes))
    if len(axes) != 2:
        raise InvalidArgumentError(f"tensordot: `axes` must be an integer or have length 2, got {axes}")
    first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
    if len(first) != len(second):
        raise InvalidArgumentError(f"tensordot: Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}.")
    for chosen, rank, what in ((first, rank_a, "a"), (second, rank_b, "b")):
        for i, axis in enumerate(chosen):
            if not -rank <= axis < rank:
                raise InvalidArgumentError(f"tensordot: axis {axis} is out of range for {what}, a tensor of rank {rank}")
            chosen[i] = axis % rank
        if len(set(chosen)) != len(chosen):
            raise InvalidArgumentError(f"tensordot: the axes {chosen} of {what} name an axis twice; give each axis once")
    return first, second
