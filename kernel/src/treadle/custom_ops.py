"""Ops from a user's own module: ``@td.op`` makes one of a Python function of arrays, its kernel.

What the kernel gives is made into what the runtime needs (a C-contiguous array of its own), and the inputs are shielded from being written.
Plugins declare contract and kernels apart: see ``treadle.declare``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, cast

import numpy as np

from treadle import dims, state
from treadle.contracts.batching import BatchingRule
from treadle.contracts.kernels import Kernel
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.conversion import to_tuples
from treadle.dtypes import DType, as_dtype, from_numpy
from treadle.eager.entry import make_entry
from treadle.errors import DTypeError, InvalidArgumentError, OpError, PluginError
from treadle.registry import registry

_KINDS = ("Spec", "IndexSpec", "BoolSpec", "FreeSpec", "HostSpec")
_TRIED_SIZES = (2, 1, 3, 4)
"""Sizes that stand for unknown ones when the kernel is run to learn the dtype of what it gives."""


def op(
    function: Any = None,
    *,
    name: str | None = None,
    outputs: int | None = None,
    infer: Callable[..., Any] | None = None,
    gradient: Callable[..., Any] | None = None,
    elementwise: bool = False,
    commutative: bool = False,
    effect: str = "pure",
    can_fail: bool = True,
) -> Any:
    """Make an op of a Python function of arrays: it runs eagerly, traced and folded, and in gradients if it is given one.

    Args:
        function: the kernel, or the op's name when called as ``@td.op("name")``. Its positional parameters are the inputs: arrays of the device
            (NumPy's on the CPU), which must not be written; its keyword-only parameters are attributes. An annotation ``IndexSpec``, ``BoolSpec``,
            ``FreeSpec``, ``HostSpec`` or ``Sequence[Spec]`` of ``td.declare`` says that an input is that.
        name: the op's name; by default that of the module and the function, ``"module.function"``.
        outputs: how many results there are, given back as a tuple if there are several; by default what a return annotation ``tuple[...]``
            says, else 1.
        infer: specs to spec (or a tuple of them), with the same parameters. By default the kernel is run on ones of the inputs' shapes where these
            are known, so that the shape of its result may depend on shapes only; where they are not, only the dtype is found so. The result of an
            elementwise op has the shape that its inputs broadcast to.
        gradient: ``(ctx, *cotangents) -> gradient per input``, written with ops; see ``td.declare.gradient``.
        elementwise: result element i depends on elements i only, after broadcasting.
        commutative: the order of two inputs does not matter.
        effect: ``pure``, or ``reads``, ``writes``, ``random`` or ``io``.
        can_fail: a call may raise.

    Returns:
        The op's entry point: a function of tensors. ``entry.infer``, ``entry.gradient`` and ``entry.batching`` are decorators that give it these
        later.

    Raises:
        PluginError: the function has parameters that are neither inputs nor attributes, or the name belongs to a plugin.
    """
    if isinstance(function, str) or function is None:
        chosen = function or name
        options: dict[str, Any] = {"outputs": outputs, "infer": infer, "gradient": gradient, "elementwise": elementwise, "commutative": commutative}
        return lambda kernel: op(kernel, name=chosen, effect=effect, can_fail=can_fail, **options)
    kernel = _PythonKernel(function, infer, elementwise)
    contract = Op(
        name or f"{function.__module__.rpartition('.')[2].strip('_')}.{function.__name__}",
        kernel.inference(_count(function) if outputs is None else outputs),
        effect=effect,
        can_fail=can_fail,
        elementwise=elementwise,
        commutative=commutative,
    )
    kernel.contract = contract
    entry: Any = make_entry(contract, contract.infer)
    contract.gradient = gradient
    entry.gradient = kernel.set_gradient
    entry.infer = kernel.set_inference
    entry.batching = kernel.set_batching
    _register(contract, kernel, f"module {function.__module__}")
    return entry


def _register(contract: Op, kernel: _PythonKernel, owner: str) -> None:
    """Register the op; one that the same module defined before, as a notebook's cell does when it runs again, makes room."""
    with registry.transaction(owner):
        taken = registry.ops.get(contract.name)
        if taken is not None and taken.plugin == owner:
            del registry.ops[contract.name]
            registry.kernels.pop(contract.name, None)
        registry.add_op(contract)
        registry.add_kernel(Kernel(contract.name, kernel.bind), for_="array")


def _count(function: Any) -> int:
    """How many results a function says it gives."""
    hint = function.__annotations__.get("return")
    if isinstance(hint, str):
        inside = hint.strip()
        if not inside.startswith(("tuple[", "Tuple[", "typing.Tuple[")):
            return 1
        depth, count = 0, 1
        for letter in inside[inside.index("[") + 1 : -1]:
            depth += (letter == "[") - (letter == "]")
            count += letter == "," and not depth
        return count
    return len(hint.__args__) if getattr(hint, "__origin__", None) is tuple else 1


class _PythonKernel:
    """A user's function as the kernel and, where nothing else is given, the inference of an op.

    Attributes:
        contract: the op.
    """

    contract: Op

    def __init__(self, function: Callable[..., Any], infer: Callable[..., Any] | None, elementwise: bool) -> None:
        self._function = function
        self._infer = infer
        self._elementwise = elementwise
        self._promised: dict[Any, list[Any]] = {}
        self.inputs, self.attributes = _parameters(function)

    # ------------------------------------------------------------------ contract

    def inference(self, outputs: int) -> FunctionType:
        """An inference function with the parameters that an op's must have."""
        names = list(self.inputs)
        tail = ["*", *self.attributes] if self.attributes else []
        attributes = ", ".join(f"{a!r}: {a}" for a in self.attributes)
        text = f"def infer({', '.join([*names, *tail])}):\n    return INFER([{', '.join(names)}], {{{attributes}}})\n"
        module = compile(text, f"<inference of {self._function.__name__}>", "exec")
        code = next(c for c in module.co_consts if isinstance(c, CodeType))
        infer = FunctionType(code, {"__builtins__": __builtins__, "INFER": self.specs}, "infer")
        infer.__annotations__ = {**self.inputs, **self.attributes, "return": "Spec" if outputs == 1 else "tuple[Spec, ...]"}
        infer.__kwdefaults__ = self._function.__kwdefaults__
        infer.__doc__ = self._function.__doc__
        infer.__module__ = self._function.__module__
        infer.__qualname__ = self._function.__qualname__
        self._outputs = outputs
        return infer

    def set_gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the op a gradient (a decorator)."""
        self.contract.gradient = function
        self.contract.reads.clear()
        self.contract.kept.clear()
        return function

    def set_inference(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the op an inference (a decorator)."""
        self._infer = function
        self.contract.table.clear()
        return function

    def set_batching(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the op a batching rule (a decorator); see ``td.declare.batching``."""
        self.contract.batching = BatchingRule(function)
        return function

    def specs(self, inputs: list[Any], attrs: dict[str, Any]) -> Any:
        """The specs of the results."""
        if self._infer is not None:
            given = self._infer(*inputs, **attrs)
            found = [s.without_value() for s in (given if isinstance(given, tuple | list) else [given])]
        else:
            found = self._from_a_run(inputs, attrs)
        if len(found) != self._outputs:
            raise InvalidArgumentError(f"{len(found)} results are given and {self._outputs} announced; say outputs={len(found)}")
        self._promised[self._key(inputs, attrs)] = [s.dtype.numpy for s in found]
        return found[0] if self._outputs == 1 else tuple(found)

    def _from_a_run(self, inputs: list[Any], attrs: dict[str, Any]) -> list[Spec]:
        specs = [spec for spec, _ in self._with_kinds(inputs)]
        if self._elementwise:
            shape = dims.broadcast(*(spec.dims for spec in specs))
            return [Spec(shape, _dtype_of(r)) for r in self._examples([[(1,)] * len(specs)], inputs, attrs)]
        if all(spec.is_static and (kind != "HostSpec" or spec.value is not None) for spec, kind in self._with_kinds(inputs)):
            return [Spec(r.shape, _dtype_of(r)) for r in self._examples([[spec.dims for spec in specs]], inputs, attrs)]
        tried = [[_filled(spec.dims, size, kind) for spec, kind in self._with_kinds(inputs)] for size in _TRIED_SIZES]
        return [Spec(None, _dtype_of(r)) for r in self._examples(tried, inputs, attrs)]

    def _examples(self, tried: list[Any], inputs: list[Any], attrs: dict[str, Any]) -> list[Any]:
        """What the kernel gives for one of several sets of shapes, filled with one of several examples."""
        problem: Exception | None = None
        for shapes in tried:
            for example in (_ones, _unit_matrices, _uneven):
                try:
                    return self._run_on(shapes, example, inputs, attrs)
                except OpError:
                    raise
                except Exception as error:  # the user's kernel
                    problem = problem or error
        raise InvalidArgumentError(
            f"what the kernel gives is not known: it was run on ones and other examples, and raised {type(problem).__name__}: {problem}. If that is "
            f"not a fault of its own, give the op an inference: @{self._function.__name__}.infer"
        ) from problem

    def _with_kinds(self, inputs: Any) -> list[tuple[Any, str]]:
        """Every input, sequences spread out, with its kind."""
        return [
            (spec, kind) for entry, kind in zip(inputs, self.inputs.values(), strict=True) for spec in (entry if isinstance(entry, list) else [entry])
        ]

    def _run_on(self, shapes: list[Any], example: Callable[[Any], Any], inputs: list[Any], attrs: dict[str, Any]) -> list[Any]:
        remaining = iter(shapes)

        def argument(spec: Spec, kind: str) -> Any:
            shape = tuple(next(remaining))
            if kind == "HostSpec":
                return spec.value if spec.value is not None else to_tuples(np.full(shape, shape[0] if shape else 1, spec.dtype.numpy).tolist())
            return _shielded(example(shape).astype(spec.dtype.numpy))

        arguments = [
            [argument(spec, kind) for spec in entry] if isinstance(entry, list) else argument(entry, kind)
            for entry, kind in zip(inputs, self.inputs.values(), strict=True)
        ]
        with state.recording(None), np.errstate(all="ignore"):
            return [np.asarray(r) for r in self._results(self._function(*arguments, **attrs))]

    def _results(self, given: Any) -> list[Any]:
        if self._outputs == 1:
            return [given]
        if not isinstance(given, tuple | list) or len(given) != self._outputs:
            raise InvalidArgumentError(
                f"{self._function.__name__} gives {type(given).__name__} {given!r}; expected a tuple of {self._outputs} arrays"
            )
        return list(given)

    # ------------------------------------------------------------------ kernel

    def bind(self, xp: Any) -> Callable[..., Any]:
        """The kernel for an array module."""

        def run(*buffers: Any, **attrs: Any) -> Any:
            shielded = [[_shielded(b) for b in given] if isinstance(given, list) else _shielded(given) for given in buffers]
            results = [xp.array(r, order="C") for r in self._results(self._function(*shielded, **attrs))]  # the function may keep what it gives
            promised = self._promised.get(self._key(buffers, attrs))
            for result, dtype in zip(results, promised or (), strict=bool(promised)):
                if result.dtype != dtype:
                    raise DTypeError(f"the kernel gives {result.dtype}, and {dtype} was inferred; the dtype may depend on the inputs' dtypes only")
            return results[0] if self._outputs == 1 else tuple(results)

        return run

    def _key(self, inputs: Any, attrs: dict[str, Any]) -> Any:
        """What the dtypes of results depend on."""
        dtypes = [thing.dtype for thing, kind in self._with_kinds(inputs) if kind != "HostSpec"]
        return (*(getattr(d, "numpy", d) for d in dtypes), *(attrs[a] for a in self.attributes if self.attributes[a].startswith("DType")))


def _filled(known: Any, size: int, kind: str) -> tuple[int, ...]:
    """Dims with a size for those that are not known; where not even the rank is, those of a matrix, or of a vector of host values."""
    if known is None:
        return (size,) if kind == "HostSpec" else (size, size)
    return tuple(d if type(d) is int else size for d in known)


def _ones(shape: tuple[int, ...]) -> Any:
    return np.ones(shape)


def _unit_matrices(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape) + np.eye(shape[-2], shape[-1]) if len(shape) > 1 else np.zeros(shape)


def _uneven(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(0).uniform(0.5, 1.5, shape)


def _dtype_of(array: Any) -> DType:
    return from_numpy.get(array.dtype) or as_dtype(array.dtype)


def _shielded(buffer: Any) -> Any:
    """A view that cannot be written, where the array module knows such."""
    if isinstance(buffer, np.ndarray):
        buffer = buffer.view()
        buffer.flags.writeable = False
    return buffer


def _parameters(function: Callable[..., Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The inputs and the attributes of a kernel, each with its kind."""
    inputs: dict[str, str] = {}
    attributes: dict[str, str] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = cast(Any, "" if parameter.annotation is parameter.empty else parameter.annotation)
        text = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
        text = text.rpartition(".")[2] if "[" not in text else text
        if parameter.kind is parameter.KEYWORD_ONLY:
            attributes[parameter.name] = text
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.default is not parameter.empty:
            raise PluginError(
                f"td.op: parameter {parameter} of {function.__name__!r} is neither an input nor an attribute; inputs are positional parameters "
                "without a default, attributes are keyword-only"
            )
        elif text.startswith(("list", "List", "Sequence")):
            inside = text.partition("[")[2].removesuffix("]")
            inputs[parameter.name] = f"Sequence[{inside if inside in _KINDS else 'Spec'}]"
        else:
            inputs[parameter.name] = text if text in _KINDS else "Spec"
    return inputs, attributes
