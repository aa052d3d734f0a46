"""Keys: what of a call's arguments makes it the same call as another one.

Tensors count by dtype and shape, Variables by dtype, shape and which of them are the same one, Python values by type and value, sets by what is in
them, other objects by identity while they live. Containers count by structure, and by which of them are one and the same.
"""

from __future__ import annotations

import enum
import functools
import math
import types
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim, with_symbols
from treadle.dtypes import DType
from treadle.errors import InvalidArgumentError
from treadle.functions.instances import BoundFunction
from treadle.functions.trace_types import TraceType
from treadle.shapes import TensorShape
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
from treadle.treedef import LEAF, flatten_to
from treadle.variable import Variable

_PLAIN = (enum.Enum, bool, int, str, bytes, type(None), type, DType, TensorShape, np.dtype, types.BuiltinFunctionType, type(Ellipsis))
_VALUE_MODULES = frozenset({"decimal", "fractions", "pathlib", "pathlib._local", "datetime", "uuid", "ipaddress", "zoneinfo"})
"""Modules of the standard library whose objects are values: never changed, and equal if they say the same."""


_COLLECTIONS: tuple[Any, ...] = (set, frozenset, bytearray)
"""Collections that are no nested structures: they count by what is in them."""


class ByIdentity:
    """An object as part of a key: equal to itself only, and to nothing once it is gone."""

    __slots__ = ("_hash", "_ref", "_strong")

    def __init__(self, thing: Any) -> None:
        self._hash = id(thing)
        self._strong = None
        try:
            self._ref: Any = weakref.ref(thing)
        except TypeError:
            self._ref = None
            self._strong = thing

    @property
    def thing(self) -> Any:
        """The object, or None if it is gone."""
        return self._strong if self._ref is None else self._ref()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ByIdentity):
            return False
        mine = self.thing
        return mine is not None and mine is other.thing

    def __repr__(self) -> str:
        thing = self.thing
        return "<gone>" if thing is None else f"<{type(thing).__name__}>"


class TensorPart(NamedTuple):
    """A tensor in a key."""

    dtype: DType
    dims: Any

    def __repr__(self) -> str:
        return f"{self.dtype.name}{_dims_text(self.dims)}"


class VariablePart(NamedTuple):
    """A Variable in a key; ``alias`` says which earlier argument is the same one, or its own position."""

    dtype: DType
    shape: Any
    alias: int
    trainable: bool

    def __repr__(self) -> str:
        return f"Variable {self.dtype.name}{self.shape}"


class TypePart(NamedTuple):
    """An object in a key that says itself by what it counts, with the tensors in it."""

    type: TraceType
    tensors: tuple[TensorPart, ...]

    def __repr__(self) -> str:
        return repr(self.type)


class Written:
    """A value in a key that counts by how it is written: ``Decimal("1.0")`` and ``Decimal("1.00")`` differ, and a NaN is like another."""

    __slots__ = ("text", "thing")

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.text = repr(thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class PythonPart(NamedTuple):
    """A Python value in a key."""

    type: type
    value: Any

    @property
    def python(self) -> Any:
        """The value as it was given, or one equal to it; of an object that counts by identity, what stands for it."""
        value = self.value
        if self.type is float:
            return value[0] if isinstance(value, tuple) else math.nan
        if self.type is slice:
            return slice(*(part.python for part in value))
        if isinstance(value, Written):
            return value.thing
        if self.type in _COLLECTIONS and all(isinstance(part, PythonPart) for part in value):
            return self.type(part.python for part in value)
        return value

    def __repr__(self) -> str:
        return repr(self.python)


def _dims_text(dims: Any) -> str:
    return "[?]" if dims is None else "[" + ", ".join("None" if isinstance(d, Dim) or d is None else str(d) for d in dims) + "]"


class Key(NamedTuple):
    """The signature of one call.

    Attributes:
        structure: of the arguments.
        parts: one per leaf.
        context: what else the trace depends on: the device scope.
        aliases: which lists and dicts among the arguments are the same one.
    """

    structure: Any
    parts: tuple[Any, ...]
    context: Any
    aliases: tuple[tuple[int, int], ...] = ()

    @property
    def inputs(self) -> list[TensorPart | VariablePart]:
        """The parts that are inputs of the graph, in order."""
        found: list[TensorPart | VariablePart] = []
        for part in self.parts:
            if isinstance(part, TensorPart | VariablePart):
                found.append(part)
            elif isinstance(part, TypePart):
                found += part.tensors
        return found

    @property
    def is_open(self) -> bool:
        """True if a size in it is not known, so that a trace for it serves others."""
        return any(isinstance(part, TensorPart) and (part.dims is None or None in part.dims) for part in self.parts)

    @property
    def is_gone(self) -> bool:
        """True when no call can have this key any more, as an object in it is gone."""
        return any(reference.thing is None for reference in self.references)

    @property
    def references(self) -> list[ByIdentity]:
        """The objects that count by identity."""
        return [reference for part in self.parts if isinstance(part, PythonPart) for reference in _references(part.value)]


def _references(value: Any) -> Iterator[ByIdentity]:
    if isinstance(value, ByIdentity):
        yield value
    elif isinstance(value, tuple | frozenset):
        for entry in value:
            yield from _references(entry)


class Call(NamedTuple):
    """The arguments of one call in canonical form.

    Attributes:
        key: its signature.
        leaves: tensors, Variables and Python values, in the order of ``key.parts``.
    """

    key: Key
    leaves: list[Any]

    @property
    def inputs(self) -> list[Any]:
        """The leaves that are inputs of the graph."""
        found: list[Any] = []
        for leaf, part in zip(self.leaves, self.key.parts, strict=True):
            if isinstance(part, TensorPart | VariablePart):
                found.append(leaf)
            elif isinstance(part, TypePart) and part.tensors:
                found += tensors_in(part.type, leaf)
        return found


def key_part(leaf: Any, position: int, variables: dict[int, int]) -> tuple[Any, Any]:
    """A leaf as it goes on, and its part of the key."""
    if isinstance(leaf, Tensor):
        return leaf, TensorPart(leaf.dtype, _key_dims(leaf.dims))
    if isinstance(leaf, Variable):
        alias = variables.setdefault(id(leaf), position)
        return leaf, VariablePart(leaf.dtype, leaf.shape, alias, leaf.trainable)
    kind = type(leaf)
    if kind is float:
        return leaf, PythonPart(kind, (leaf, math.copysign(1.0, leaf)) if leaf == leaf else "nan")
    if isinstance(leaf, _PLAIN):
        return leaf, PythonPart(kind, leaf)
    if kind is complex or (kind.__module__ in _VALUE_MODULES and kind.__hash__ is not None):
        return leaf, PythonPart(kind, Written(leaf))
    if kind is slice:
        return leaf, PythonPart(kind, tuple([_end_part(end) for end in (leaf.start, leaf.stop, leaf.step)]))
    if kind in _COLLECTIONS:
        return leaf, PythonPart(kind, (frozenset if kind in (set, frozenset) else tuple)(map(_argument_key, leaf)))
    if isinstance(leaf, np.ndarray | np.generic):
        if leaf.dtype.kind in "OUSMm":
            raise InvalidArgumentError(f"a NumPy array of dtype {leaf.dtype} cannot become an argument of a traced function")
        tensor = convert_to_tensor(leaf)
        return tensor, TensorPart(tensor.dtype, _key_dims(tensor.dims))
    if isinstance(leaf, TensorSpec):
        return leaf, TensorPart(leaf.dtype, None if leaf.shape.rank is None else tuple(leaf.shape.as_list()))
    if isinstance(leaf, types.MethodType | BoundFunction | functools.partial):
        return leaf, PythonPart(kind, _callable_key(leaf))
    protocol = getattr(kind, "__treadle_tensor__", None)
    if protocol is not None:
        tensor = protocol(leaf)
        return tensor, TensorPart(tensor.dtype, _key_dims(tensor.dims))
    if hasattr(kind, "__tf_tracing_type__"):
        return leaf, _type_part(leaf)
    return leaf, PythonPart(kind, ByIdentity(leaf))


def _end_part(end: Any) -> Any:
    """The part of an end or step of a slice.

    Raises:
        TypeError: it is no plain value.
    """
    if end is None or isinstance(end, int | str):
        return call_part(end)
    if isinstance(end, np.integer):
        return call_part(int(end))
    raise TypeError(
        f"a slice with {end!r} ({type(end).__name__}) cannot be an argument of a traced function: its ends are part of the signature, and must be "
        "Python integers or None. Pass the ends as arguments of their own, and make the slice inside"
    )


def _type_part(leaf: Any) -> TypePart:
    """The part of an object with a tracing type of its own.

    Raises:
        TypeError: what it gives is no ``TraceType``, or has tensors that do not fit it.
    """
    given = leaf.__tf_tracing_type__(None)
    if not isinstance(given, TraceType):
        raise TypeError(f"{type(leaf).__name__}.__tf_tracing_type__ gives {given!r}; expected an instance of a td.types.experimental.TraceType")
    specs, tensors = list(given.flatten()), tensors_in(given, leaf)
    if len(specs) != len(tensors) or any(not isinstance(s, TensorSpec) or not s.is_compatible_with(t) for s, t in zip(specs, tensors, strict=True)):
        raise TypeError(f"{given!r} has the tensors {specs!r} by flatten(), and to_tensors gives {tensors!r}; they must agree one by one")
    return TypePart(given, tuple(TensorPart(s.dtype, None if s.shape.rank is None else tuple(s.shape.as_list())) for s in specs))


def tensors_in(trace_type: TraceType, value: Any) -> list[Any]:
    """The tensors in an object with a tracing type of its own."""
    return [convert_to_tensor(t) for t in trace_type.to_tensors(value)]


def _callable_key(thing: Any) -> Any:
    """What makes two callables the same in a key: of methods and partials, which are made anew at every turn, what they are made of."""
    if isinstance(thing, types.MethodType):
        return thing.__func__, ByIdentity(thing.__self__)
    if isinstance(thing, BoundFunction):
        return ByIdentity(thing.function), ByIdentity(thing.__self__)
    if isinstance(thing, functools.partial):
        given = [(name, _argument_key(value)) for name, value in sorted(thing.keywords.items())]
        return _callable_key(thing.func), tuple([_argument_key(value) for value in thing.args]), tuple(given)
    return ByIdentity(thing)


def _argument_key(value: Any) -> Any:
    """What is in a set, or in a partial, in a key: a Python value by type and value, what is nested by what is in it, anything else by identity."""
    if isinstance(value, type):
        return call_part(value)
    if callable(value):
        return _callable_key(value)
    if isinstance(value, Tensor | Variable | np.ndarray):
        return ByIdentity(value)
    leaves: list[Any] = []
    structure = flatten_to(value, leaves)
    if structure is not LEAF:
        return structure, tuple(map(_argument_key, leaves))
    part = call_part(value)
    return part if isinstance(part, PythonPart) else ByIdentity(value)


def call_part(leaf: Any) -> Any:
    """The part of a key for one leaf by itself."""
    return key_part(leaf, 0, {})[1]


def _key_dims(dims: Any) -> Any:
    return None if dims is None else tuple([None if isinstance(d, Dim) else d for d in dims])


def spec_of_part(part: Any) -> Spec:
    """The spec of the placeholder for a part; every None is a size of its own."""
    if isinstance(part, VariablePart):
        shape = part.shape
        return Spec(None if shape.rank is None else with_symbols(shape), part.dtype, resource=True)
    return Spec(with_symbols(part.dims), part.dtype)
