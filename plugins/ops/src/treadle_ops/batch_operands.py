"""What batching rules get: an input of an op for many elements at once, and how such inputs are fitted together.

The elements lie along the first axis, the batch axis. ``batching`` runs graphs on operands, and the rules are in the modules ``batching_of_...``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor, host_value
from treadle.symbolic import SymbolicTensor
from treadle_ops.broadcasting import axis_size, broadcast_to_op, shape_of
from treadle_ops.joining import concat_op
from treadle_ops.randomness import stateless_uniform_bits_op
from treadle_ops.shaping import expand_dims_op, reshape_op, transpose_op
from treadle_ops.slicing import strided_slice_op


class NotBatchedError(Exception):
    """A rule needs what it cannot have: a rank that is not known, or one value for all elements where they differ."""


class Operand:
    """One value of a graph, for all elements.

    Attributes:
        tensor: with the batch axis in front, or one that all elements share (a Variable, too).
        is_batched: which of the two.
        count: how many elements there are: an int, or a scalar tensor.
        is_empty: a list of tensors without any, which is so for every element.
    """

    def __init__(self, tensor: Any, is_batched: bool, count: Any, spec: Spec | None = None) -> None:
        self.tensor = tensor
        self.is_batched = is_batched
        self.count = count
        self.is_empty = False
        self._spec = spec

    @property
    def known_rank(self) -> int | None:
        """The rank of one element, or None where it is not known."""
        dims = self.tensor.dims
        if dims is not None:
            return len(dims) - self.is_batched
        return None if self._spec is None or self._spec.dims is None else len(self._spec.dims)

    @property
    def rank(self) -> int:
        """The rank of one element."""
        rank = self.known_rank
        if rank is None:
            raise NotBatchedError
        return rank

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self.tensor.dtype

    def batched(self) -> Any:
        """The tensor with the batch axis in front, repeated if all elements share it."""
        if self.is_batched or self.is_empty:
            return self.tensor
        if self.dtype.kind == "l":
            raise NotBatchedError
        return broadcast_to_op(self.tensor, prefixed(shape_of(self.tensor), self.count))

    def shared(self) -> Any:
        """The tensor or host value that all elements share."""
        if self.is_batched:
            raise NotBatchedError
        return self.tensor

    def shape(self) -> Any:
        """The shape of one element as a host input wants it."""
        whole = shape_of(self.tensor)
        if not self.is_batched:
            return whole
        return whole[1:] if isinstance(whole, tuple) else strided_slice_op(whole, index=((1, None, 1),))

    def of_rank(self, rank: int) -> Any:
        """The tensor such that it broadcasts with elements of a rank: axes of size 1 after the batch axis."""
        tensor = self.tensor
        if self.is_batched:
            for _ in range(rank - self.rank):
                tensor = expand_dims_op(tensor, axis=1)
        return tensor


class Drawn(Operand):
    """The key of a random draw that is another one for every element.

    Attributes:
        key: of one draw, which may be as large as all elements need.
    """

    def __init__(self, key: Any, count: Any) -> None:
        super().__init__(key, True, count)
        self.key = key
        self._keys: Any = None

    def batched(self) -> Any:
        """A key for every element, drawn with the one for all."""
        if self._keys is None:
            self._keys = stateless_uniform_bits_op((self.count, 2), self.key, dtype=self.key.dtype)
        return self._keys


# ---------------------------------------------------------------------- host values


def known_host(value: Any) -> Any:
    """A host input as nested tuples of Python numbers, or the symbolic tensor that it is."""
    return value if isinstance(value, SymbolicTensor) else host_value(value)


def prefixed(value: Any, first: Any) -> Any:
    """A host input with one more entry in front."""
    value = known_host(value)
    if isinstance(value, tuple):
        return (first, *value)
    return concat_op([expand_dims_op(convert_to_tensor(first, value.dtype), axis=0), value], axis=0)


def length_of(value: Any) -> int:
    """The number of entries of a host input that is a vector."""
    value = known_host(value)
    if isinstance(value, tuple):
        return len(value)
    if value.dims is None or not isinstance(value.dims[0], int):
        raise NotBatchedError
    return value.dims[0]


# ---------------------------------------------------------------------- axes


def shifted(axis: Any, rank: Callable[[], int]) -> Any:
    """Axes of one element as axes of all; None is every axis of an element."""
    if axis is None:
        return tuple(range(1, rank() + 1))
    if isinstance(axis, tuple):
        return tuple(shifted(a, rank) for a in axis)
    return axis + 1 if axis >= 0 else axis


def moved(tensor: Any, source: int, target: int) -> Any:
    """A tensor of known rank with one axis at another place."""
    if source == target:
        return tensor
    if tensor.dims is None:
        raise NotBatchedError
    perm = list(range(len(tensor.dims)))
    perm.insert(target, perm.pop(source))
    return transpose_op(tensor, perm=tuple(perm))


def sizes_of(tensor: Any) -> list[Any]:
    """The sizes of a tensor of known rank: ints, and scalar tensors for those that are not known."""
    if tensor.dims is None:
        raise NotBatchedError
    return [size if type(size) is int else axis_size(tensor, axis=i) for i, size in enumerate(tensor.dims)]


def merged(tensor: Any, axis: int = 0) -> Any:
    """A tensor with the axis and the one behind it as one."""
    sizes = sizes_of(tensor)
    return reshape_op(tensor, [*sizes[:axis], sizes[axis] * sizes[axis + 1], *sizes[axis + 2 :]])


def parted(tensor: Any, first: Any, second: Any, axis: int = 0) -> Any:
    """A tensor with an axis as two, of these sizes: what ``merged`` undoes."""
    sizes = sizes_of(tensor)
    return reshape_op(tensor, [*sizes[:axis], first, second, *sizes[axis + 1 :]])


def aligned(operands: Sequence[Any]) -> list[Any]:
    """Tensors that broadcast as those of one element do; lists of operands become lists of tensors."""
    flat = [o for entry in operands for o in (entry if isinstance(entry, list) else (entry,))]
    are_fitting = sum(o.is_batched for o in flat) == 1 and all(o.is_batched or o.known_rank == 0 for o in flat)
    rank = 0 if are_fitting else max((o.rank for o in flat), default=0)

    def fitted(operand: Operand) -> Any:
        return operand.tensor if are_fitting else operand.of_rank(rank)

    return [[fitted(o) for o in entry] if isinstance(entry, list) else fitted(entry) for entry in operands]
