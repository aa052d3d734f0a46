"""Signatures: how a function takes its arguments, and what each call of it comes to.

What makes two calls the same call is in `treadle.functions.keys`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np

from treadle import nest
from treadle.conversion import convert_to_tensor
from treadle.errors import DTypeError
from treadle.functions.argument_aliases import aliases
from treadle.functions.keys import Call, Key, TensorPart, key_part
from treadle.shapes import TensorShape
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec, TypeSpec, outline
from treadle.treedef import flatten_to
from treadle.variable import Variable

_MOST_SHOWN = 200


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

    @property
    def needs_arguments(self) -> bool:
        """Whether there are parameters without a default."""
        rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return any(p.default is p.empty and p.kind not in rest for p in self.parameters)

    def _annotated_specs(self, function: Callable[..., Any]) -> dict[str, Any] | None:
        """The specs that parameters are annotated with, ``def f(x: td.TensorSpec([None], td.float32))``; None if there are none."""
        specs = {}
        for parameter in self.parameters:
            spec = parameter.annotation
            if isinstance(spec, str) and "Spec" in spec:  # no other text is looked at
                spec = _evaluated(spec, function)
            if spec is not parameter.empty and _is_specs(spec):
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    raise ValueError(
                        f"{self.name}: the annotation of {parameter} cannot be a spec, as nothing says how many arguments it takes; "
                        "use input_signature"
                    )
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
            args, kwargs = self.with_variables(args, kwargs)
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

    def with_variables(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Fill in the Variables that stand in the input signature for themselves, wherever the call leaves them out."""
        assert self.specs is not None
        by_position: list[Any] = []
        by_name: dict[str, Any] = {}
        for name, spec in self.specs.items():
            if name in kwargs or by_name:
                by_name[name] = kwargs.get(name, spec)
            else:
                by_position.extend(spec if self.python.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL else (spec,))
        filled, given = [], list(args)
        for spec in by_position:
            if _stands_for_itself(spec) and not (given and (len(args) >= len(by_position) or _is_same(spec, given[0]))):
                filled.append(spec)
            elif given:
                filled.append(given.pop(0))
            else:
                break
        if given:  # too many, or another Variable in the place of one, which is refused
            filled = [*args, *takewhile(_stands_for_itself, by_position[len(args) :])]
        return tuple(filled), {**{k: v for k, v in by_name.items() if _stands_for_itself(v)}, **kwargs}

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
            leaves[i], part = key_part(leaf, i, variables)
            parts.append(part)
        return Call(Key(structure, tuple(parts), context, aliases((bound_args, bound_kwargs))), leaves)

    def names(self, call: Call) -> tuple[list[str], list[str]]:
        """Per leaf, the name of the argument that it is in, and its path from there."""
        args, kwargs = call.key.structure.unflatten(list(range(len(call.leaves))))
        parameters = [p for p in self.parameters if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
        count = sum(p.kind is not p.VAR_POSITIONAL for p in parameters)
        names, paths = [""] * len(call.leaves), [""] * len(call.leaves)
        roots: list[tuple[str, str, Any]] = [(name, name, value) for name, value in kwargs.items()]
        for i, value in enumerate(args):
            name = parameters[min(i, len(parameters) - 1)].name if parameters else "args"
            is_rest = bool(parameters) and i >= len(parameters) - 1 and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
            roots.append((name, f"{name}[{i - count}]" if is_rest else name, value))
        for name, root, value in roots:
            for path, leaf in nest.flatten_with_path(value):
                for position in nest.flatten(leaf, expand_composites=True):
                    names[position], paths[position] = name, nest.format_path(path, root)
        return names, paths

    def structures(self, key: Key) -> dict[str, str]:
        """The arguments of a signature by name, each as text with a dot for every leaf."""
        args, kwargs = key.structure.unflatten(list(range(len(key.parts))))
        found: dict[str, str] = {}
        for name, value in self.python.bind(*args, **kwargs).arguments.items():
            by_name = self.python.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            found.update({k: structure_text(v) for k, v in (value.items() if by_name else ((name, value),))})
        return found

    # ------------------------------------------------------------------ input signatures

    def spec_parts(self, call: Call) -> tuple[Any, ...]:
        """The parts of a call, with those of the input signature where a leaf has a spec there."""
        specs = self.specs
        assert specs is not None
        names = [p.name for p in self.parameters]
        args, kwargs = call.key.structure.unflatten(list(range(len(call.leaves))))
        parts = list(call.key.parts)

        def put(spec: Any, value: Any) -> None:
            positions = nest.flatten(value, expand_composites=True)
            for leaf, position in zip(nest.flatten(outline(spec), expand_composites=True), positions, strict=True):
                if isinstance(leaf, TensorSpec):
                    parts[position] = TensorPart(leaf.dtype, None if leaf.shape.rank is None else tuple(leaf.shape.as_list()))

        star = next((p.name for p in self.parameters if p.kind is p.VAR_POSITIONAL), None)
        for i, value in enumerate(args):
            name = names[i] if i < len(names) and names[i] != star else star
            if name is not None and name in specs:
                put(specs[name] if name != star else specs[star][i - names.index(name)], value)
        for name, value in kwargs.items():
            if name in specs:
                put(specs[name], value)
        return tuple(parts)

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


def _stands_for_itself(spec: Any) -> bool:
    """True for a Variable that stands for itself, or a nested structure of such."""
    leaves = nest.flatten(spec)
    return bool(leaves) and all(isinstance(leaf, Variable) for leaf in leaves)


def _is_same(spec: Any, value: Any) -> bool:
    """True if ``value`` holds the very Variables of ``spec``, in the same structure."""
    if isinstance(spec, Variable):
        return value is spec
    leaves, given = nest.flatten(spec), nest.flatten(value)
    return len(leaves) == len(given) and all(a is b for a, b in zip(leaves, given, strict=True))


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
