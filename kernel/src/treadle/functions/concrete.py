"""A concrete function: one trace of a Python function for one signature, with the structure of its arguments and results."""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.conversion import convert_to_tensor
from treadle.errors import DTypeError, ShapeError
from treadle.functions.atomic import AtomicFunction
from treadle.functions.keys import Key, TensorPart, TypePart, VariablePart, call_part, tensors_in
from treadle.functions.signature import Signature, structure_text
from treadle.functions.trace_types import FunctionType
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Graph
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
from treadle.tracebacks import show_users_lines
from treadle.variable import Variable


class Static:
    """A result that is no tensor: it is given back as it was while tracing."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class ConcreteFunction:
    """One trace, callable with tensors that fit its signature.

    Attributes:
        atomic: the graph as a function of tensors.
        key: the signature that it was traced for.
        names: of the inputs, for keywords and messages.
        last_used: when a call found it last, in the order of such events.
    """

    last_used = 0

    def __init__(
        self,
        atomic: AtomicFunction,
        key: Key,
        names: list[str],
        structure: Any,
        results: list[Any],
        paths: list[str],
        signature: Signature,
    ) -> None:
        self.atomic = atomic
        self._signature = signature
        self.key = key
        self.names = names
        self._paths = paths
        self._structure = structure
        self._results = results
        self._is_single = not structure and len(results) == 1 and not isinstance(results[0], Static)

    # ------------------------------------------------------------------ description

    @property
    def name(self) -> str:
        """The function's name."""
        return self.atomic.name

    @property
    def graph(self) -> FuncGraph:
        """The graph as traced."""
        return self.atomic.graph

    @property
    def optimized_graph(self) -> Graph:
        """The graph that the default device runs: calls inlined, and rewritten by the passes."""
        return self.atomic.executable().item.graph

    @property
    def inputs(self) -> list[Any]:
        """The graph's placeholders, captures last."""
        return list(self.atomic.graph.inputs)

    @property
    def outputs(self) -> list[Any]:
        """The graph's results."""
        return list(self.atomic.graph.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """What comes from outside: Variables and tensors."""
        return [*(thing for thing, _ in self.atomic.captures), *(thing for thing, _ in self.graph.captured_constants)]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The Variables that the graph uses."""
        return tuple(self.atomic.variables)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are trainable."""
        return tuple(v for v in self.atomic.variables if v.trainable)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments' specs, as ``(args, kwargs)``."""
        names = iter(self.names)
        leaves: list[Any] = []
        for part in self.key.parts:
            if isinstance(part, TensorPart):
                leaves.append(TensorSpec(part.dims, part.dtype, next(names)))
            elif isinstance(part, VariablePart):
                next(names)
                leaves.append(part)
            elif isinstance(part, TypePart):
                for _ in part.tensors:
                    next(names)
                leaves.append(part.type)
            else:
                leaves.append(part.python)
        result: tuple[tuple[Any, ...], dict[str, Any]] = self.key.structure.unflatten(leaves)
        return result

    @property
    def function_type(self) -> FunctionType:
        """The inputs by name with their specs, and the specs of the results."""
        annotations = [
            TensorSpec(p.dims if isinstance(p, TensorPart) else p.shape, p.dtype, n) for n, p in zip(self.names, self.key.inputs, strict=True)
        ]
        parameters = [FunctionType.parameter(name, spec) for name, spec in zip(self.names, annotations, strict=True)]
        return FunctionType(parameters, return_annotation=self.structured_outputs)

    @property
    def structured_outputs(self) -> Any:
        """The results' specs, structured as the function gives them."""
        specs = iter([TensorSpec(v.spec.shape, v.spec.dtype) for v in self.graph.outputs])
        return self._structure.unflatten([r.value if isinstance(r, Static) else next(specs) for r in self._results])

    @property
    def output_shapes(self) -> Any:
        """The results' shapes."""
        return nest.map_structure(lambda s: s.shape if isinstance(s, TensorSpec) else None, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The results' dtypes."""
        return nest.map_structure(lambda s: s.dtype if isinstance(s, TensorSpec) else None, self.structured_outputs)

    # ------------------------------------------------------------------ calling

    def call(self, inputs: list[Any]) -> Any:
        """Run on tensors and Variables in the order of the signature's parts."""
        return self.arrange(self.atomic.call(inputs))

    def arrange(self, tensors: list[Any]) -> Any:
        """Results in the structure that the function gives."""
        if self._is_single:
            return tensors[0]
        found = iter(tensors)
        return self._structure.unflatten([r.value if isinstance(r, Static) else next(found) for r in self._results])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call with the arguments of the Python function, or with the tensors of the signature by position or by name.

        Python values of the trace may be left out; those given must be the trace's.

        Raises:
            TypeError: arguments are missing, unknown or of another structure, or a Python value is not the trace's.
        """
        try:
            return self.call(self._checked_inputs(args, kwargs))
        except Exception as error:
            show_users_lines(error)
            raise

    def _checked_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if kwargs or len(args) != len(self.key.parts) or not all(isinstance(a, Tensor) for a in args):
            args = tuple(self._inputs(args, kwargs))
        parts = self.key.inputs
        if len(args) != len(parts):
            raise TypeError(f"{self.name} takes {len(parts)} tensors ({', '.join(self.names)}), and {len(args)} were given")
        return [self._check(value, part, name) for value, part, name in zip(args, parts, self.names, strict=True)]

    def _inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The graph's own inputs of a call with the function's arguments or with tensors."""
        if self._signature.specs is not None:
            args, kwargs = self._signature.with_variables(args, kwargs)
        try:
            bound = self._signature.python.bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            return self._by_name(args, kwargs, str(error))
        positional, named = self.key.structure.unflatten(list(range(len(self.key.parts))))  # each leaf its position
        inputs: list[Any] = []
        for name, positions in self._signature.python.bind(*positional, **named).arguments.items():
            parts = [self.key.parts[i] for i in nest.flatten(positions, expand_composites=True)]
            if name in bound:
                inputs += self._given(name, bound[name], positions, parts)
            elif any(isinstance(part, TensorPart | VariablePart | TypePart) for part in parts):
                return self._by_name(args, kwargs, f"missing a required argument: {name!r}")
        return inputs

    def _given(self, name: str, value: Any, positions: Any, parts: list[Any]) -> list[Any]:
        """The tensors in one argument, after a look at its structure and its Python values."""
        leaves = _leaves(value, positions)
        if leaves is None:
            shown, wanted = structure_text(value), structure_text(positions)
            raise TypeError(f"{self.name}: {name} has the structure {shown}, and the trace was made for {wanted}")
        paths = [
            nest.format_path(path, name) for path, inner in nest.flatten_with_path(positions) for _ in nest.flatten(inner, expand_composites=True)
        ]
        inputs: list[Any] = []
        for leaf, part, path in zip(leaves, parts, paths, strict=True):
            if isinstance(part, TensorPart | VariablePart):
                inputs.append(leaf)
                continue
            if call_part(leaf) != part:
                raise TypeError(
                    f"{self.name}: {path} is {leaf!r}, and this trace was made for {part!r}; call the function itself, or ask it for the trace "
                    "of that value with get_concrete_function"
                )
            if isinstance(part, TypePart):
                inputs += tensors_in(part.type, leaf)
        return inputs

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any], problem: str) -> list[Any]:
        """The tensors of a call that gives them by position and by the names of the graph's inputs."""
        given = nest.flatten(args)
        rest = self.names[len(given) :]
        if len(given) > len(self.names) or set(rest) != set(kwargs):
            raise TypeError(f"{self.name}{self._signature.python}: {problem}; its tensors are called {', '.join(self.names)}")
        return [*given, *(kwargs[name] for name in rest)]

    def _check(self, value: Any, part: Any, name: str) -> Any:
        if isinstance(part, VariablePart):
            if not isinstance(value, Variable):
                raise TypeError(f"{self.name}: {name} must be a Variable, got {type(value).__name__}")
            return value
        tensor: Tensor = convert_to_tensor(value, None, part.dtype)
        if tensor.dtype is not part.dtype:
            raise DTypeError(f"{self.name}: {name} must be {part!r}, got dtype {tensor.dtype.name}")
        if not TensorSpec(part.dims, part.dtype).is_compatible_with(tensor):
            raise ShapeError(f"{self.name}: {name} must be {part!r}, got shape {tensor.shape}")
        return tensor

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The signature as text."""
        arguments = ", ".join(f"{name}: {part!r}" for name, part in zip(self.names, self.key.inputs, strict=True))
        python = [f"{path}={p!r}" for path, p in zip(self._paths, self.key.parts, strict=True) if not isinstance(p, TensorPart | VariablePart)]
        fixed = f"; fixed: {', '.join(python)}" if python else ""
        return f"{self.name}({arguments}{fixed}) -> {self.structured_outputs!r}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature()}>"


def _leaves(value: Any, positions: Any) -> list[Any] | None:
    """What stands in a value where a trace has its leaves, given by their positions; None if it is nested otherwise.

    What is nested below a leaf stays together, as a list may become a tensor.
    """
    if isinstance(positions, int):
        return [value]
    if not nest.is_nested(positions):  # it stands for one tensor and is made of several
        found = nest.flatten(value, expand_composites=True)
        return found if len(found) == len(nest.flatten(positions, expand_composites=True)) else None
    if not nest.is_nested(value):
        return None
    given, wanted = nest.items(value), nest.items(positions)
    if [step for step, _ in given] != [step for step, _ in wanted]:
        return None
    leaves: list[Any] = []
    for (_, child), (_, position) in zip(given, wanted, strict=True):
        inner = _leaves(child, position)
        if inner is None:
            return None
        leaves += inner
    return leaves
