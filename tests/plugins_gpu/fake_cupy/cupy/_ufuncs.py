"""Universal functions with the loops that CuPy has, chosen by its rule; NumPy computes, but where a card's formula is another."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy._api import API
from cupy._array import converted, fresh, get_dtype, ndarray

_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_WEAK = {int: 1, float: 2, complex: 3}


def _remainder(x: Any, y: Any) -> Any:
    """CuPy's formula, which gives NaN for ``5 % inf``."""
    if x.dtype.kind in "iu":
        return np.where(y == 0, x.dtype.type(0), np.remainder(x, np.where(y == 0, y.dtype.type(1), y)))
    return x - np.floor(x / y) * y


def _floor_divide(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return np.where(y == 0, x.dtype.type(0), np.floor_divide(x, np.where(y == 0, y.dtype.type(1), y)))
    return np.floor(x / y)


def _fmod(x: Any, y: Any) -> Any:
    """Integers go through float64, which loses the low bits of large ones."""
    if x.dtype.kind in "iu":
        return converted(np.where(y == 0, 0, np.fmod(x.astype(np.float64), y.astype(np.float64))), x.dtype)
    return np.fmod(x, y)


def _power(x: Any, y: Any) -> Any:
    if x.dtype.kind == "i":
        y = np.where(y < 0, y.dtype.type(0), y)
    return np.power(x, y)


_FORMULAS = {"remainder": _remainder, "mod": _remainder, "floor_divide": _floor_divide, "fmod": _fmod, "power": _power}


class ufunc:
    """A universal function.

    Args:
        path: the key of its record.
        compute: of NumPy arrays of one loop's dtypes.
    """

    def __init__(self, path: str, compute: Any) -> None:
        record = API["ufuncs"][path]
        self.name = self.__name__ = record["name"]
        self.nin, self.nout, self.types = record["nin"], record["nout"], list(record["types"])
        self.nargs = self.nin + self.nout
        self._at = record["at"]
        self._compute = compute
        self._loops = [
            tuple(tuple(np.dtype(c) for c in side) for side in loop.split("->")) for loop in self.types if set(loop) <= set("->?bBhHiIlLqQefdFD")
        ]
        self._chosen: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    def __call__(self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind", **kwargs: Any) -> Any:
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or {self.nargs} (with outputs), but given {len(args)}."
            )
        inputs, outs = args[: self.nin], args[self.nin :]
        if out is not None:
            if outs:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            outs = out if isinstance(out, tuple) else (out,)
        for x in inputs:
            if not isinstance(x, ndarray | bool | int | float | complex | np.generic):
                raise TypeError(f"Unsupported type {type(x)}")
        ins, results = self._loop(inputs, dtype)
        hosts = [
            x._host.astype(t, copy=False) if isinstance(x, ndarray) else np.asarray(x).astype(t) if isinstance(x, np.generic) else np.array(x, t)
            for x, t in zip(inputs, ins, strict=True)
        ]
        with np.errstate(all="ignore"):
            found = self._compute(*hosts)
        found = found if isinstance(found, tuple) else (found,)
        sources = [x for x in inputs if isinstance(x, ndarray)]
        given = [*outs, *[None] * (self.nout - len(outs))]
        arrays = [self._delivered(np.asarray(f), t, o, casting, sources) for f, t, o in zip(found, results, given, strict=True)]
        return arrays[0] if self.nout == 1 else tuple(arrays)

    def _delivered(self, host: Any, dtype: Any, out: Any, casting: str, sources: list[Any]) -> Any:
        host = np.array(converted(host, dtype), order="C", copy=None)  # CuPy's results are C-contiguous
        if out is not None:
            if not isinstance(out, ndarray):
                raise TypeError("Output arguments type must be cupy.ndarray")
            if not np.can_cast(dtype, out.dtype, casting):
                raise TypeError(f"output (typecode {dtype.char!r}) could not be coerced to provided output parameter (typecode {out.dtype.char!r})")
        return fresh(host, *sources, out=out)

    def _loop(self, inputs: Any, dtype: Any) -> Any:
        """The first loop that takes the inputs; Python numbers follow the arrays unless they are of a higher kind."""
        if dtype is not None:
            wanted = get_dtype(dtype)
            for ins, outs in self._loops:
                if all(o == wanted for o in outs):
                    return ins, outs
            raise TypeError(f"Wrong type ({wanted}) of arguments for {self.name}")
        key = tuple([x.dtype if isinstance(x, ndarray | np.generic) else type(x) for x in inputs])
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = self._guess(key)
        return found

    def _guess(self, key: tuple[Any, ...]) -> Any:
        arrays = [_KINDS[t.kind] for t in key if isinstance(t, np.dtype)]
        weak = [_WEAK[t] for t in key if t in _WEAK]
        follow = bool(arrays) and (not weak or max(arrays) >= max(weak))
        for ins, outs in self._loops:
            if all(_fits(given, wanted, follow) for given, wanted in zip(key, ins, strict=True)):
                return ins, outs
        raise TypeError(f"Wrong type ({key}) of arguments for {self.name}")

    # ------------------------------------------------------------------ methods

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """See NumPy."""
        if self._at is None:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        a._scatter(getattr(np, self.name.removeprefix("cupy_")), self._at, indices, b)

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See NumPy."""
        if self.name == "cupy_add":
            return array.sum(axis, dtype, out, keepdims)
        if self.name == "cupy_multiply":
            return array.prod(axis, dtype, out, keepdims)
        raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")

    def accumulate(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """See NumPy."""
        if self.name == "cupy_add":
            return array.cumsum(axis, dtype, out)
        if self.name == "cupy_multiply":
            return array.cumprod(axis, dtype, out)
        raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """See NumPy."""
        if self.name != "cupy_add":
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        return fresh(np.add.reduceat(array._host, indices._host, axis, dtype), array, indices, out=out)

    def outer(self, a: Any, b: Any, **kwargs: Any) -> Any:
        """See NumPy."""
        return self(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)


def _fits(given: Any, wanted: Any, follow: bool) -> bool:
    if isinstance(given, np.dtype):
        return np.can_cast(given, wanted)
    if given is bool:
        return True
    if not follow:
        return np.can_cast(np.dtype(given), wanted)
    return np.result_type(given(0), wanted) == wanted


def made(module: str, compute_of: Any) -> dict[str, ufunc]:
    """The ufuncs that CuPy's module has and that can be computed here."""
    found = {}
    for path in API["ufuncs"]:
        owner, _, name = path.rpartition(".")
        compute = _FORMULAS.get(name) or getattr(compute_of, name, None) if owner == module else None
        if compute is not None:
            found[name] = ufunc(path, compute)
    return found


UFUNCS = made("cupy", np)


def __getattr__(name: str) -> Any:
    try:
        return UFUNCS[name]
    except KeyError:
        raise AttributeError(name) from None
