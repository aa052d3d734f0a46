"""``TensorArraySpec``: what is known of a ``TensorArray`` without its content."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import DType, as_dtype, float32, list_of
from treadle.shapes import TensorShape
from treadle.tensorspec import TensorSpec, TypeSpec
from treadle_ops.tensor_array import TensorArray


@public("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """What is known of a ``TensorArray`` without its content.

    Args:
        element_shape: of each tensor, as far as it is known.
        dtype: of the tensors.
        dynamic_size: whether writing after the last position makes the array larger.
        infer_shape: whether all tensors must have one shape.

    Sources:
        TensorFlow ``tf.TensorArraySpec``.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_infer_shape", "_shape")

    value_type = TensorArray

    def __init__(self, element_shape: Any = None, dtype: Any = float32, dynamic_size: bool = False, infer_shape: bool = True) -> None:
        self._shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = bool(infer_shape)

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """The spec of an array."""
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._form.infer)

    @property
    def element_shape(self) -> TensorShape:
        """The shape of each tensor."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the tensors."""
        return self._dtype

    def is_compatible_with(self, other: Any) -> bool:
        """True if an array, or one of another spec, can be of this spec."""
        spec = TensorArraySpec.from_value(other) if isinstance(other, TensorArray) else other
        if isinstance(other, TensorArray) and not all(self._shape.is_compatible_with(shape) for shape in other.shapes_seen()):
            return False
        return (
            isinstance(spec, TensorArraySpec)
            and spec._dtype is self._dtype
            and spec._dynamic_size == self._dynamic_size
            and self._shape.is_compatible_with(spec._shape)
        )

    def outline(self) -> TensorArray:
        """An array with the spec of its content; see ``TypeSpec.outline``. Its size is not known."""
        flow = TensorSpec((), list_of(self._dtype))
        return TensorArray(self._dtype, dynamic_size=self._dynamic_size, flow=flow, infer_shape=self._infer_shape, element_shape=self._shape)

    def most_specific_compatible_type(self, other: Any) -> TensorArraySpec:
        """The narrowest spec that both are compatible with.

        Raises:
            ValueError: dtypes or kinds of size differ.
        """
        if not isinstance(other, TensorArraySpec) or other._dtype is not self._dtype or other._dynamic_size != self._dynamic_size:
            raise ValueError(f"no TensorArraySpec is compatible with both {self!r} and {other!r}")
        shape = self._shape.most_specific_common_supertype([other._shape])
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, self._infer_shape and other._infer_shape)

    def _identity(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._dynamic_size, self._infer_shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorArraySpec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self._dtype, self._dynamic_size, self._infer_shape))

    def __repr__(self) -> str:
        return (
            f"TensorArraySpec(element_shape={self._shape}, dtype={self._dtype!r}, dynamic_size={self._dynamic_size}, infer_shape={self._infer_shape})"
        )
