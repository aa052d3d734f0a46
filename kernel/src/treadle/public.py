"""Which public names there are: the kernel's own, and those that plugins offer, found when they are first asked for."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

from treadle import plugins
from treadle.registry import Entry, registry

_DTYPES = [
    "float16",
    "half",
    "float32",
    "float64",
    "double",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
    "DType",
    "as_dtype",
]
_ERRORS = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]

OWN: dict[str, str] = {
    **{name: f"dtypes:{name}" for name in _DTYPES},
    **{
        f"experimental.{name}": f"dtypes:{name}"
        for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz")
    },
    "Tensor": "tensor:Tensor",
    "Variable": "variable:Variable",
    "TensorShape": "shapes:TensorShape",
    "TensorSpec": "tensorspec:TensorSpec",
    "TypeSpec": "tensorspec:TypeSpec",
    "Module": "module:Module",
    "Graph": "graph.session_graph:SessionGraph",
    "constant": "conversion:constant",
    "convert_to_tensor": "conversion:convert_to_tensor",
    "is_tensor": "inspection:is_tensor",
    "is_symbolic_tensor": "inspection:is_symbolic_tensor",
    "get_static_value": "inspection:get_static_value",
    "eval_shape": "functions.eval_shape:eval_shape",
    "executing_eagerly": "scopes:executing_eagerly",
    "init_scope": "scopes:init_scope",
    "name_scope": "scopes:name_scope",
    "get_current_name_scope": "scopes:get_current_name_scope",
    "device": "devices:device",
    "function": "functions.decorator:function",
    "cond": "functions.branches:cond",
    "case": "functions.branches:case",
    "switch_case": "functions.branches:switch_case",
    "while_loop": "functions.loops:while_loop",
    "debug.trace_log": "functions.retracing:trace_log",
    "GradientTape": "autodiff.tape:GradientTape",
    "autodiff.GradientTape": "autodiff.tape:GradientTape",
    "UnconnectedGradients": "autodiff.tape:UnconnectedGradients",
    "op": "custom_ops:op",
    "custom_gradient": "autodiff.custom:custom_gradient",
    "grad_pass_through": "autodiff.custom:grad_pass_through",
    "types.experimental.TraceType": "functions.trace_types:TraceType",
    "types.experimental.SupportsTracingProtocol": "functions.trace_types:SupportsTracingProtocol",
    "types.experimental.FunctionType": "functions.trace_types:FunctionType",
    "types.experimental.TensorLike": "functions.trace_types:TensorLike",
    "types.experimental.ConcreteFunction": "functions.concrete:ConcreteFunction",
    "types.experimental.AtomicFunction": "functions.atomic:AtomicFunction",
    "types.experimental.PolymorphicFunction": "functions.polymorphic:Function",
    "types.experimental.GenericFunction": "functions.polymorphic:Function",
    "types.experimental.Callable": "functions.polymorphic:Function",
    "config.run_functions_eagerly": "functions.polymorphic:run_functions_eagerly",
    "config.functions_run_eagerly": "functions.polymorphic:functions_run_eagerly",
    "config.experimental_run_functions_eagerly": "functions.polymorphic:run_functions_eagerly",
    "config.experimental_functions_run_eagerly": "functions.polymorphic:functions_run_eagerly",
    "config.PhysicalDevice": "configuration:PhysicalDevice",
    "config.LogicalDevice": "configuration:LogicalDevice",
    "config.list_physical_devices": "configuration:list_physical_devices",
    "config.list_logical_devices": "configuration:list_logical_devices",
    "config.get_visible_devices": "configuration:get_visible_devices",
    "config.set_visible_devices": "configuration:set_visible_devices",
    "config.get_soft_device_placement": "configuration:get_soft_device_placement",
    "config.set_soft_device_placement": "configuration:set_soft_device_placement",
    "config.experimental.get_memory_info": "configuration:get_memory_info",
    "config.experimental.reset_memory_stats": "configuration:reset_memory_stats",
    "config.experimental.get_device_details": "configuration:get_device_details",
    "config.experimental.enable_op_determinism": "configuration:enable_op_determinism",
    "config.experimental.get_synchronous_execution": "configuration:get_synchronous_execution",
    "config.experimental.set_synchronous_execution": "configuration:set_synchronous_execution",
    **{
        f"config.threading.{verb}_{kind}_op_parallelism_threads": f"configuration:{verb}_{kind}_op_parallelism_threads"
        for verb in ("get", "set")
        for kind in ("inter", "intra")
    },
    **{
        f"compat.v1.{name}": f"graph.session_graph:{name}"
        for name in (
            "get_default_graph",
            "global_variables",
            "global_variables_initializer",
            "placeholder",
            "placeholder_with_default",
            "reset_default_graph",
            "trainable_variables",
            "variables_initializer",
        )
    },
    "compat.v1.Graph": "graph.session_graph:SessionGraph",
    "compat.v1.Session": "functions.sessions:Session",
    "compat.v1.get_default_session": "functions.sessions:get_default_session",
    "test.compute_gradient": "testing.jacobians:compute_gradient",
    "testing": "testing",
    "plugins": "plugins",
    "settings": "settings",
    "errors": "errors",
    "dtypes": "dtypes",
    "nest": "nest",
    "autodiff": "autodiff",
    "declare": "declare",
    "hookspecs": "hookspecs",
}
"""Public path to ``module:attribute`` inside treadle, imported when first asked for."""


class Namespace(types.ModuleType):
    """A public namespace such as ``treadle.math``."""

    def __init__(self, path: str) -> None:
        super().__init__(f"treadle.{path}", f"The public names under ``treadle.{path}``.")
        self.__dict__["__path__"] = []
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        thing = lookup(f"{self._path}.{name}")
        self.__dict__[name] = thing
        return thing

    def __dir__(self) -> list[str]:
        return names_under(self._path)


def lookup(path: str) -> Any:
    """What ``treadle.<path>`` is.

    Raises:
        AttributeError: there is no such name; the message says what to use, where that is known.
    """
    target = OWN.get(path)
    if target is not None:
        return _own(target)
    entry = registry.names.get(path)
    if entry is None:
        plugins.host.load_ops()
        entry = registry.names.get(path)
    if entry is not None:
        return _complete(entry.value)
    if is_namespace(path):
        return namespace(path)
    if "." not in path:
        record = plugins.host.load_ops(path)
        if record is not None and (path in registry.names or is_namespace(path)):
            return _complete(registry.names[path].value) if path in registry.names else namespace(path)
    raise AttributeError(missing(path))


def replace(path: str, thing: Any) -> None:
    """Put another thing under a public name that a plugin offers; what asked for the name before keeps what it got."""
    entry = registry.names[path]
    registry.names[path] = Entry(thing, entry.plugin)
    space, _, name = path.rpartition(".")
    module = sys.modules.get(f"treadle.{space}" if space else "treadle")
    if module is not None:
        module.__dict__.pop(name, None)


def _complete(thing: Any) -> Any:
    from treadle.eager.entry import complete

    return complete(thing)


def _own(target: str) -> Any:
    module, _, attribute = target.partition(":")
    loaded = importlib.import_module(f"treadle.{module}")
    return getattr(loaded, attribute) if attribute else loaded


def extend(module: str) -> None:
    """Let a module of the kernel that is a public namespace too offer what plugins put there."""

    def get(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"module 'treadle.{module}' has no attribute {attribute!r}")
        return lookup(f"{module}.{attribute}")

    sys.modules[f"treadle.{module}"].__dict__["__getattr__"] = get


def missing(path: str) -> str:
    """Why there is no such name, and what to use."""
    explain = registry.roles.get("explain_missing")
    told = explain.value(path) if explain is not None else None
    if told:
        return f"module 'treadle' has no attribute {path!r}: {told}"
    failures = plugins.host.failures("treadle.ops")
    if failures:
        return f"module 'treadle' has no attribute {path!r}. {failures}"
    if not registry.names:
        return f"module 'treadle' has no attribute {path!r}; no op plugin is installed: `pip install treadle-ops` brings TensorFlow's ops"
    import difflib

    near = difflib.get_close_matches(path, [*OWN, *registry.names], 3)
    return f"module 'treadle' has no attribute {path!r}" + (f"; did you mean {', '.join(near)}?" if near else "")


def is_namespace(path: str) -> bool:
    """True if public names stand under ``path``."""
    prefix = path + "."
    return any(name.startswith(prefix) for name in OWN) or any(name.startswith(prefix) for name in registry.names)


def namespace(path: str) -> Any:
    """The module of a namespace, made once."""
    full = f"treadle.{path}"
    module = sys.modules.get(full)
    if module is None:
        module = sys.modules[full] = Namespace(path)
    return module


def names_under(path: str) -> list[str]:
    """The names that a namespace offers (the empty path: the top)."""
    plugins.host.load_ops()
    prefix = f"{path}." if path else ""
    found = {name[len(prefix) :].partition(".")[0] for name in [*OWN, *registry.names] if name.startswith(prefix)}
    return sorted(found)


class Finder:
    """Lets ``import treadle.nn`` and ``from treadle.math import log`` find namespaces."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if not fullname.startswith("treadle."):
            return None
        name = fullname.removeprefix("treadle.")
        if not is_namespace(name):
            plugins.host.load_ops()
            if "." not in name and not is_namespace(name):
                plugins.host.load_ops(name)
        if not is_namespace(name):
            explain = registry.roles.get("explain_missing")
            if explain is not None and explain.value(name):
                raise ModuleNotFoundError(missing(name))  # without a `name`, or `from treadle import keras` would drop the message
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return Namespace(spec.name.removeprefix("treadle."))

    def exec_module(self, module: Any) -> None:
        """Nothing to run: names are found when asked for."""
