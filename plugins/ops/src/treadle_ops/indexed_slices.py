"""Sparse stand-ins for tensors of which a few rows are given (TensorFlow's ``tf.IndexedSlices``).

The gradient of ``gather`` is one. It stays one up to the source that it is asked for; every op that takes a tensor takes one too, made dense.
"""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.declare import public
from treadle.dtypes import DType, as_dtype, float32, int64
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.tensorspec import TensorSpec, TypeSpec
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.casting import cast
from treadle_ops.division import divide
from treadle_ops.elementwise import add, multiply, negative, subtract
from treadle_ops.joining import concat


@public("IndexedSlices")
class IndexedSlices:
    """Rows of a larger tensor that is 0 elsewhere: ``dense[indices[i]] += values[i]``.

    Args:
        values: ``(n, ...)``, the rows.
        indices: ``(n,)``, integers: where each row is.
        dense_shape: the shape of the larger tensor, or None if it is not known.
    """

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = tensor(values)
        self._indices = tensor(indices)
        self._dense_shape = None if dense_shape is None else tensor(dense_shape)

    @classmethod
    def _of(cls, parts: list[Any]) -> IndexedSlices:
        """Of values, indices and perhaps a dense shape as they are."""
        slices = object.__new__(cls)
        slices._values, slices._indices, slices._dense_shape = (*parts, None) if len(parts) == 2 else parts
        return slices

    @property
    def _parts(self) -> list[Any]:
        return [self._values, self._indices] if self._dense_shape is None else [self._values, self._indices, self._dense_shape]

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """Where each row is."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the larger tensor as a tensor, or None."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the larger tensor, as far as it is known."""
        if self._dense_shape is None:
            return TensorShape(None)
        known = shape_argument(self._dense_shape)
        return TensorShape(known) if type(known) is tuple else TensorShape([None] * (known.shape[0] or 0))

    @property
    def device(self) -> str:
        """Where the rows are."""
        return self._values.device

    @property
    def name(self) -> str:
        """The name of the rows, which symbolic tensors have."""
        return self._values.name

    @property
    def graph(self) -> Any:
        """The graph that the rows belong to while tracing."""
        return self._values.graph

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self.shape

    def __treadle_tensor__(self) -> Any:
        if self._dense_shape is None:
            raise ValueError(f"{self!r} cannot become a tensor: its dense_shape is not known")
        return registry.role("dense_rows")(self._values, self._indices, shape_argument(self._dense_shape))

    def numpy(self) -> Any:
        """The larger tensor as a NumPy array."""
        return self.__treadle_tensor__().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.__treadle_tensor__().__array__(dtype)

    def __neg__(self) -> IndexedSlices:
        return self._with(negative(self._values))

    def __mul__(self, factor: Any) -> Any:
        """Rows for a scalar; a tensor for anything else."""
        other = tensor(factor, self._values)
        return self._with(multiply(self._values, other)) if other.dims == () else multiply(self.__treadle_tensor__(), other)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        """Rows for a scalar; a tensor for anything else."""
        other = tensor(divisor, self._values)
        return self._with(divide(self._values, other)) if other.dims == () else divide(self.__treadle_tensor__(), other)

    def __add__(self, other: Any) -> Any:
        return together(self, other) if isinstance(other, IndexedSlices) else add(self.__treadle_tensor__(), other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self.__treadle_tensor__())

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return subtract(other, self.__treadle_tensor__())

    def _with(self, values: Any) -> IndexedSlices:
        return IndexedSlices._of([values, *self._parts[1:]])

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    __str__ = __repr__


nest.register(IndexedSlices, lambda slices: (slices._parts, None), lambda _, parts: IndexedSlices._of(parts), composite=True)


def together(x: IndexedSlices, y: IndexedSlices) -> IndexedSlices:
    """The sum of two: the rows of both."""
    indices = [x.indices, y.indices]
    if x.indices.dtype is not y.indices.dtype:
        indices = [cast(i, int64) for i in indices]
    shape = y.dense_shape if x.dense_shape is None else x.dense_shape
    return IndexedSlices._of([concat([x.values, y.values], axis=0), concat(indices, axis=0), *([] if shape is None else [shape])])


@public("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """What is known of an ``IndexedSlices`` without its content.

    Args:
        shape: of the larger tensor.
        dtype: of the rows.
        indices_dtype: of the indices.
        dense_shape_dtype: of ``dense_shape``; None if there is none.
        indices_shape: of the indices.
    """

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    value_type = IndexedSlices

    def __init__(
        self, shape: Any = None, dtype: Any = float32, indices_dtype: Any = int64, dense_shape_dtype: Any = None, indices_shape: Any = None
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape)

    @property
    def shape(self) -> TensorShape:
        """The shape of the larger tensor."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        return self._dtype

    def outline(self) -> IndexedSlices:
        """Slices with the specs of their tensors; see ``TypeSpec.outline``."""
        indices = self._indices_shape if self._indices_shape.rank else TensorShape([None])
        values = TensorSpec(indices.concatenate(self._shape[1:]), self._dtype)
        parts = [values, TensorSpec(indices, self._indices_dtype)]
        return IndexedSlices._of(parts if self._dense_shape_dtype is None else [*parts, TensorSpec([self._shape.rank], self._dense_shape_dtype)])

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if an ``IndexedSlices``, or one of another spec, can be of this spec."""
        return (
            isinstance(spec_or_value, IndexedSlices | IndexedSlicesSpec)
            and spec_or_value.dtype is self._dtype
            and self._shape.is_compatible_with(spec_or_value.shape)
        )

    def _identity(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexedSlicesSpec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self._dtype, self._indices_dtype, self._dense_shape_dtype))

    def __repr__(self) -> str:
        return (
            f"IndexedSlicesSpec(shape={self._shape}, dtype={self._dtype!r}, indices_dtype={self._indices_dtype!r}, "
            f"dense_shape_dtype={self._dense_shape_dtype!r}, indices_shape={self._indices_shape})"
        )
