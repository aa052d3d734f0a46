"""Everything an eager call may need beyond the fast path: conversion, resolution of a kernel, tapes, and errors that explain themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treadle import devices, dtypes, state
from treadle.contracts.lists import BufferList
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor, host_array, host_spec, host_value, place
from treadle.dtypes import DType
from treadle.eager.promises import check_results, read_only, refuse_writing, vetted, vetting_key
from treadle.errors import DTypeError, InvalidArgumentError, KernelNotFoundError, OpError, PluginError, ResourceExhaustedError, ShapeError, prefix
from treadle.registry import open_devices, registry
from treadle.state import LOCAL
from treadle.symbolic import SYMBOLIC, SymbolicTensor, leaked
from treadle.tensor import Tensor, to_device

_HINTS = {"index": dtypes.int32, "bool": dtypes.bool, "free": None, "tensor": None}
_scalars: dict[Any, Tensor] = {}
_MOST_SCALARS = 4096


def execute(op: Op, args: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Run or record one call of an op, whatever its arguments are.

    Args:
        op: the contract.
        args: one per declared input: a tensor or what converts to one, a sequence of these, a host value.
        attrs: every attribute.

    Returns:
        A tensor, a tuple or list of them, or None, as the op declares.
    """
    local = LOCAL
    if local.graph is not None:
        return local.graph.call_op(op, args, attrs)
    inputs = convert_inputs(op, args)
    outputs = run(op, inputs, attrs)
    for tape in local.tapes:
        tape.record_op(op, inputs, attrs, outputs)
    return arrange(op, outputs)


def arrange(op: Op, outputs: list[Any]) -> Any:
    """The outputs in the form that the op declares."""
    if op.outputs == "one":
        return outputs[0]
    if op.outputs == "list":
        return outputs
    if op.outputs == "none":
        return None
    return tuple(outputs) if op.result is None else op.result(*outputs)


# ---------------------------------------------------------------------- inputs


def convert_inputs(op: Op, args: tuple[Any, ...]) -> list[Any]:
    """One entry per declared input: a tensor, a list of tensors, or a host value."""
    hint = first_dtype(op, args)
    converted: list[Any] = []
    for declared, given in zip(op.inputs, args, strict=True):
        if declared.kind == "host":
            converted.append(given if LOCAL.graph is not None else to_host(given, op, declared.name))
            continue
        wanted = hint if declared.kind == "tensor" else _HINTS[declared.kind]
        if declared.kind == "index" and _is_bool(given):
            wanted = None
        if declared.sequence:
            if isinstance(given, Tensor) or not hasattr(given, "__iter__"):
                raise DTypeError(f"{op.name}: the argument {declared.name!r} must be a list of tensors, not {type(given).__name__}")
            items: list[Tensor] = []
            for item in given:
                items.append(to_tensor(item, wanted, op, declared.name))
                wanted = wanted or (items[0].dtype if declared.kind == "tensor" else None)
            converted.append(items)
        else:
            converted.append(to_tensor(given, wanted, op, declared.name))
        if hint is None and declared.kind == "tensor":
            hint = next((t.dtype for t in flat(converted[-1:])), None)
    return converted


def _is_bool(value: Any) -> bool:
    """True for bools and lists of them, which are no indices."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return type(value) is bool or getattr(value, "dtype", None) == np.bool_


def first_dtype(op: Op, args: tuple[Any, ...]) -> DType | None:
    """The dtype that Python numbers take: that of the first tensor among the inputs that share one."""
    fallback = None
    for declared, given in zip(op.inputs, args, strict=True):
        if declared.kind != "tensor":
            continue
        for item in given if declared.sequence and isinstance(given, list | tuple) else (given,):
            dtype = getattr(item, "dtype", None)
            if isinstance(dtype, DType):
                return dtype
            if fallback is None and isinstance(item, np.ndarray | np.generic):
                fallback = dtypes.from_numpy.get(item.dtype)
    return fallback


def to_tensor(value: Any, hint: DType | None, op: Op, name: str) -> Tensor:
    """One input as a tensor; Python numbers are remembered, as they are mostly literals."""
    if isinstance(value, Tensor):
        return value
    protocol = getattr(type(value), "__treadle_tensor__", None)
    if protocol is not None:
        made: Tensor = protocol(value)
        return made
    kind = type(value)
    if kind in (int, float) and LOCAL.graph is None and (value or not is_minus_zero(value)):
        key = (hint, kind, value, LOCAL.device)
        known = _scalars.get(key)
        if known is not None:
            return known
        tensor: Tensor = _convert(value, hint, op, name)
        if len(_scalars) < _MOST_SCALARS:
            _scalars[key] = tensor
        return tensor
    result: Tensor = _convert(value, hint, op, name)
    return result


def to_host(value: Any, op: Op, name: str) -> Any:
    """One host input as nested tuples of numbers."""
    try:
        return host_value(value)
    except (TypeError, ValueError) as error:
        prefix(error, f"{op.name}: argument {name!r}")
        raise


def _convert(value: Any, hint: DType | None, op: Op, name: str) -> Any:
    try:
        return convert_to_tensor(value, None, hint) if hint is None or type(value) is not int or not hint.is_integer else place(_exact(value, hint))
    except (TypeError, ValueError) as error:
        prefix(error, f"{op.name}: argument {name!r}")
        raise


def _exact(value: int, hint: DType) -> np.ndarray[Any, Any]:
    array = host_array(value, hint, None)
    assert array is not None
    return array


def remembered(value: Any, like: Any) -> Tensor | None:
    """The tensor that a Python number became earlier beside a tensor of this dtype, if any."""
    return None if not value and is_minus_zero(value) else _scalars.get((like._key.dtype, type(value), value, LOCAL.device))


def is_minus_zero(value: float) -> bool:
    """True for -0.0, which equals 0.0 and must not stand for it."""
    return value == 0 and math.copysign(1.0, value) < 0


def flat(inputs: list[Any]) -> list[Any]:
    """The inputs with sequences spread out, host values included."""
    return [item for entry in inputs for item in (entry if isinstance(entry, list) else (entry,))]


def spec_of(value: Any) -> Any:
    """The spec of an input: of a tensor, of each of a list, of a host value."""
    if isinstance(value, SymbolicTensor):
        return value.value.spec
    if isinstance(value, Tensor):
        return Spec(tuple(value._buffer.shape), value._key.dtype)
    if isinstance(value, list):
        return [spec_of(v) for v in value]
    return host_spec(value)


# ---------------------------------------------------------------------- running


def run(op: Op, inputs: list[Any], attrs: dict[str, Any]) -> list[Tensor]:
    """Run an op on converted inputs, unseen by tapes; the outputs as a list."""
    inputs, device = together(op, inputs)
    key = table_key(op, inputs, attrs, device)
    row = op.table.get(key)
    is_new = row is None
    if row is None:
        row = resolve(op, inputs, attrs, device)
    kernel, keys, array = row
    buffers = [[t._buffer for t in entry] if isinstance(entry, list) else entry._buffer if isinstance(entry, Tensor) else entry for entry in inputs]
    given_to_it = read_only(buffers) if is_new else buffers
    try:
        result = kernel(*given_to_it, **attrs) if op.effect == "io" else quietly(kernel, *given_to_it, **attrs)
    except Exception as error:
        if is_new:
            refuse_writing(op, device, error)
        raise explain(op, inputs, attrs, error) from error
    if is_new:
        given = [b for entry in buffers for b in (entry if isinstance(entry, list) else [entry]) if isinstance(b, np.ndarray)]
        check_results(op, infer(op, [spec_of(entry) for entry in inputs], attrs), result, given, device)
        vetted.add(vetting_key(op, [t.dtype for t in flat(inputs) if isinstance(t, Tensor)], attrs, device))
        if open_devices.get(device.name) is device:
            op.table[key] = row
            _resolved.add(op)
    if op.outputs == "one":
        return [_wrap(result, keys, array)]
    if op.outputs == "none":
        return []
    if op.outputs == "list":
        return [_wrap(buffer, keys, array) for buffer in result]
    return [_wrap(buffer, key, array) for buffer, key in zip(result, keys, strict=True)]


def require_open(device: Any, name: str) -> None:
    """Refuse what a call of ``name`` finds on a device that was closed."""
    if open_devices.get(device.name) is not device:
        raise InvalidArgumentError(f"{name}: an input is on {device.name}, which was closed; copy tensors to another device before closing theirs")


def _wrap(buffer: Any, key: Any, array: type) -> Tensor:
    if type(buffer) is not array:
        buffer = key.device.normalize(buffer)
    return Tensor(buffer, key)


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call inside the thread's quiet context, or in a new one if a kernel of this thread is running already."""
    try:
        return LOCAL.run(function, *args, **kwargs)
    except RuntimeError as error:
        if not state.is_reentry(error):
            raise
    return state.quiet_context().run(function, *args, **kwargs)


def together(op: Op, inputs: list[Any]) -> tuple[list[Any], Any]:
    """The inputs on one device, and that device: the scope's, else that of the first input that is not on the default one."""
    default = devices.default()
    tensors = [t for t in flat(inputs) if isinstance(t, Tensor)]
    for tensor in tensors:
        if isinstance(tensor, SymbolicTensor):
            raise leaked(tensor)
        if tensor._key is SYMBOLIC:
            raise DTypeError(
                f"{op.name}: {type(tensor).__name__} has no value to compute with; the gradient of an op read what its trace did not read"
            )
    places = {id(t._key.device): t._key.device for t in tensors}
    for place_ in places.values():
        require_open(place_, op.name)
    if not tensors:
        return inputs, default
    if state.LOCAL.device is not None:
        device = default
    elif len(places) == 1:
        return inputs, next(iter(places.values()))
    else:
        device = next(d for d in places.values() if d is not default)
    if len(places) == 1 and id(device) in places:
        return inputs, device
    moved = [
        [to_device(t, device) for t in entry] if isinstance(entry, list) else to_device(entry, device) if isinstance(entry, Tensor) else entry
        for entry in inputs
    ]
    return moved, device


def table_key(op: Op, inputs: list[Any], attrs: dict[str, Any], device: Any) -> Any:
    """The key under which a resolved kernel stands in ``op.table``; the generated entry points build the same."""
    parts: list[Any] = [
        tuple(t._key for t in entry) if isinstance(entry, list) else entry._key
        for declared, entry in zip(op.inputs, inputs, strict=True)
        if declared.kind != "host"
    ]
    if not parts or all(part == () for part in parts):
        parts.append(device)
    parts += [attrs[name] for name in op.dtype_attrs]
    return parts[0] if len(parts) == 1 else tuple(parts)


def resolve(op: Op, inputs: list[Any], attrs: dict[str, Any], device: Any) -> tuple[Any, Any, type]:
    """Find the kernel for these dtypes on this device, and the keys of its outputs."""
    specs = infer(op, [spec_of(entry) for entry in inputs], attrs)
    dtype = next((t.dtype for t in flat(inputs) if isinstance(t, Tensor)), None) or next((attrs[a] for a in op.dtype_attrs), None)
    kernel = find_kernel(op, device, dtype)
    if op.outputs == "one":
        keys: Any = device.key(specs[0].dtype)
    elif op.outputs == "list":
        keys = device.key(specs[0].dtype) if specs else None
    else:
        keys = tuple(device.key(s.dtype) for s in specs)
    return kernel, keys, BufferList if specs and specs[0].dtype.kind == "l" else device.array_type


def infer(op: Op, specs: list[Any], attrs: dict[str, Any]) -> list[Spec]:
    """The specs of the outputs as a list.

    Raises:
        ShapeError, DTypeError: the inputs do not fit; the message names the op.
    """
    try:
        result = op.infer(*specs, **attrs)
    except OpError as error:
        if not error.message.startswith(op.name):
            prefix(error, op.name)
        raise
    if isinstance(result, Spec):
        return [result]
    if result is None and op.outputs == "none":
        return []
    if not isinstance(result, tuple | list) or not all(isinstance(s, Spec) for s in result):
        raise PluginError(f"the inference of op {op.name!r} (plugin {op.plugin!r}) gives {result!r}; expected a Spec, or a tuple or list of them")
    return list(result)


def find_kernel(op: Op, device: Any, dtype: DType | None) -> Any:
    """The callable that runs an op on a device, for a first input of ``dtype``."""
    return bind(find_kernel_row(op, device, dtype), device)


def find_kernel_row(op: Op, device: Any, dtype: DType | None) -> Any:
    """The kernel declared for an op on a device, for a first input of ``dtype``.

    Raises:
        KernelNotFoundError: there is none; the message lists what there is.
    """
    rows = registry.kernel_rows(op.name)
    for place_ in (device.type, "array"):
        entry = rows.get(place_)
        if entry is None or (place_ == "array" and device.array_module is None):
            continue
        try:
            kernel = entry.value
        except PluginError as error:
            if place_ == "array" or "array" not in rows or device.array_module is None:
                raise
            registry.give_up(entry.plugin, error)
            continue
        if kernel.dtypes is None or dtype is None or dtype.name in kernel.dtypes:
            return kernel
    present = (
        ", ".join(f"{where} ({'*' if e.value.dtypes is None else ', '.join(sorted(e.value.dtypes))})" for where, e in sorted(rows.items())) or "none"
    )
    raise KernelNotFoundError(
        f"no kernel for op {op.name!r} on device {device.name!r} with dtype {dtype.name if dtype else 'none'}; kernels present: {present}. "
        "Run `treadle plugins` to see what is loaded."
    )


_bound: dict[Any, Any] = {}
_resolved: set[Op] = set()
"""Ops with anything in their tables; an op may be in use before the registry's lazy entry for it is loaded."""


def bind(kernel: Any, device: Any) -> Any:
    """The kernel's callable for a device, made once."""
    key = (kernel, device.name)
    found = _bound.get(key)
    if found is None:
        found = _bound[key] = device.bind(kernel.factory)
    return found


def explain(op: Op, inputs: list[Any], attrs: dict[str, Any], error: Exception) -> Exception:
    """The error to raise for a kernel that raised: what inference says of these inputs, else the kernel's own with the op's name."""
    try:
        infer(op, [spec_of(entry) for entry in inputs], attrs)
    except OpError as better:
        return better
    described = ", ".join(repr(s) for s in flat([spec_of(entry) for entry in inputs]))
    if isinstance(error, OpError):
        if op.name not in error.message:
            error.message = f"{op.name}: {error.message}"
            error.args = (error.message,)
        return error
    if op.effect == "io":
        return error
    if isinstance(error, MemoryError):
        return ResourceExhaustedError(f"{op.name}: out of memory: {error} (inputs: {described})")
    kind = kind_of(error)
    return kind(f"{op.name}: {error} (inputs: {described})")


def kind_of(error: Exception) -> type[OpError]:
    """The class for what a kernel raised: by Python's class, and for values by whether the message is about shapes."""
    if isinstance(error, TypeError):
        return DTypeError
    about_shapes = ("shape", "broadcast", "dimension", "axis", "axes", "rank", "size")
    return ShapeError if isinstance(error, ValueError) and any(word in str(error) for word in about_shapes) else InvalidArgumentError


def forget() -> None:
    """Drop every resolved kernel and remembered scalar."""
    while _resolved:
        _resolved.pop().table.clear()
    _bound.clear()
    _scalars.clear()
    vetted.clear()


registry.on_invalidate(forget)
