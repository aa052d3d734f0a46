"""What inference functions share: dtype rules, broadcasting, axes and reductions over specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Dims, Spec
from treadle.dims import Size
from treadle.dtypes import DType
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError

NUMERIC = "fiuc"
REAL = "fiu"
FLOATING = "f"
FLOATING_OR_COMPLEX = "fc"
INTEGER = "iu"
BOOL = "b"
ANY = "fiucb"

_KIND_NAMES = {"f": "floating", "i": "signed integer", "u": "unsigned integer", "c": "complex", "b": "bool"}


def kinds_text(kinds: str) -> str:
    """Kinds of dtypes in words."""
    if kinds == ANY:
        return "any dtype"
    if kinds == NUMERIC:
        return "any numeric dtype"
    return ", ".join(_KIND_NAMES[k] for k in kinds).replace("signed integer, unsigned integer", "integer")


def require_kind(spec: Spec, kinds: str, what: str = "x") -> DType:
    """The dtype of ``spec``, which must be of one of ``kinds``.

    Raises:
        DTypeError: it is not.
    """
    if spec.dtype.kind not in kinds:
        raise DTypeError(f"{what} has dtype {spec.dtype.name}; expected {kinds_text(kinds)}. Use td.cast to convert it.")
    return spec.dtype


def same_dtype(*specs: Spec, kinds: str = ANY) -> DType:
    """The dtype that all specs share.

    Raises:
        DTypeError: they differ, or the dtype is not of one of ``kinds``.
    """
    first = specs[0]
    for other in specs[1:]:
        if other.dtype is not first.dtype:
            raise DTypeError(f"the inputs have the dtypes {first.dtype.name} and {other.dtype.name}; they must be equal. Use td.cast to convert one")
    return require_kind(first, kinds, "the input")


def broadcast(*specs: Spec) -> Dims:
    """The dims that specs broadcast to, by NumPy's rules.

    Raises:
        ShapeError: they do not.
    """
    return sizes.broadcast(*(s.dims for s in specs))


def elementwise(*specs: Spec, kinds: str = ANY, dtype: DType | None = None) -> Spec:
    """The result of an elementwise op on specs of one dtype; ``dtype`` is the result's where it is another one."""
    shared = same_dtype(*specs, kinds=kinds)
    return Spec(broadcast(*specs), shared if dtype is None else dtype)


def alike(*specs: Spec, kinds: str = ANY, what: str = "the inputs") -> Spec:
    """The result of an elementwise op on specs of one dtype and one shape.

    Raises:
        DTypeError: the dtypes differ, or are not of one of ``kinds``.
        ShapeError: the shapes differ.
    """
    return Spec(common_dims(specs, what), same_dtype(*specs, kinds=kinds))


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """A possibly negative axis counted from the front.

    Raises:
        InvalidArgumentError: it is out of range.
    """
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{what} {axis} is out of range for a tensor of rank {rank}; expected {-rank} to {rank - 1}")
    return axis % rank


def normalize_axes(axes: Iterable[int] | int | None, rank: int, what: str = "axis") -> tuple[int, ...]:
    """Axes counted from the front, sorted; None means all.

    Raises:
        InvalidArgumentError: one is out of range or named twice.
    """
    if axes is None:
        return tuple(range(rank))
    found = [normalize_axis(a, rank, what) for a in ((axes,) if isinstance(axes, int) else axes)]
    if len(set(found)) != len(found):
        raise InvalidArgumentError(f"{what} {tuple(axes) if not isinstance(axes, int) else axes} names an axis twice; give each axis once")
    return tuple(sorted(found))


def reduced(x: Spec, axis: tuple[int, ...] | None, keepdims: bool) -> Dims:
    """The dims of ``x`` without the axes reduced (or with size 1 there)."""
    if x.dims is None:
        return () if axis is None and not keepdims else None
    gone = normalize_axes(axis, len(x.dims))
    if keepdims:
        return tuple(1 if i in gone else d for i, d in enumerate(x.dims))
    return tuple(d for i, d in enumerate(x.dims) if i not in gone)


def require_rank(spec: Spec, rank: int, what: str) -> tuple[Size, ...]:
    """The dims of a spec of that rank; symbols of their own where nothing is known.

    Raises:
        ShapeError: the rank is another one.
    """
    if spec.dims is None:
        return tuple(sizes.Dim.symbol() for _ in range(rank))
    if len(spec.dims) != rank:
        raise ShapeError(f"{what} has rank {len(spec.dims)} (shape {spec.shape}); expected rank {rank}")
    return spec.dims


def dims_of_value(shape: Spec) -> Dims:
    """The dims that a shape-valued host input asks for: its value, or as many unknown sizes as it has elements.

    Raises:
        ShapeError: a size is negative.
    """
    if shape.value is not None:
        value = shape.value if isinstance(shape.value, tuple) else (shape.value,)
        for size in value:
            if isinstance(size, tuple):
                raise ShapeError(f"a shape must be a vector of integers, got {list(value)}")
            if isinstance(size, int) and size < 0:
                raise ShapeError(f"the shape {list(value)} has the negative size {size}; sizes are 0 or more")
        return tuple(value)
    if shape.dims is not None and len(shape.dims) == 1 and isinstance(shape.dims[0], int):
        return tuple(sizes.Dim.symbol() for _ in range(shape.dims[0]))
    return None


def length_of(number: Spec, what: str) -> Size:
    """The number that a host input is, or a size of its own where it is not known.

    Raises:
        ShapeError: it is not one number.
        InvalidArgumentError: it is negative.
    """
    require_scalar(number, what)
    if isinstance(number.value, int) and number.value < 0:
        raise InvalidArgumentError(f"{what} must be 0 or more, got {number.value}")
    return sizes.Dim.symbol() if number.value is None else number.value


def require_scalar(number: Spec, what: str) -> None:
    """Refuse a host input that is not one number.

    Raises:
        ShapeError: it has axes.
    """
    if number.dims not in ((), None):
        raise ShapeError(f"{what} must be one number, not of shape {number.shape}")


def common_dims(specs: Sequence[Spec], what: str) -> Dims:
    """The dims that all specs must have alike; the best known of each.

    Raises:
        ShapeError: they differ.
    """
    known: Dims = None
    for spec in specs:
        if spec.dims is None:
            continue
        if known is None:
            known = spec.dims
        elif len(known) != len(spec.dims):
            raise ShapeError(f"{what} have the shapes {Spec(known, spec.dtype).shape} and {spec.shape}; they must be equal")
        else:
            known = tuple(sizes.unify(a, b, f"sizes of {what}") for a, b in zip(known, spec.dims, strict=True))
    return known


def value_arithmetic(function: Callable[[Any, Any], Any], x: Spec, y: Spec) -> Any:
    """The value of an elementwise integer op on two known values of rank 0 or 1, for shape arithmetic; None where it is not known.

    Args:
        function: of two sizes, each an int or symbolic.
        x: the first input.
        y: the second input, of the dtype of the first.
    """
    a, b = x.value, y.value
    if a is None or b is None or x.dtype.kind not in INTEGER:
        return None
    try:
        if not isinstance(a, tuple) and not isinstance(b, tuple):
            return known_value(function(a, b), x.dtype)
        count = max(len(v) if isinstance(v, tuple) else 1 for v in (a, b))
        if any(isinstance(v, tuple) and len(v) not in (1, count) for v in (a, b)):
            return None  # one is empty and the other has one element
        left, right = (v if isinstance(v, tuple) and len(v) == count else (v[0] if isinstance(v, tuple) else v,) * count for v in (a, b))
        return known_value(tuple(function(p, q) for p, q in zip(left, right, strict=True)), x.dtype)
    except (TypeError, ZeroDivisionError):  # nested deeper, or a division by 0, which the kernel refuses
        return None


def known_value(value: Any, dtype: DType) -> Any:
    """A known value, or None where an integer in it does not fit the dtype and so would wrap."""
    for item in value if isinstance(value, tuple) else (value,):
        if isinstance(item, int) and not dtype.min <= item <= dtype.max:
            return None
    return value
