"""Element types of tensors: one interned ``DType`` object each, with TensorFlow's names, properties and numbers.

Two equal dtypes are the same object, so that the hot path compares and hashes them by identity. What a kernel asks
for often is a plain slot, computed once. Strings and Python objects are no element types of treadle.
``bool`` in this module is the dtype; the builtin is ``builtins.bool``.
"""

from __future__ import annotations

import builtins
import threading
from typing import TYPE_CHECKING, Any, final

import ml_dtypes
import numpy as np

from treadle.errors import DTypeError

_BY_ENUM: dict[int, DType] = {}


@final
class DType:
    """The type of the elements of a tensor; ``DType(n)`` is the interned dtype of TensorFlow's number ``n``.

    Attributes:
        name: TensorFlow's name, ``"float32"``.
        numpy: the ``np.dtype`` instance. ``resource`` has none.
        as_numpy_dtype: NumPy's scalar type, ``np.float32``. ``resource`` has none.
        as_datatype_enum: TensorFlow's number.
        kind: ``"f"`` floating (bfloat16 and float8 too, unlike NumPy), ``"i"`` signed, ``"u"`` unsigned,
            ``"b"`` bool, ``"c"`` complex, ``"r"`` resource, ``"l"`` a list of tensors.
        size: bytes of one element.
        element: of a list, the dtype of the tensors in it; else the dtype itself.
        is_integer: signed or unsigned; bool is no integer.
        is_numeric: integer, floating or complex.
        is_differentiable: floating or complex, so that gradients flow.
        base_dtype: the dtype itself: treadle has no reference types.
        real_dtype: that of the real and the imaginary part; the dtype itself unless it is complex.
    """

    __slots__ = (
        "__weakref__",
        "as_datatype_enum",
        "as_numpy_dtype",
        "base_dtype",
        "element",
        "is_bool",
        "is_complex",
        "is_differentiable",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "kind",
        "name",
        "numpy",
        "real_dtype",
        "size",
    )

    name: str
    numpy: np.dtype[Any]
    as_numpy_dtype: type[np.generic]
    as_datatype_enum: int
    kind: str
    size: int
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_unsigned: builtins.bool
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_numeric: builtins.bool
    is_quantized: builtins.bool
    is_numpy_compatible: builtins.bool
    is_differentiable: builtins.bool
    base_dtype: DType
    real_dtype: DType
    element: DType

    def __new__(cls, type_enum: int) -> DType:
        try:
            return _BY_ENUM[type_enum]
        except (KeyError, TypeError):
            raise DTypeError(f"DType: no dtype has the number {type_enum!r}; numbers: {sorted(_BY_ENUM)}") from None

    @property
    def min(self) -> Any:
        """The lowest finite value: a Python int, or a NumPy scalar of this type.

        Raises:
            TypeError: the dtype is bool, complex or resource.
        """
        return self._info("minimum").min

    @property
    def max(self) -> Any:
        """The highest finite value: a Python int, or a NumPy scalar of this type.

        Raises:
            TypeError: the dtype is bool, complex or resource.
        """
        return self._info("maximum").max

    @property
    def limits(self) -> tuple[int, int]:
        """The range of an image's intensities as TensorFlow has it: ``(0, max)``, and ``(0, 1)`` when floating.

        Raises:
            ValueError: the dtype is complex or resource.
        """
        if self.is_integer:
            return 0, int(self.max)
        if self.is_floating or self.is_bool:
            return 0, 1
        raise DTypeError(f"dtype '{self.name}' does not have defined limits")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a value of dtype ``other`` can be used where this dtype is expected: they are the same.

        Args:
            other: anything that ``as_dtype`` accepts.

        Raises:
            TypeError: ``other`` is no dtype.
        """
        return self is as_dtype(other)

    def _info(self, what: str) -> Any:
        if self.is_floating:
            return ml_dtypes.finfo(self.numpy)  # type: ignore[no-untyped-call]  # the library has no types
        if self.is_integer:
            return np.iinfo(self.numpy)
        raise DTypeError(f"dtype '{self.name}' does not have a {what} value; integer and floating dtypes do")

    def __eq__(self, other: object) -> builtins.bool:
        return self is other or (type(other) is not DType and self is _find(other))

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[type[DType], tuple[int]]:
        return DType, (self.as_datatype_enum,)

    if not TYPE_CHECKING:  # reached only by a slot left empty or an unknown name

        def __getattr__(self, name: str) -> Any:
            if name in ("numpy", "as_numpy_dtype"):
                raise AttributeError(f"dtype '{self.name}' has no NumPy type", name=name, obj=self)
            raise AttributeError(f"'DType' object has no attribute '{name}'", name=name, obj=self)


def _intern(enum: int, name: str, kind: str, scalar: type[np.generic] | None, real: DType | None = None) -> DType:
    dtype = object.__new__(DType)
    dtype.name = name
    dtype.as_datatype_enum = enum
    dtype.kind = kind
    dtype.size = 1
    if scalar is not None:
        dtype.as_numpy_dtype = scalar
        dtype.numpy = np.dtype(scalar)
        dtype.size = dtype.numpy.itemsize
    dtype.is_floating = kind == "f"
    dtype.is_integer = kind in "iu"
    dtype.is_unsigned = kind == "u"
    dtype.is_bool = kind == "b"
    dtype.is_complex = kind == "c"
    dtype.is_numeric = kind in "iufc"
    dtype.is_differentiable = kind in "fc"
    dtype.is_quantized = False
    dtype.is_numpy_compatible = scalar is not None
    dtype.base_dtype = dtype
    dtype.element = dtype
    dtype.real_dtype = dtype if real is None else real
    _BY_ENUM[enum] = dtype
    return dtype


float32 = _intern(1, "float32", "f", np.float32)
float64 = double = _intern(2, "float64", "f", np.float64)
int32 = _intern(3, "int32", "i", np.int32)
uint8 = _intern(4, "uint8", "u", np.uint8)
int16 = _intern(5, "int16", "i", np.int16)
int8 = _intern(6, "int8", "i", np.int8)
complex64 = _intern(8, "complex64", "c", np.complex64, float32)
int64 = _intern(9, "int64", "i", np.int64)
bool = _intern(10, "bool", "b", np.bool_)
bfloat16 = _intern(14, "bfloat16", "f", ml_dtypes.bfloat16)
uint16 = _intern(17, "uint16", "u", np.uint16)
complex128 = _intern(18, "complex128", "c", np.complex128, float64)
float16 = half = _intern(19, "float16", "f", np.float16)
resource = _intern(20, "resource", "r", None)
uint32 = _intern(22, "uint32", "u", np.uint32)
uint64 = _intern(23, "uint64", "u", np.uint64)
float8_e5m2 = _intern(24, "float8_e5m2", "f", ml_dtypes.float8_e5m2)
float8_e4m3fn = _intern(25, "float8_e4m3fn", "f", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _intern(26, "float8_e4m3fnuz", "f", ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = _intern(27, "float8_e4m3b11fnuz", "f", ml_dtypes.float8_e4m3b11fnuz)
float8_e5m2fnuz = _intern(28, "float8_e5m2fnuz", "f", ml_dtypes.float8_e5m2fnuz)

FLOATS: tuple[DType, ...] = (
    float16,
    float32,
    float64,
    bfloat16,
    float8_e5m2,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e4m3b11fnuz,
    float8_e5m2fnuz,
)
INTS: tuple[DType, ...] = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
COMPLEX: tuple[DType, ...] = (complex64, complex128)
ALL: tuple[DType, ...] = (*FLOATS, *INTS, *COMPLEX, bool)
"""Every dtype that has a NumPy type: what a tensor may hold."""

from_numpy: dict[np.dtype[Any], DType] = {dtype.numpy: dtype for dtype in ALL}
"""The dtype of each NumPy dtype in native byte order."""

_BY_NAME: dict[str, DType] = {
    **{dtype.name: dtype for dtype in _BY_ENUM.values()},
    "half": float16,
    "float": float32,
    "double": float64,
}
_BY_TYPE: dict[type, DType] = {
    **{dtype.as_numpy_dtype: dtype for dtype in ALL},
    **{t: from_numpy[np.dtype(t)] for t in (np.intc, np.uintc, np.long, np.ulong, np.longlong, np.ulonglong)},
    float: float32,
    int: int64,
    builtins.bool: bool,
    complex: complex128,
}


_LISTS = 1000
"""What is added to the number of a dtype for lists of its tensors."""
_making_lists = threading.Lock()


def list_of(element: DType) -> DType:
    """The dtype of a value that is a list of tensors, made at the first question; gradients flow if they do through its tensors."""
    number = _LISTS + element.as_datatype_enum
    with _making_lists:
        found = _BY_ENUM.get(number)
        if found is None:
            found = _intern(number, f"list_of_{element.name}", "l", None)
            found.element = element
            found.is_differentiable = element.is_differentiable
            _BY_NAME[found.name] = found
    return found


def _find(value: Any) -> DType | None:
    kind = type(value)
    if kind is DType:
        return value  # type: ignore[no-any-return]  # exactly a DType, which mypy does not see from type()
    if kind is str:
        return _BY_NAME.get(value)
    if isinstance(value, type):
        return _BY_TYPE.get(value)
    if isinstance(value, np.dtype):
        return _BY_TYPE.get(value.type)
    if kind is int:
        return _BY_ENUM.get(value)
    if isinstance(value, str):
        return _BY_NAME.get(str(value))
    inner = getattr(value, "dtype", None)  # a tensor, an array, a NumPy scalar
    return _find(inner) if isinstance(inner, (DType, np.dtype)) else None


def as_dtype(type_value: Any) -> DType:
    """The dtype that a value names.

    Args:
        type_value: a DType, its name or number, a NumPy dtype or scalar type, one of Python's ``float`` (float32),
            ``int`` (int64), ``bool`` and ``complex`` (complex128), or anything that has a ``dtype``.

    Returns:
        The interned dtype. Byte order is not part of it.

    Raises:
        DTypeError: the value names no dtype of treadle. It is a ``TypeError`` too.

    Sources:
        TensorFlow 2.21, ``tf.as_dtype``.
    """
    found = _find(type_value)
    if found is None:
        raise DTypeError(_refusal(type_value))
    return found


_NOT_NUMERIC_NAMES = ("string", "str", "object", "variant")
_NOT_NUMERIC_TYPES = (str, bytes, np.character, np.object_, np.datetime64, np.timedelta64)


def _refusal(value: Any) -> str:
    names = ", ".join(dtype.name for dtype in ALL)
    inner = getattr(value, "dtype", value)
    if isinstance(inner, np.dtype):
        not_numeric = inner.kind in "SUOMm"
    elif isinstance(value, type):
        not_numeric = value is object or issubclass(value, _NOT_NUMERIC_TYPES)
    else:
        not_numeric = isinstance(value, str) and value in _NOT_NUMERIC_NAMES
    if not_numeric:
        return f"as_dtype: {value!r} is not numeric, and treadle has no strings, objects or dates; dtypes: {names}"
    return f"as_dtype: cannot convert {value!r} of type {type(value).__name__} to a dtype; dtypes: {names}"
