"""TensorFlow's `TensorShape`: what a user reads of a tensor's shape, perhaps in part unknown.

Inside, a size may be a symbolic `Dim`; the user sees None for it, and two shapes are equal
when the user sees the same. Arithmetic on sizes and broadcasting are in `treadle.dims`.

Source: TensorFlow 2.16 API, ``tf.TensorShape`` (without ``Dimension`` objects and protos).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn, SupportsIndex, TypeAlias, overload

from treadle.dims import Dim, Size, as_user, known_different
from treadle.errors import ShapeError

_Dims: TypeAlias = tuple[Size | None, ...]


class TensorShape:
    """A shape of known rank with sizes known or None, or a shape of unknown rank.

    Immutable. Compares and hashes as the tuple of its sizes, so ``t.shape == (2, 3)``.

    Args:
        dims: None for an unknown rank; a shape; one size; or an iterable of sizes, each
            an integer not below 0, None, a `Dim` or an object whose ``value`` is one of these.
    Raises:
        ShapeError: a size is negative.
        TypeError: something is no size.
    """

    __slots__ = ("_dims",)

    _dims: _Dims | None

    def __init__(self, dims: object) -> None:
        object.__setattr__(self, "_dims", _convert(dims))

    @classmethod
    def _of(cls, dims: _Dims | None) -> TensorShape:
        """Make a shape of a tuple of int, None and Dim, unchecked."""
        self = object.__new__(cls)
        object.__setattr__(self, "_dims", dims)
        return self

    def _view(self) -> tuple[int | None, ...]:
        """Return what the user sees of a shape of known rank."""
        if self._dims is None:
            raise ShapeError("TensorShape(None): the rank is unknown, so there are no sizes to read")
        return tuple([as_user(dim) for dim in self._dims])

    @property
    def rank(self) -> int | None:
        """The number of axes, or None."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of axes, or None."""
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        """The sizes, or None when the rank is unknown."""
        return None if self._dims is None else list(self._view())

    def as_list(self) -> list[int | None]:
        """Return the sizes.

        Raises:
            ShapeError: the rank is unknown.
        """
        return list(self._view())

    def is_fully_defined(self) -> bool:
        """Return whether the rank and every size are known."""
        return self._dims is not None and None not in self._view()

    def num_elements(self) -> int | None:
        """Return the product of the sizes, or None when one is unknown."""
        if self._dims is None:
            return None
        total = 1
        for dim in self._dims:
            if not isinstance(dim, int):
                return None
            total *= dim
        return total

    def __len__(self) -> int:
        if self._dims is None:
            raise ShapeError("TensorShape(None): the rank is unknown, so there is no length")
        return len(self._dims)

    def __bool__(self) -> bool:
        """Whether the rank is known."""
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._view())

    @overload
    def __getitem__(self, key: SupportsIndex) -> int | None: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | TensorShape | None:
        dims = self._dims
        if not isinstance(key, slice):
            return None if dims is None else as_user(dims[key])
        if dims is not None:
            return TensorShape._of(dims[key])
        start, stop = key.start or 0, key.stop
        if stop is None or start < 0 or stop < 0 or key.step is not None:
            return unknown_shape()
        return unknown_shape(max(stop - start, 0))

    def concatenate(self, other: object) -> TensorShape:
        """Return the axes of this shape followed by those of the other."""
        shape = as_shape(other)
        if self._dims is None or shape._dims is None:
            return unknown_shape()
        return TensorShape._of(self._dims + shape._dims)

    def __add__(self, other: object) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: object) -> TensorShape:
        return as_shape(other).concatenate(self)

    def merge_with(self, other: object) -> TensorShape:
        """Return the shape that combines what both know.

        Raises:
            ShapeError: the shapes are not compatible.
        """
        shape = as_shape(other)
        if self._dims is None:
            return shape
        if shape._dims is None:
            return self
        self.assert_is_compatible_with(shape)
        return TensorShape._of(tuple(map(_more_specific, self._dims, shape._dims)))

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, or one of unknown sizes when the rank is unknown.

        Raises:
            ShapeError: the rank is another.
        """
        self.assert_has_rank(rank)
        return unknown_shape(rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape.

        Raises:
            ShapeError: the rank is known and lower.
        """
        if self._dims is not None and len(self._dims) < rank:
            raise ShapeError(f"shape {self} has rank {self.rank}; it must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape.

        Raises:
            ShapeError: the rank is known and higher.
        """
        if self._dims is not None and len(self._dims) > rank:
            raise ShapeError(f"shape {self} has rank {self.rank}; it must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int | None) -> None:
        """Raise ShapeError if the rank is known and another."""
        if self.rank is not None and rank is not None and self.rank != rank:
            raise ShapeError(f"shape {self} has rank {self.rank}; it must have rank {rank}")

    def assert_same_rank(self, other: object) -> None:
        """Raise ShapeError if both ranks are known and differ."""
        shape = as_shape(other)
        if self.rank is not None and shape.rank is not None and self.rank != shape.rank:
            raise ShapeError(f"shapes {self} and {shape} have ranks {self.rank} and {shape.rank}; they must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """Raise ShapeError if the rank or a size is unknown."""
        if not self.is_fully_defined():
            raise ShapeError(f"shape {self} is not fully defined; every size must be known")

    def is_compatible_with(self, other: object) -> bool:
        """Return whether some fully known shape fits both."""
        shape = as_shape(other)
        if self._dims is None or shape._dims is None:
            return True
        return len(self._dims) == len(shape._dims) and all(
            a is None or b is None or not known_different(a, b) for a, b in zip(self._dims, shape._dims, strict=True)
        )

    def assert_is_compatible_with(self, other: object) -> None:
        """Raise ShapeError if no fully known shape fits both."""
        shape = as_shape(other)
        if not self.is_compatible_with(shape):
            raise ShapeError(f"shapes {self} and {shape} are incompatible")

    def most_specific_compatible_shape(self, other: object) -> TensorShape:
        """Return the narrowest shape that both this and the other fit."""
        common = self.most_specific_common_supertype([as_shape(other)])
        assert common is not None
        return common

    def is_subtype_of(self, other: object) -> bool:
        """Return whether whatever fits this shape fits the other."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        return self.rank == other.rank and all(wide is None or wide == narrow for narrow, wide in zip(self, other, strict=True))

    def most_specific_common_supertype(self, others: Sequence[object]) -> TensorShape | None:
        """Return the narrowest shape that all fit; None if one of the others is no shape."""
        dims = self._dims
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            if dims is None or other._dims is None or len(dims) != len(other._dims):
                dims = None
            else:
                pairs = zip(dims, other._dims, strict=True)
                dims = tuple([a if a == b else None for a, b in pairs])
        return TensorShape._of(dims)

    def __eq__(self, other: object) -> bool:
        if self._dims == other:
            return True
        try:
            shape = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._dims is None or shape._dims is None:
            return self._dims is shape._dims
        return self._dims == shape._dims or self._view() == shape._view()

    def __hash__(self) -> int:
        return hash(None if self._dims is None else self._view())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"TensorShape is immutable; cannot set {name!r}")

    def __copy__(self) -> TensorShape:
        return self

    def __deepcopy__(self, memo: object) -> TensorShape:
        return self

    def __reduce__(self) -> tuple[type[TensorShape], tuple[list[int | None] | None]]:
        return TensorShape, (self.dims,)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._view())


def as_shape(value: object) -> TensorShape:
    """Return the value as a `TensorShape`, itself if it is one."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """Return a shape of unknown sizes, and of unknown rank unless it is given."""
    return TensorShape._of(None if rank is None else (None,) * rank)


def _convert(value: object) -> _Dims | None:
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._dims
    if isinstance(value, (tuple, list)):
        return tuple([_convert_size(size) for size in value])
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        try:
            sizes = list(value)
        except TypeError:  # a scalar tensor or array: iterable by type only
            sizes = [value]
        return tuple([_convert_size(size) for size in sizes])
    return (_convert_size(value),)


def _convert_size(value: object) -> Size | None:
    if value is None or isinstance(value, Dim):
        return value
    try:
        size = operator.index(value)  # type: ignore[arg-type]  # what has no index raises, below
    except TypeError as exc:
        inner = getattr(value, "value", value)
        if inner is None or isinstance(inner, (int, Dim)):
            return _convert_size(inner)
        raise TypeError(f"shape: {value!r} of type {type(value).__name__} is no size; expected an integer, None or an object with __index__") from exc
    if size < 0:
        raise ShapeError(f"shape: size {size} is negative; use None for an unknown size")
    return size


def _more_specific(a: Size | None, b: Size | None) -> Size | None:
    if isinstance(a, int) or b is None:
        return a
    return b if isinstance(b, int) or a is None else a
