"""What makes two calls of a function the same call: the signature key, and the inputs that go with it.

Tensors count by dtype and shape, Variables by dtype, shape and which of them are the same one, Python values by type and value, other objects by
identity while they live. Containers count by structure, never by identity.
"""

from __future__ import annotations

import enum
import functools
import inspect
import math
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from treadle import nest
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim, with_symbols
from treadle.dtypes import DType
from treadle.errors import DTypeError, InvalidArgumentError
from treadle.functions.argument_aliases import aliases
from treadle.functions.instances import BoundFunction
from treadle.functions.trace_types import TraceType
from treadle.shapes import TensorShape
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec, TypeSpec, outline
from treadle.treedef import flatten_to
from treadle.variable import Variable

_PLAIN = (bool, int, str, bytes, type(None), complex, type, DType, TensorShape, np.dtype, types.BuiltinFunctionType, type(Ellipsis), slice)


_MOST_SHOWN = 200


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


class PythonPart(NamedTuple):
    """A Python value in a key."""

    type: type
    value: Any

    @property
    def python(self) -> Any:
        """The value as it was given; of an object that counts by identity, what stands for it."""
        if self.type is float:
            return self.value[0] if isinstance(self.value, tuple) else math.nan
        return self.value

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
    def is_gone(self) -> bool:
        """True when no call can have this key any more, as an object in it is gone."""
        return any(isinstance(part, PythonPart) and _names_gone(part.value) for part in self.parts)


def _names_gone(value: Any) -> bool:
    if type(value) is tuple:
        return any(_names_gone(entry) for entry in value)
    return isinstance(value, ByIdentity) and value.thing is None


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


class Signature:
    """How a Python function takes its arguments.

    Args:
        function: the Python function.
        input_signature: specs that every call must fit, or None.
        bound: how many leading parameters are bound already (``self``).
        follow_type_hints: convert numbers to tensors for parameters that are annotated ``td.Tensor``.
    """

    def __init__(self, function: Callable[..., Any], input_signature: Any, name: str, bound: int = 0, follow_type_hints: bool = False) -> None:
        self.name = name
        try:
            self.python = inspect.signature(function)
        except (TypeError, ValueError):
            self.python = inspect.Signature(
                [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL), inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)]
            )
        parameters = list(self.python.parameters.values())[bound:]
        self.python = self.python.replace(parameters=parameters)
        self.parameters = parameters
        self._hinted = self._annotated_tensors(function) if follow_type_hints else frozenset()
        self.specs = self._annotated_specs(function) if input_signature is None else self._bind_specs(input_signature)

    def _annotated_specs(self, function: Callable[..., Any]) -> dict[str, Any] | None:
        """The specs that parameters are annotated with, ``def f(x: td.TensorSpec([None], td.float32))``; None if there are none."""
        specs = {}
        for parameter in self.parameters:
            spec = parameter.annotation
            if isinstance(spec, str) and "Spec" in spec:  # no other text is looked at
                spec = _evaluated(spec, function)
            if spec is not parameter.empty and _is_specs(spec) and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                specs[parameter.name] = spec
        return specs or None

    def _annotated_tensors(self, function: Callable[..., Any]) -> frozenset[str]:
        """The parameters that are annotated ``td.Tensor``."""
        found = set()
        for parameter in self.parameters:
            hint = parameter.annotation
            if (_evaluated(hint, function) if isinstance(hint, str) else hint) is Tensor:
                found.add(parameter.name)
        return frozenset(found)

    def _bind_specs(self, given: Any) -> dict[str, Any]:
        if not isinstance(given, list | tuple):
            raise TypeError(f"input_signature must be a list or a tuple of specs, one per argument, not {type(given).__name__}")
        for leaf in nest.flatten(list(given)):
            if not isinstance(leaf, TypeSpec | Variable):
                raise TypeError(f"input_signature must be nested td.TensorSpecs, got {leaf!r}")
            if isinstance(leaf, TypeSpec):
                leaf.outline()  # or it says why it has none
        try:
            bound = self.python.bind_partial(*given)
        except TypeError as error:
            raise ValueError(f"{self.name}: the input_signature has {len(given)} specs for the parameters {self.python}: {error}") from None
        for parameter in self.parameters:
            needed = parameter.default is parameter.empty and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            if parameter.name not in bound.arguments and needed:
                raise ValueError(f"{self.name}: the input_signature says nothing of the parameter {parameter.name!r}, which has no default")
        return dict(bound.arguments)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with defaults filled in, positional ones first.

        Raises:
            TypeError: they do not fit the parameters.
        """
        if self.specs is not None:
            args = self._leave_out_variables(args, kwargs)
        try:
            bound = self.python.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}{self.python}: {error}") from None
        bound.apply_defaults()
        for name in self._hinted:
            value = bound.arguments[name]
            if isinstance(value, bool | int | float | complex):
                bound.arguments[name] = convert_to_tensor(value)
        return bound.args, bound.kwargs

    def _leave_out_variables(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Fill in the Variables that stand in the input signature for themselves."""
        assert self.specs is not None
        names = list(self.specs)
        while len(args) < len(names) and names[len(args)] not in kwargs and _has_variables_only(self.specs[names[len(args)]]):
            args = (*args, self.specs[names[len(args)]])
        return args

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Any) -> Call:
        """Put the arguments of a call into canonical form."""
        bound_args, bound_kwargs = self.bind(args, kwargs)
        if self.specs is not None:
            bound_args, bound_kwargs = self._conform(bound_args, bound_kwargs)
        leaves: list[Any] = []
        structure = flatten_to((bound_args, bound_kwargs), leaves)
        parts: list[Any] = []
        variables: dict[int, int] = {}
        for i, leaf in enumerate(leaves):
            leaves[i], part = _part(leaf, i, variables)
            parts.append(part)
        return Call(Key(structure, tuple(parts), context, aliases((bound_args, bound_kwargs))), leaves)

    # ------------------------------------------------------------------ input signatures

    def _conform(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        assert self.specs is not None
        positional = list(args)
        names = [p.name for p in self.parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        for i, name in enumerate(names[: len(positional)]):
            if name in self.specs:
                positional[i] = self._fit(self.specs[name], positional[i], name)
        star = next((p.name for p in self.parameters if p.kind is p.VAR_POSITIONAL), None)
        if star is not None and star in self.specs:
            rest = positional[len(names) :]
            wanted = self.specs[star]
            if len(rest) != len(wanted):
                raise TypeError(f"{self.name}: the input_signature has {len(wanted)} specs for *{star}, and {len(rest)} arguments were given")
            positional[len(names) :] = [self._fit(s, v, f"{star}[{i}]") for i, (s, v) in enumerate(zip(wanted, rest, strict=True))]
        return tuple(positional), {k: self._fit(self.specs[k], v, k) if k in self.specs else v for k, v in kwargs.items()}

    def _fit(self, spec: Any, value: Any, path: str) -> Any:
        if isinstance(spec, Variable):
            if value is not spec:
                raise TypeError(
                    f"{self.name}: the input_signature has the Variable {spec.name!r} itself for {path}; "
                    "leave the argument out, or give that Variable"
                )
            return value
        if isinstance(spec, TensorSpec):
            return self._fit_tensor(spec, value, path)
        if isinstance(spec, TypeSpec):
            if not spec.is_compatible_with(value):
                raise TypeError(f"{self.name}: {path} must be {spec!r} by the input_signature, got {value!r}")
            wanted, given = outline(spec), outline(value)
            specs, parts = nest.flatten(wanted, expand_composites=True), nest.flatten(given, expand_composites=True)
            if len(specs) != len(parts):
                raise TypeError(f"{self.name}: {path} must be {spec!r} by the input_signature, which has {len(specs)} tensors, got {value!r}")
            fitted = [self._fit_tensor(s, v, path) for s, v in zip(specs, parts, strict=True)]
            return nest.pack_sequence_as(wanted, fitted, expand_composites=True)
        if not nest.is_nested(value):
            raise TypeError(f"{self.name}: {path} must be nested as {spec!r}, got {type(value).__name__}")
        children, items = nest.items(spec), nest.items(value)
        if [step for step, _ in children] != [step for step, _ in items]:
            raise TypeError(f"{self.name}: {path} has the structure {structure_text(value)}, and the input_signature wants {structure_text(spec)}")
        fitted = [self._fit(s, v, nest.format_path((step,), path)) for (step, s), (_, v) in zip(children, items, strict=True)]
        return nest.with_children(spec, fitted)

    def _fit_tensor(self, spec: TensorSpec, value: Any, path: str) -> Any:
        if isinstance(value, Variable):
            value = value.value()
        if not isinstance(value, Tensor):
            if isinstance(value, TensorSpec):
                if not spec.is_compatible_with(value):
                    raise TypeError(f"{self.name}: {path} must be {spec!r}, got {value!r}")
                return spec
            if isinstance(value, np.ndarray | np.generic) and value.dtype != spec.dtype.numpy:
                raise DTypeError(
                    f"{self.name}: {path} must be {spec.dtype.name} by the input_signature, and the NumPy value is {value.dtype.name}; "
                    "use .astype, or td.cast"
                )
            try:
                value = convert_to_tensor(value, spec.dtype)
            except (TypeError, ValueError) as error:
                raise TypeError(f"{self.name}: {path} must be {_spec_text(spec)}, and {value!r} cannot become that: {error}") from None
        if value.dtype is not spec.dtype or not _fits(spec.shape, value.shape):
            raise TypeError(
                f"{self.name}: {path} must be {_spec_text(spec)} by the input_signature, got {_spec_text(TensorSpec(value.shape, value.dtype))}"
            )
        return value


def _has_variables_only(spec: Any) -> bool:
    """True for a Variable that stands for itself, or a nested structure of such."""
    leaves = nest.flatten(spec)
    return bool(leaves) and all(isinstance(leaf, Variable) for leaf in leaves)


def _is_specs(value: Any) -> bool:
    """True for a spec or a nested structure of them."""
    if isinstance(value, str | type) or not (isinstance(value, TypeSpec) or nest.is_nested(value)):
        return False
    leaves = nest.flatten(value)
    return bool(leaves) and all(isinstance(leaf, TypeSpec) for leaf in leaves)


def _evaluated(annotation: str, function: Callable[..., Any]) -> Any:
    """An annotation that was kept as text; the text itself where a name in it is not known there."""
    inner = inspect.unwrap(function)
    inner = getattr(inner, "func", inner)
    known = {**getattr(inner, "__globals__", {}), **(inspect.getclosurevars(inner).nonlocals if isinstance(inner, types.FunctionType) else {})}
    try:
        return eval(annotation, known)  # what Python itself does for an annotation that is not kept as text
    except Exception:
        return annotation


def _fits(wanted: TensorShape, given: TensorShape) -> bool:
    return given.is_subtype_of(wanted) or (wanted.is_compatible_with(given) and not given.is_fully_defined())


def _spec_text(spec: TensorSpec) -> str:
    shape = "?" if spec.shape.rank is None else ", ".join(str(d) for d in spec.shape.as_list())
    return f"{spec.dtype.name}[{shape}]"


def structure_text(structure: Any) -> str:
    """A structure as text, with a dot for each leaf; long ones are cut."""
    text = _structure(structure)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def _structure(structure: Any) -> str:
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return f"{type(structure).__name__}({', '.join(f'{n}={_structure(v)}' for n, v in zip(structure._fields, structure, strict=True))})"
    if isinstance(structure, dict):
        return "{" + ", ".join(f"{k!r}: {_structure(v)}" for k, v in structure.items()) + "}"
    if isinstance(structure, list | tuple):
        inner = ", ".join(_structure(v) for v in structure)
        return f"[{inner}]" if isinstance(structure, list) else f"({inner})"
    return type(structure).__name__ if nest.is_nested(structure) else "."


def _part(leaf: Any, position: int, variables: dict[int, int]) -> tuple[Any, Any]:
    """A leaf as it goes on, and its part of the key."""
    if isinstance(leaf, Tensor):
        return leaf, TensorPart(leaf.dtype, _key_dims(leaf.dims))
    if isinstance(leaf, Variable):
        alias = variables.setdefault(id(leaf), position)
        return leaf, VariablePart(leaf.dtype, leaf.shape, alias, leaf.trainable)
    kind = type(leaf)
    if kind is float:
        return leaf, PythonPart(kind, (leaf, math.copysign(1.0, leaf)) if leaf == leaf else "nan")
    if isinstance(leaf, enum.Enum) or (isinstance(leaf, _PLAIN) and not isinstance(leaf, slice)):
        return leaf, PythonPart(kind, leaf)
    if isinstance(leaf, slice):
        return leaf, PythonPart(kind, (leaf.start, leaf.stop, leaf.step))
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
    """A partial's own argument in a key: a Python value by type and value, anything else by identity."""
    if callable(value):
        return _callable_key(value)
    if isinstance(value, (float, *_PLAIN)):
        return _part(value, 0, {})[1]
    return ByIdentity(value)


def call_part(leaf: Any) -> Any:
    """The part of a key for one leaf by itself."""
    return _part(leaf, 0, {})[1]


def _key_dims(dims: Any) -> Any:
    return None if dims is None else tuple([None if isinstance(d, Dim) else d for d in dims])


def spec_of_part(part: Any) -> Spec:
    """The spec of the placeholder for a part; every None is a size of its own."""
    if isinstance(part, VariablePart):
        shape = part.shape
        return Spec(None if shape.rank is None else with_symbols(shape), part.dtype, resource=True)
    return Spec(with_symbols(part.dims), part.dtype)
