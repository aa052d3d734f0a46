"""What is known of a value before it exists: its dims, its dtype and, for shape-like values, its content.

``Spec`` is the currency of inference. The user's ``TensorSpec`` is another thing: it has None where this has a symbolic size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treadle.dims import Dim, Size
from treadle.dtypes import DType
from treadle.shapes import TensorShape

Dims = tuple[Size, ...] | None


class Spec:
    """Dims (None: unknown rank; each an int or a symbolic ``Dim``), dtype, and the value when it is known.

    Args:
        dims: sizes of the axes, or None when not even their number is known.
        dtype: of the elements.
        value: nested tuples of ints and ``Dim`` (a bare one at rank 0) for an integer value that is known while tracing.
        resource: True for the handle of a Variable that holds such a value.
    """

    __slots__ = ("dims", "dtype", "resource", "value")

    def __init__(self, dims: Dims, dtype: DType, value: Any = None, resource: bool = False) -> None:
        self.dims = dims
        self.dtype = dtype
        self.value = value
        self.resource = resource

    @property
    def rank(self) -> int | None:
        """The number of axes, or None."""
        return None if self.dims is None else len(self.dims)

    @property
    def is_static(self) -> bool:
        """True when every size is a known int."""
        return self.dims is not None and all(type(d) is int for d in self.dims)

    @property
    def shape(self) -> TensorShape:
        """The shape as the user sees it."""
        return TensorShape(self.dims)

    @property
    def size(self) -> Size | None:
        """The number of elements, symbolic where it depends on unknown sizes; None for an unknown rank."""
        if self.dims is None:
            return None
        count: Size = 1
        for dim in self.dims:
            count = count * dim
        return count

    @property
    def nbytes(self) -> float:
        """Bytes of the value; infinity when its size is not known, as that of a list of tensors."""
        size = self.size
        return size * self.dtype.size if isinstance(size, int) and self.dtype.kind != "l" else float("inf")

    def without_value(self) -> Spec:
        """The same dims and dtype, forgetting the content."""
        return self if self.value is None else Spec(self.dims, self.dtype, None, self.resource)

    def substitute(self, sizes: Mapping[Dim, Size]) -> Spec:
        """The same with symbols replaced by sizes, in dims and value."""
        dims = None if self.dims is None else tuple(_substituted(d, sizes) for d in self.dims)
        value = None if self.value is None else _substituted(self.value, sizes)
        return self if dims == self.dims and value == self.value else Spec(dims, self.dtype, value, self.resource)

    def _identity(self) -> tuple[Any, ...]:
        return (self.dims, self.dtype, self.value, self.resource)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.dims, self.dtype, self.resource))

    def __repr__(self) -> str:
        dims = "?" if self.dims is None else ", ".join(str(d) for d in self.dims)
        value = "" if self.value is None else f" = {render_value(self.value)}"
        return f"{self.dtype.name}{'&' if self.resource else ''}[{dims}]{value}"


def _substituted(value: Any, sizes: Mapping[Dim, Size]) -> Any:
    if isinstance(value, tuple):
        return tuple(_substituted(v, sizes) for v in value)
    if isinstance(value, Dim):
        return value.substitute({s: sizes[s] for s in value.symbols() if s in sizes})
    return value


def render_value(value: Any) -> str:
    """A known value as text, symbols by their names."""
    if isinstance(value, tuple):
        return "[" + ", ".join(render_value(v) for v in value) + "]"
    return str(value)


def is_concrete(value: Any) -> bool:
    """True when a known value has no symbol in it."""
    if isinstance(value, tuple):
        return all(is_concrete(v) for v in value)
    return value is not None and not isinstance(value, Dim)
