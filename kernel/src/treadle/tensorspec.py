"""The user's description of a tensor: shape, dtype and name, for input signatures and ``eval_shape``."""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.dtypes import DType, as_dtype, float32
from treadle.shapes import TensorShape


class TypeSpec:
    """The base of what describes values: their type, with nothing of their content (TensorFlow's ``tf.TypeSpec``).

    A class of values that are nested structures (``nest.register``) may stand in an input signature if its spec says which values fit it, and what
    they look like.
    """

    __slots__ = ()
    __nest_leaf__ = True

    def is_compatible_with(self, other: Any) -> bool:
        """True if a value, or one of another spec, can be of this spec."""
        raise NotImplementedError

    def outline(self) -> Any:
        """A value of this type, or a structure of values, that has a ``TensorSpec`` wherever another has a tensor.

        Raises:
            TypeError: values of this type are no structures.
        """
        raise TypeError(f"{type(self).__name__} cannot stand for an argument of a traced function; use td.TensorSpec for each of its tensors")


class TensorSpec(TypeSpec):
    """Shape and dtype of a tensor (TensorFlow's ``tf.TensorSpec``).

    Args:
        shape: ``None`` sizes may be anything; ``None`` alone allows any rank.
        dtype: of the elements.
        name: of the input, for messages.
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The spec of another spec."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    def outline(self) -> TensorSpec:
        """Itself."""
        return self

    def is_compatible_with(self, other: Any) -> bool:
        """True if a tensor (or spec) can have this shape and dtype."""
        return hasattr(other, "dtype") and self._dtype is other.dtype and self._shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other: Any) -> bool:
        """True if every tensor of this spec is one of ``other``."""
        return isinstance(other, TensorSpec) and self._dtype is other._dtype and self._shape.is_subtype_of(other._shape)

    def most_specific_common_supertype(self, others: Any) -> TensorSpec | None:
        """The narrowest spec that this and all others are subtypes of, or None if their dtypes differ."""
        others = list(others)
        if any(not isinstance(o, TensorSpec) or o._dtype is not self._dtype for o in others):
            return None
        shape = self._shape.most_specific_common_supertype([o._shape for o in others])
        return TensorSpec(TensorShape(None) if shape is None else shape, self._dtype, self._name)

    def most_specific_compatible_type(self, other: Any) -> TensorSpec:
        """The narrowest spec that both are compatible with.

        Raises:
            ValueError: the dtypes differ.
        """
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"no TensorSpec is compatible with both {self!r} and {other!r}")
        return common

    def _identity(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._name)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __reduce__(self) -> Any:
        return (type(self), (self._shape.as_list() if self._shape.rank is not None else None, self._dtype, self._name))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


def outline(structure: Any) -> Any:
    """A structure with the outlines of the specs in it in their place."""
    if all(isinstance(leaf, TensorSpec) or not isinstance(leaf, TypeSpec) for leaf in nest.flatten(structure)):
        return structure
    return nest.map_structure(_outline, structure)


def _outline(leaf: Any) -> Any:
    return outline(leaf.outline()) if isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec) else leaf
