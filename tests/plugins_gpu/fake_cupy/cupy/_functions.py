"""CuPy's functions: those that are not what NumPy's are one by one, the others through NumPy with CuPy's parameters only."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cupy._api import only_known, words
from cupy._array import array, converted, either, fresh, get_dtype, ndarray, view
from cupy._ufuncs import ufunc

Scalar = bool | int | float | complex | np.generic


def require_array(x: Any, what: str = "a") -> ndarray:
    """Refuse what is no array of a card."""
    if not isinstance(x, ndarray):
        raise TypeError(f"Argument {what!r} has incorrect type (expected cupy.ndarray, got {type(x)})")
    return x


# ---------------------------------------------------------------------- making arrays


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    return array(a, dtype, False, order or "K")


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    return array(a, dtype, False, order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """Rank 0 stays rank 0, unlike NumPy's."""
    target = require_array(a).dtype if dtype is None else get_dtype(dtype)
    if target == a.dtype and a.flags.c_contiguous:
        return a
    return fresh(np.array(converted(a._host, target), order="C"), a)


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray[Any, Any]:
    return a.get(stream, order, out, blocking) if isinstance(a, ndarray) else np.asarray(a)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return bool(np.may_share_memory(require_array(a)._host, require_array(b, "b")._host))


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    return ndarray(_numbers(shape), dtype, order=order)


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    return fresh(np.zeros(_numbers(shape), get_dtype(dtype)))


def ones(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    return fresh(np.ones(_numbers(shape), get_dtype(dtype)))


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    result = empty(shape, dtype if dtype is not None else fill_value.dtype if hasattr(fill_value, "dtype") else np.array(fill_value).dtype)
    result.fill(fill_value)
    return result


def _numbers(shape: Any) -> Any:
    for size in shape if isinstance(shape, list | tuple) else (shape,):
        if isinstance(size, ndarray):
            raise TypeError("an array of a card is no size")
    return shape


def empty_like(prototype: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return ndarray(require_array(prototype).shape if shape is None else shape, dtype or prototype.dtype)


def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return zeros(require_array(a).shape if shape is None else shape, dtype or a.dtype)


def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return ones(require_array(a).shape if shape is None else shape, dtype or a.dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return full(require_array(a).shape if shape is None else shape, fill_value, dtype or a.dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    for bound in (start, stop, step):
        if isinstance(bound, ndarray | np.ndarray):
            raise TypeError(f"Unsupported type {type(bound)}")
    return fresh(np.arange(*((start,) if stop is None else (start, stop, step)), dtype=None if dtype is None else get_dtype(dtype)))


def eye(N: int, M: Any = None, k: int = 0, dtype: Any = float, order: str = "C") -> ndarray:
    return fresh(np.eye(N, M, k, get_dtype(dtype)))


def identity(n: int, dtype: Any = float) -> ndarray:
    return eye(n, dtype=dtype)


def tri(N: int, M: Any = None, k: int = 0, dtype: Any = float) -> ndarray:
    return fresh(np.tri(N, M, k, get_dtype(dtype)))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0) -> Any:
    sources = [x for x in (start, stop) if isinstance(x, ndarray)]
    return fresh(np.linspace(*[x._host if isinstance(x, ndarray) else x for x in (start, stop)], num, endpoint, retstep, dtype, axis), *sources)


# ---------------------------------------------------------------------- putting together


def concatenate(tup: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    return _joined(np.concatenate, tup, axis, out)


def stack(tup: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    return _joined(np.stack, tup, axis, out)


def _joined(function: Any, tup: Any, axis: Any, out: Any) -> ndarray:
    tup = list(tup)
    for x in tup:
        if not isinstance(x, ndarray):
            raise TypeError(f"Only cupy arrays can be concatenated, not {type(x)}")
    return fresh(function([x._host for x in tup], axis), *tup, out=out)


class broadcast:
    """Arrays broadcast together."""

    def __init__(self, *arrays: Any) -> None:
        for x in arrays:
            if not isinstance(x, ndarray | Scalar):
                raise TypeError(f"Unsupported type {type(x)}")
        shapes = [x.shape for x in arrays if isinstance(x, ndarray)]
        self.shape = np.broadcast_shapes(*shapes)
        self.nd, self.size = len(self.shape), int(np.prod(self.shape, dtype=int))
        self.values = [broadcast_to(x, self.shape) if isinstance(x, ndarray) else x for x in arrays]


def broadcast_to(array: Any, shape: Any) -> ndarray:
    return view(require_array(array, "array"), np.broadcast_to(array._host, shape))


def broadcast_arrays(*args: Any) -> list[Any]:
    return broadcast(*args).values


# ---------------------------------------------------------------------- the rest that differs

_WHERE = ufunc.__new__(ufunc)
_WHERE.name = _WHERE.__name__ = "cupy_where"
_WHERE.nin, _WHERE.nout, _WHERE.nargs, _WHERE.types, _WHERE._at, _WHERE._chosen = 3, 1, 4, [], None, {}
_WHERE._loops = [((np.dtype("?"), np.dtype(c), np.dtype(c)), (np.dtype(c),)) for c in "?bBhHiIlLqQefdFD"]
_WHERE._compute = np.where


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return condition.nonzero()
    return _WHERE(condition.astype("?"), x, y)


def matmul(x1: Any, x2: Any, out: Any = None) -> ndarray:
    require_array(x1, "x1")
    require_array(x2, "x2")
    with np.errstate(all="ignore"):
        return fresh(np.asarray(np.matmul(x1._host, x2._host)), x1, x2, out=out)


def einsum(*operands: Any, **kwargs: Any) -> ndarray:
    unknown = set(kwargs) - {"dtype", "optimize"}
    if unknown:
        raise TypeError(f"einsum() got unexpected keyword arguments {unknown}")
    arrays = [x for x in operands if isinstance(x, ndarray)]
    if any(isinstance(x, np.ndarray) for x in operands):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return fresh(np.array(np.einsum(*[x._host if isinstance(x, ndarray) else x for x in operands], **kwargs), order="C"), *arrays)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
    return require_array(a).take(indices, axis, out)


def sort(a: Any, axis: Any = -1, kind: Any = None) -> ndarray:
    result = require_array(a).flatten() if axis is None else a.copy()
    result.sort(-1 if axis is None else axis, kind)
    return result


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> ndarray:
    return require_array(a).argsort(axis, kind)


def partition(a: Any, kth: Any, axis: Any = -1) -> ndarray:
    result = require_array(a).flatten() if axis is None else a.copy()
    result.partition(kth, -1 if axis is None else axis)
    return result


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    if not isinstance(a, ndarray) or not isinstance(v, ndarray | int | float | complex):
        raise NotImplementedError("Only python scalars or ndarrays are supported for v")
    return fresh(np.asarray(np.searchsorted(a._host, v._host if isinstance(v, ndarray) else v, side)), a)


def repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    return require_array(a).repeat(repeats, axis)


def count_nonzero(a: Any, axis: Any = None) -> ndarray:
    return fresh(np.asarray(np.count_nonzero(require_array(a)._host, axis)), a)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> ndarray:
    """Bounds are scalars or arrays of a card; Python numbers take the dtype of ``a``."""
    sources = [x for x in (a, a_min, a_max) if isinstance(x, ndarray)]
    for x in (a_min, a_max):
        if isinstance(x, np.ndarray | list | tuple):
            raise TypeError(f"Unsupported type {type(x)}")
    low, high = (x._host if isinstance(x, ndarray) else x for x in (a_min, a_max))
    return fresh(np.asarray(np.clip(require_array(a)._host, low, high)), *sources, out=out)


def shape(a: Any) -> tuple[int, ...]:
    return require_array(a).shape


def ndim(a: Any) -> int:
    return require_array(a).ndim


def size(a: Any, axis: Any = None) -> int:
    return require_array(a).size if axis is None else a.shape[axis]


def get_array_module(*args: Any) -> Any:
    import cupy

    return cupy if any(isinstance(a, ndarray) for a in args) else np


def result_type(*args: Any) -> Any:
    return np.result_type(*[a.dtype if isinstance(a, ndarray) else a for a in args])


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    if where is not None:
        dst[...] = globals()["where"](where, src, dst)
    else:
        dst[...] = src


# ---------------------------------------------------------------------- what NumPy's function of the name does

ALIKE = words(
    "all allclose amax amin angle any append argmax argmin argwhere around array_equal array_split atleast_1d atleast_2d atleast_3d "
    "average bincount column_stack convolve corrcoef correlate cov cross cumprod cumsum diag diagflat diagonal diff digitize dot "
    "dsplit dstack ediff1d expand_dims extract fill_diagonal flatnonzero flip fliplr flipud gradient histogram hsplit hstack imag in1d "
    "inner interp intersect1d isclose isin isreal iscomplex kron lexsort logspace max mean median meshgrid min moveaxis nan_to_num "
    "nanargmax nanargmin nanmax nanmean nanmin nanprod nanstd nansum nanvar nonzero outer packbits pad percentile prod ptp quantile "
    "ravel ravel_multi_index real reshape roll rollaxis rot90 round select setdiff1d split squeeze std sum swapaxes take_along_axis "
    "tensordot tile trace transpose trapz tril tril_indices triu triu_indices union1d unique unpackbits unravel_index unwrap vander "
    "var vdot vsplit vstack copy nancumsum nancumprod nanmedian diag_indices indices hamming hanning blackman bartlett kaiser"
)
_FROM_NUMBERS = {"indices", "tril_indices", "triu_indices", "diag_indices", "logspace", "hamming", "hanning", "blackman", "bartlett", "kaiser"}


def lower(value: Any, sources: list[ndarray]) -> Any:
    """Arguments with the arrays of the card as NumPy's; host arrays are refused."""
    if isinstance(value, ndarray):
        sources.append(value)
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple):
        return type(value)([lower(v, sources) for v in value])
    return value


def lift(result: Any, sources: list[ndarray]) -> Any:
    """NumPy's results as arrays: views of the arguments, or new ones."""
    if isinstance(result, list | tuple):
        return type(result)(*[lift(r, sources) for r in result]) if hasattr(result, "_fields") else type(result)([lift(r, sources) for r in result])
    if isinstance(result, np.ndarray):
        for source in sources:
            if result.size and np.may_share_memory(result, source._host):
                return either(source, result)
        return fresh(result, *sources)
    return fresh(np.asarray(result), *sources) if isinstance(result, np.generic | bool | int | float | complex) else result


def alike(path: str, function: Callable[..., Any], from_numbers: bool = False) -> Callable[..., Any]:
    """CuPy's function of a path as NumPy's: with arrays of the card, and the keywords that CuPy has."""

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        only_known(path, kwargs if out is None else {**kwargs, "out": out})
        sources: list[ndarray] = []
        given, named = lower(list(args), sources), lower_values(kwargs, sources)
        if not sources and not from_numbers:
            raise TypeError(f"{path}: 'a' must be a cupy.ndarray object, not {type(args[0]) if args else None}")
        with np.errstate(all="ignore"):
            result = function(*given, **named)
        if out is not None:
            return fresh(np.asarray(result), *sources, out=out)
        return lift(result, sources)

    return call


def lower_values(kwargs: dict[str, Any], sources: list[ndarray]) -> dict[str, Any]:
    """Keyword arguments lowered."""
    return {name: lower(value, sources) for name, value in kwargs.items()}


def made(names: Iterable[str], module: str, of: Any) -> dict[str, Callable[..., Any]]:
    """Functions by name."""
    return {name: alike(f"{module}.{name}", getattr(of, name), name in _FROM_NUMBERS) for name in names if hasattr(of, name)}


FUNCTIONS = made(ALIKE, "cupy", np)
