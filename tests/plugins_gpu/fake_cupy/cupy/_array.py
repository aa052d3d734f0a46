"""The array: NumPy's memory behind CuPy's manners.

It never turns into a NumPy array by itself, is never a scalar, takes no host array or list as an operand, and has the methods and keywords that
CuPy's has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy import cuda
from cupy._api import API, NotPlayedError
from cupy._indexing import blocks_of, on_host

SUPPORTED = "?bBhHiIlLqQefdFD"
_ATOMIC = {"add": "iILQefd", "sub": "iI", "max": "iILQfd", "min": "iILQfd", "and": "ilIL", "or": "ilIL", "xor": "ilIL"}
"""What ``ufunc.at`` takes, by CuPy's name: no int64 for sums and maxima in version 13."""


def get_dtype(dtype: Any) -> np.dtype[Any]:
    """A dtype that CuPy knows; those of ml_dtypes are none."""
    found = np.dtype(dtype)
    if found.char not in SUPPORTED or found.isbuiltin != 1:
        raise ValueError(f"Unsupported dtype {found}")
    return found


class ndarray:
    """An array on the card that was current when it was made."""

    __slots__ = ("__weakref__", "_block", "_host", "base")
    __array_priority__ = 100
    __hash__ = None

    def __init__(self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C") -> None:
        host = np.empty(shape, get_dtype(dtype), order)
        host.reshape(-1).view(np.uint8)[...] = 0xA5  # what was there before
        self._host, self._block, self.base = host, cuda.alloc(host.nbytes).mem, None

    def __getattr__(self, name: str) -> Any:
        if name in API["classes"]["ndarray"]:
            raise NotPlayedError(f"CuPy has ndarray.{name}, and the stand-in does not play it yet: add it in fake_cupy/cupy/_array.py")
        raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")

    # ------------------------------------------------------------------ what asks nothing of the card

    @property
    def shape(self) -> tuple[int, ...]:
        return self._host.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self._host.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._host.dtype

    @property
    def ndim(self) -> int:
        return self._host.ndim

    @property
    def size(self) -> int:
        return self._host.size

    @property
    def itemsize(self) -> int:
        return self._host.itemsize

    @property
    def nbytes(self) -> int:
        return self._host.nbytes

    @property
    def flags(self) -> Any:
        return self._host.flags

    @property
    def device(self) -> cuda.Device:
        return cuda.Device(self._block.device_id)

    @property
    def data(self) -> Any:
        return cuda.MemoryPointer(self._block, 0)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    @property
    def T(self) -> ndarray:
        return self.transpose()

    def transpose(self, *axes: Any) -> ndarray:
        return view(self, self._host.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        return view(self, self._host.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> ndarray:
        return view(self, self._host.squeeze(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        return view(self, self._host.diagonal(offset, axis1, axis2))

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        if dtype is None:
            return view(self, self._host.view())
        target = get_dtype(dtype)
        if target.itemsize != self.itemsize:
            if not self.ndim:
                raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
            if self.shape[-1] != 1 and self.size and self.strides[-1] != self.itemsize:
                raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
        return view(self, self._host.view(target))

    def reduced_view(self, dtype: Any = None) -> ndarray:
        return self

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        return either(self, self._host.reshape(*shape, order=order))

    def ravel(self, order: str = "C") -> ndarray:
        return either(self, self._host.ravel(order))

    @property
    def real(self) -> ndarray:
        return view(self, self._host.real) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> ndarray:
        return view(self, self._host.imag) if self.dtype.kind == "c" else fresh(np.zeros_like(self._host), self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("cannot set imaginary part of real array")
        view(self, self._host.imag)[...] = value

    # ------------------------------------------------------------------ to the host

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray[Any, Any]:
        stream = stream or cuda.get_current_stream()
        self._block.read(stream, stream.next_ticket())
        if blocking:
            stream.synchronize()
        return np.array(self._host, order=order)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly.")

    def item(self) -> Any:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        return self.get().tobytes(order)

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        return bool(self.get().reshape(-1)[:1].any())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get()[()], spec)

    # ------------------------------------------------------------------ copies and elements

    def astype(self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True) -> ndarray:
        if casting is not None or subok is not None:
            raise TypeError("casting and subok are not supported yet")
        target = get_dtype(dtype)
        if target == self.dtype and not copy:
            return self
        return fresh(converted(self._host, target, order), self)

    def copy(self, order: str = "C") -> ndarray:
        return fresh(self._host.copy(order), self)

    def __copy__(self) -> ndarray:
        return self.copy()

    def flatten(self, order: str = "C") -> ndarray:
        return fresh(self._host.flatten(order), self)

    def fill(self, value: Any) -> None:
        if isinstance(value, ndarray):
            if value.shape:
                raise ValueError("non-scalar cupy.ndarray cannot be used for fill")
            cuda.launch([value._block], [self._block])
            self._host[...] = converted(value._host, self.dtype)
            return
        host = np.asarray(value, dtype=self.dtype)
        if host.shape:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        cuda.launch([], [self._block])
        self._host[...] = host

    def __getitem__(self, index: Any) -> ndarray:
        if _is_basic(index):
            return view(self, self._host[_open_ended(index)])
        result = self._host[on_host(index, self.shape)]
        return fresh(np.array(result, order="C"), self, more=blocks_of(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if _is_basic(index):
            target = view(self, self._host[_open_ended(index)])
            if not isinstance(value, ndarray):
                target.fill(value)
                return
            cuda.launch([value._block], [self._block])
            target._host[...] = converted(_without_leading_ones(value._host), self.dtype)
            return
        value = value if isinstance(value, ndarray) else array(value, self.dtype)
        cuda.launch([value._block, *blocks_of(index)], [self._block])
        self._host[on_host(index, self.shape)] = converted(_without_leading_ones(value._host), self.dtype)

    def take(self, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
        host = indices._host if isinstance(indices, ndarray) else np.asarray(indices, int)
        shape = _taken_shape(self.shape, host.shape, axis)
        if 0 in shape:
            result = np.empty(shape, self.dtype)
        elif not self.size:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        else:
            result = np.asarray(np.take(self._host, host, axis, mode="wrap"))
        return fresh(result, self, more=[indices._block] if isinstance(indices, ndarray) else [], out=out)

    def nonzero(self) -> tuple[ndarray, ...]:
        if not self.ndim:
            raise ValueError("Calling nonzero on 0d arrays is not allowed. Use cp.atleast_1d(scalar).nonzero() instead.")
        return tuple(fresh(found, self) for found in self._host.nonzero())

    def repeat(self, repeats: Any, axis: Any = None) -> ndarray:
        if isinstance(repeats, np.ndarray):
            raise TypeError(f"Unsupported type {type(repeats)}")
        return fresh(self._host.repeat(repeats._host if isinstance(repeats, ndarray) else repeats, axis), self)

    def _scatter(self, ufunc: Any, name: str, index: Any, value: Any) -> None:
        """``ufunc.at`` for the dtypes that atomic operations exist for; those of maxima skip NaN and round float64 to float32."""
        if self.dtype.char not in _ATOMIC[name]:
            raise TypeError(f"cupy.{ufunc.__name__}.at does not support {self.dtype}")
        value = value if isinstance(value, ndarray) else array(value, self.dtype)
        cuda.launch([value._block, *blocks_of(index)], [self._block])
        host, added = self._host, converted(value._host, self.dtype)
        if name in ("max", "min") and self.dtype.kind == "f":
            ufunc = np.fmax if name == "max" else np.fmin
            added = added.astype(np.float32)
        with np.errstate(all="ignore"):
            ufunc.at(host, on_host(index, self.shape), added)

    def scatter_add(self, slices: Any, value: Any) -> None:
        self._scatter(np.add, "add", slices, value)

    def scatter_max(self, slices: Any, value: Any) -> None:
        self._scatter(np.maximum, "max", slices, value)

    def scatter_min(self, slices: Any, value: Any) -> None:
        self._scatter(np.minimum, "min", slices, value)

    # ------------------------------------------------------------------ order

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        self._require_sortable(kind)
        cuda.launch([], [self._block])
        self._host.sort(axis, "stable")

    def argsort(self, axis: Any = -1, kind: Any = None) -> ndarray:
        if kind not in (None, "stable"):
            raise ValueError("kind can only be None or 'stable'")
        return fresh(self._host.argsort(axis, "stable"), self)

    def partition(self, kth: Any, axis: int = -1) -> None:
        self._require_sortable(None)
        cuda.launch([], [self._block])
        self._host.sort(axis, "stable")

    def argpartition(self, kth: Any, axis: int = -1) -> ndarray:
        return self.argsort(axis)

    def _require_sortable(self, kind: Any) -> None:
        if kind not in (None, "stable"):
            raise ValueError("kind can only be None or 'stable'")
        if not self.flags.c_contiguous:
            raise NotImplementedError("Sorting non-contiguous array is not supported.")

    # ------------------------------------------------------------------ reductions

    def _reduced(self, function: Any, out: Any, *args: Any, **kwargs: Any) -> ndarray:
        with np.errstate(all="ignore"):
            return fresh(np.asarray(function(self._host, *args, **kwargs)), self, out=out)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.sum, out, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None) -> ndarray:
        return self._reduced(np.prod, out, axis=axis, dtype=dtype, keepdims=bool(keepdims))

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.max, out, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.min, out, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.any, out, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.all, out, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, out: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.argmax, out, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, out: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.argmin, out, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        return self._reduced(np.mean, out, axis=axis, dtype=dtype, keepdims=keepdims)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> ndarray:
        return self._reduced(np.var, out, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> ndarray:
        return self._reduced(np.std, out, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
        return self._reduced(np.cumsum, out, axis=axis, dtype=dtype)

    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
        return self._reduced(np.cumprod, out, axis=axis, dtype=dtype)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> ndarray:
        import cupy

        return cupy.clip(self, min, max, out)

    def dot(self, b: Any, out: Any = None) -> ndarray:
        return fresh(np.asarray(np.dot(self._host, b._host)), self, b, out=out)

    def round(self, decimals: int = 0, out: Any = None) -> ndarray:
        return self._reduced(np.round, out, decimals)

    def conj(self) -> ndarray:
        return _ufunc("conj")(self)

    conjugate = conj

    # ------------------------------------------------------------------ operators

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        import cupy

        out = kwargs.pop("out", None)
        function = getattr(cupy, ufunc.__name__)
        return (function if method == "__call__" else getattr(function, method))(*inputs, *(out or ()), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        import cupy

        module = cupy
        for part in function.__module__.split(".")[1:]:
            module = getattr(module, part)
        return getattr(module, function.__name__)(*args, **kwargs)

    def __matmul__(self, other: Any) -> Any:
        import cupy

        return cupy.matmul(self, other)


def _is_basic(index: Any) -> bool:
    """Whether an index has integers, slices, None and an ellipsis only: then it is a view."""
    entries = index if isinstance(index, tuple) else (index,)
    return all(e is None or e is Ellipsis or (isinstance(e, slice | int | np.integer) and not isinstance(e, bool)) for e in entries)


def _open_ended(index: Any) -> tuple[Any, ...]:
    entries = index if isinstance(index, tuple) else (index,)
    return entries if any(e is Ellipsis for e in entries) else (*entries, Ellipsis)


def _taken_shape(shape: tuple[int, ...], indices: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    if axis is None or not shape:
        return indices
    axis %= len(shape)
    return (*shape[:axis], *indices, *shape[axis + 1 :])


def _without_leading_ones(host: Any) -> Any:
    while host.ndim and host.shape[0] == 1:
        host = host[0]
    return host


def _ufunc(name: str) -> Any:
    from cupy import _ufuncs

    return getattr(_ufuncs, name)


def _operator(name: str, reflected: bool, in_place: bool) -> Any:
    def binary(self: ndarray, other: Any) -> Any:
        if (
            not isinstance(other, ndarray | bool | int | float | complex | np.generic)
            and hasattr(other, "__array_ufunc__")
            and other.__array_ufunc__ is None
        ):
            return NotImplemented
        function = _ufunc(name)
        return function(self, other, self) if in_place else function(other, self) if reflected else function(self, other)

    return binary


for _name, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
    "lshift": "left_shift", "rshift": "right_shift", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}.items():  # fmt: skip
    setattr(ndarray, f"__{_name}__", _operator(_function, False, False))
    setattr(ndarray, f"__r{_name}__", _operator(_function, True, False))
    setattr(ndarray, f"__i{_name}__", _operator(_function, False, True))
for _name, _function in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items():
    setattr(ndarray, f"__{_name}__", _operator(_function, False, False))
for _name, _function in {"neg": "negative", "abs": "absolute", "invert": "invert", "pos": "positive"}.items():
    setattr(ndarray, f"__{_name}__", lambda self, function=_function: _ufunc(function)(self))


# ---------------------------------------------------------------------- making them


def view(of: ndarray, host: Any) -> ndarray:
    """Another look at the memory of an array."""
    found = object.__new__(ndarray)
    found._host, found._block, found.base = host, of._block, of if of.base is None else of.base
    return found


def either(of: ndarray, host: Any) -> ndarray:
    """A view if NumPy made one, else a new array."""
    return view(of, host) if np.may_share_memory(host, of._host) or not host.size else fresh(host, of)


def fresh(host: Any, *sources: Any, more: Any = (), out: Any = None) -> ndarray:
    """A new array that was computed from others, or ``out`` filled."""
    reads = [s._block for s in sources] + list(more)
    if out is not None:
        if not isinstance(out, ndarray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        if out.shape != host.shape:
            raise ValueError("Out shape is mismatched")
        cuda.launch(reads, [out._block])
        out._host[...] = converted(host, out.dtype)
        return out
    get_dtype(host.dtype)
    if any(host is s._host for s in sources):
        host = host.copy()
    found = object.__new__(ndarray)
    found._host, found._block, found.base = host, cuda.alloc(host.nbytes).mem, None
    cuda.launch(reads, [found._block])
    return found


def array(obj: Any, dtype: Any = None, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0, *, blocking: bool = False) -> ndarray:
    """A new array from another one, from host arrays, lists or numbers; those of another card are copied over."""
    if isinstance(obj, ndarray):
        target = obj.dtype if dtype is None else get_dtype(dtype)
        if obj._block.device_id != cuda.runtime.getDevice():
            stream = cuda.get_current_stream()
            if not stream.follows(*obj._block.written):
                raise cuda.MisuseError("memory of another card is copied before it is written")
            found = fresh(converted(obj._host, target))
            obj._block.touched[stream] = stream.issued
            return found
        if not copy and target == obj.dtype and (order in ("K", "A") or obj.flags.c_contiguous):
            return obj
        return fresh(np.array(converted(obj._host, target), order=order, ndmin=ndmin, copy=True), obj)
    sources: list[ndarray] = []
    host = np.array(_lowered(obj, sources), dtype=None if dtype is None else get_dtype(dtype), order=order, ndmin=ndmin)
    return fresh(host, *sources)


def _lowered(obj: Any, sources: list[ndarray]) -> Any:
    if isinstance(obj, list | tuple):
        return [_lowered(item, sources) for item in obj]
    if isinstance(obj, ndarray):
        sources.append(obj)
        return obj._host
    return obj


def converted(host: Any, dtype: Any, order: str = "K") -> Any:
    """A host array in another dtype; floats that an integer cannot hold become its nearest, as a card does it, and NaN becomes 0."""
    with np.errstate(all="ignore"):
        if host.dtype.kind == "f" and dtype.kind in "iu":
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            wide = host.astype(np.float64)
            fits = (wide >= float(low)) & (wide < float(high) + (1 if dtype.itemsize < 8 else 0))
            exact = np.where(fits, wide, 0).astype(dtype)
            return np.where(fits, exact, np.where(np.isnan(wide), 0, np.where(wide < 0, low, high).astype(dtype))).astype(dtype).reshape(host.shape)
        if host.dtype.kind == "c" and dtype.kind not in "cb":
            host = host.real
        return host.astype(dtype, order=order, copy=False)
