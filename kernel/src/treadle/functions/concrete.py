"""A concrete function: one trace of a Python function for one signature, with the structure of its arguments and results."""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.conversion import convert_to_tensor
from treadle.dtypes import DType
from treadle.errors import DTypeError, ShapeError
from treadle.functions.atomic import AtomicFunction
from treadle.functions.signature import Key, TensorPart, TypePart, VariablePart
from treadle.functions.trace_types import FunctionType
from treadle.graph.func_graph import FuncGraph
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

    def __init__(self, atomic: AtomicFunction, key: Key, names: list[str], structure: Any, results: list[Any], paths: list[str]) -> None:
        self.atomic = atomic
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
        """Call with the tensors of the signature, by position or by name; Python values of the trace may be left out or repeated."""
        try:
            return self.call(self._inputs_of(args, kwargs))
        except Exception as error:
            show_users_lines(error)
            raise

    def _inputs_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        given = [leaf for leaf in nest.flatten(args) if leaf is None or not isinstance(leaf, str | bool | DType)]
        given = [leaf for leaf in given if leaf is not None]
        parts = self.key.inputs
        if len(given) > len(parts) and not kwargs:
            leaves = nest.flatten(args)
            if len(leaves) == len(self.key.parts):
                given = [leaf for leaf, part in zip(leaves, self.key.parts, strict=True) if isinstance(part, TensorPart | VariablePart)]
        for name in self.names[len(given) :]:
            if name in kwargs:
                given.append(kwargs.pop(name))
        given += nest.flatten(list(kwargs.values()))
        if len(given) != len(parts):
            raise TypeError(f"{self.name} takes {len(parts)} tensors ({', '.join(self.names)}), and {len(given)} were given")
        return [self._check(value, part, name) for value, part, name in zip(given, parts, self.names, strict=True)]

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
