"""Einstein summation of one or two arrays: diagonals and sums first, then one matrix product."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from treadle.declare import kernel
from treadle_array.matrices import is_one_memory

Labels = tuple[str, ...]


@kernel("einsum")
def einsum(xp: Any) -> Any:
    """See the op; short floats are computed in float32."""

    def run(operands: list[Any], *, terms: tuple[Labels, ...], result: Labels) -> Any:
        _check(operands, terms)
        dtype = operands[0].dtype
        short = dtype.itemsize == 2 and dtype.kind not in "iu"
        if short:
            operands = [x.astype(xp.float32) for x in operands]
        unique = tuple(dict.fromkeys(result))
        if len(operands) == 1:
            x, labels = _reduced(xp, operands[0], terms[0], frozenset(result))
            value = xp.array(x.transpose([labels.index(label) for label in unique]), order="C")
        else:
            value = _product(xp, operands, terms, unique)
        if len(unique) < len(result):
            value = _inflated(xp, value, unique, result)
        return value.astype(dtype) if short else value

    return run


@functools.lru_cache(maxsize=1024)
def _meetings(terms: tuple[Labels, ...]) -> tuple[tuple[int, int, int, int, bool], ...]:
    """Pairs of axes (operand, axis, operand, axis) that have the same label, and whether their sizes broadcast."""
    first: dict[str, tuple[int, int]] = {}
    found = []
    for i, labels in enumerate(terms):
        for axis, label in enumerate(labels):
            j, other = first.setdefault(label, (i, axis))
            if (j, other) != (i, axis):
                found.append((j, other, i, axis, label[0] == "."))
    return tuple(found)


def _check(operands: list[Any], terms: tuple[Labels, ...]) -> None:
    shapes = [x.shape for x in operands]
    for shape, labels in zip(shapes, terms, strict=True):
        if len(shape) != len(labels):
            raise ValueError(f"an operand has rank {len(shape)}, and the equation needs {len(labels)}")
    for i, axis, j, other, is_loose in _meetings(terms):
        a, b = shapes[i][axis], shapes[j][other]
        if a != b and not (is_loose and (a == 1 or b == 1)):
            raise ValueError(f"axes {axis} and {other} have the sizes {a} and {b}")


def _reduced(xp: Any, x: Any, labels: Labels, kept: frozenset[str]) -> tuple[Any, Labels]:
    """The diagonals of repeated labels, summed over the labels that nobody else has; the result may be a view."""
    if _is_plain(labels, kept):
        return x, labels
    names = list(labels)
    for label in dict.fromkeys(labels):
        while names.count(label) > 1:
            i = names.index(label)
            j = names.index(label, i + 1)
            x = xp.diagonal(x, 0, i, j)
            names = [n for p, n in enumerate(names) if p not in (i, j)] + [label]
    alone = tuple(i for i, label in enumerate(names) if label not in kept)
    if alone:
        x = xp.add.reduce(x, axis=alone, dtype=x.dtype)
        x = xp.asarray(x)
    return x, tuple(label for label in names if label in kept)


@functools.lru_cache(maxsize=1024)
def _is_plain(labels: Labels, kept: frozenset[str]) -> bool:
    return len(set(labels)) == len(labels) and kept.issuperset(labels)


class _Plan(NamedTuple):
    """How two operands are arranged: axes of each, then what the result's axes are and in which order they go."""

    batch: Labels
    contracted: Labels
    free: tuple[Labels, Labels]
    swapped: bool
    order: tuple[int, ...] | None


@functools.lru_cache(maxsize=1024)
def _plan(a: Labels, b: Labels, output: Labels) -> _Plan:
    batch = tuple(label for label in output if label in a and label in b)
    contracted = tuple(label for label in a if label in b and label not in output)
    free_a = tuple(label for label in output if label in a and label not in b)
    free_b = tuple(label for label in output if label in b and label not in a)
    swapped = (*batch, *free_b, *free_a) == output and bool(free_a and free_b)
    made = (*batch, *free_b, *free_a) if swapped else (*batch, *free_a, *free_b)
    order = None if made == output else tuple(made.index(label) for label in output)
    return _Plan(batch, contracted, (free_a, free_b), swapped, order)


@functools.lru_cache(maxsize=1024)
def _kept(other: Labels, output: Labels) -> frozenset[str]:
    return frozenset((*other, *output))


def _product(xp: Any, operands: list[Any], terms: tuple[Labels, ...], output: Labels) -> Any:
    a, labels_a = _reduced(xp, operands[0], terms[0], _kept(terms[1], output))
    b, labels_b = _reduced(xp, operands[1], terms[1], _kept(terms[0], output))
    plan = _plan(labels_a, labels_b, output)
    if plan.swapped:
        a, b, labels_a, labels_b = b, a, labels_b, labels_a
    free_a, free_b = reversed(plan.free) if plan.swapped else plan.free
    if plan.contracted and is_one_memory(a, b):
        b = b.copy()
    if not plan.contracted:
        left = _arranged(a, labels_a, (*plan.batch, *free_a))
        right = _arranged(b, labels_b, (*plan.batch, *free_b))
        spread = left.shape[len(plan.batch) :]
        left = left.reshape((*left.shape, *(1,) * len(free_b)))
        right = right.reshape((*right.shape[: len(plan.batch)], *(1,) * len(spread), *right.shape[len(plan.batch) :]))
        result = xp.multiply(left, right)
    elif plan.batch and not free_a and not free_b:
        left = _arranged(a, labels_a, (*plan.batch, *plan.contracted))
        right = _arranged(b, labels_b, (*plan.batch, *plan.contracted))
        axes = tuple(range(len(plan.batch), left.ndim))
        result = xp.add.reduce(xp.multiply(left, right), axis=axes, dtype=left.dtype)
    else:
        result = _matmul(xp, a, labels_a, b, labels_b, plan, free_a, free_b)
    return xp.asarray(result) if plan.order is None else xp.ascontiguousarray(result.transpose(plan.order))


def _arranged(x: Any, labels: Labels, wanted: Labels) -> Any:
    return x if labels == wanted else x.transpose([labels.index(label) for label in wanted])


def _matmul(xp: Any, a: Any, labels_a: Labels, b: Any, labels_b: Labels, plan: _Plan, free_a: Labels, free_b: Labels) -> Any:
    lead = len(plan.batch)
    left = _arranged(a, labels_a, (*plan.batch, *free_a, *plan.contracted))
    right = _arranged(b, labels_b, (*plan.batch, *plan.contracted, *free_b))
    if len(free_a) == 1 == len(free_b) and len(plan.contracted) == 1:
        return xp.matmul(left, right)
    rows, columns = left.shape[lead : lead + len(free_a)], right.shape[lead + len(plan.contracted) :]
    inner = math.prod(left.shape[lead + len(free_a) :])
    left = left.reshape((*left.shape[:lead], math.prod(rows), inner))
    right = right.reshape((*right.shape[:lead], inner, math.prod(columns)))
    result = xp.matmul(left, right)
    return result.reshape((*result.shape[:lead], *rows, *columns))


def _inflated(xp: Any, x: Any, unique: Labels, output: Labels) -> Any:
    """The array on the diagonals of repeated labels, zeros beside them."""
    length = dict(zip(unique, x.shape, strict=True))
    result = xp.zeros([length[label] for label in output], x.dtype)
    view, names = result, list(output)
    for label in unique:
        while names.count(label) > 1:
            i = names.index(label)
            j = names.index(label, i + 1)
            view = _diagonal_view(xp, view, i, j)
            names = [n for p, n in enumerate(names) if p not in (i, j)] + [label]
    view[...] = x.transpose([unique.index(label) for label in names])
    return result


def _diagonal_view(xp: Any, x: Any, i: int, j: int) -> Any:
    """A diagonal that can be written to."""
    shape = [n for p, n in enumerate(x.shape) if p not in (i, j)] + [x.shape[i]]
    strides = [s for p, s in enumerate(x.strides) if p not in (i, j)] + [x.strides[i] + x.strides[j]]
    return xp.lib.stride_tricks.as_strided(x, shape, strides)
