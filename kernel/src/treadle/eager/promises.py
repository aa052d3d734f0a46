"""What a kernel's contract promises, and the first call for some dtypes that holds the kernel to it, eagerly and in plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dtypes import DType
from treadle.errors import PluginError
from treadle.registry import registry

vetted: set[Any] = set()
"""Ops, dtypes and devices for which a kernel's results were held to its contract."""


class _Checks:
    are_on = True


@contextmanager
def unchecked() -> Iterator[None]:
    """Take what kernels give as it is, and go on doing so for the dtypes that run inside: for tests that tell more than the first thing wrong."""
    _Checks.are_on = False
    try:
        yield
    finally:
        _Checks.are_on = True


def read_only(buffers: Sequence[Any]) -> list[Any]:
    """The arguments of a kernel's first call, with host arrays that it cannot write into."""

    def guarded(buffer: Any) -> Any:
        if isinstance(buffer, list):
            return [guarded(b) for b in buffer]
        if type(buffer) is not np.ndarray:
            return buffer
        view = buffer.view()
        view.flags.writeable = False
        return view

    return [guarded(b) for b in buffers] if _Checks.are_on else list(buffers)


def refuse_writing(op: Op, device: Any, error: Exception) -> None:
    """Say what is wrong with a kernel that NumPy did not let write into what ``read_only`` gave.

    Raises:
        PluginError: that is what the error is about.
    """
    if isinstance(error, ValueError) and "read-only" in str(error) and _Checks.are_on:
        raise _broken_promise(op, device, "to leave its inputs as they are", "nothing, as it writes into an input") from error


def vetting_key(op: Op, dtypes_: list[DType], attrs: dict[str, Any], device: Any) -> Any:
    """What stands in ``vetted`` for a kernel on inputs of these dtypes."""
    return (op, device.name, tuple(dtypes_), tuple([attrs[name] for name in op.dtype_attrs]))


def check_results(op: Op, specs: list[Spec], result: Any, given: list[Any], device: Any) -> None:
    """Hold a kernel, the first time it runs for these dtypes, to what its contract promises.

    Args:
        op: the contract.
        specs: what inference says of the results.
        result: what the kernel gave.
        given: the arrays that it must not give back, unless the op says ``aliases``.
        device: that it ran on.

    Raises:
        PluginError: it gives something else than inference says, or memory of its inputs though the op does not say ``aliases``.
    """
    if not _Checks.are_on:
        return
    results = [result] if op.outputs == "one" else [] if op.outputs == "none" else result
    if not isinstance(results, list | tuple) or len(results) != len(specs):
        raise _broken_promise(op, device, f"{len(specs)} results, as a tuple or list", repr(result)[:80])
    for spec, buffer in zip(specs, results, strict=True):
        if not hasattr(spec.dtype, "numpy") or isinstance(buffer, list):
            continue
        shape, dtype = getattr(buffer, "shape", None), getattr(buffer, "dtype", None)
        if shape is None or dtype != spec.dtype.numpy:
            found = f"{type(buffer).__name__} {'' if dtype is None else f'of dtype {dtype}'}"
            raise _broken_promise(op, device, f"an array of dtype {spec.dtype.name}", found)
        fits = spec.dims is None or (
            len(spec.dims) == len(shape) and not any(isinstance(d, int) and d != n for d, n in zip(spec.dims, shape, strict=True))
        )
        if not fits:
            raise _broken_promise(op, device, f"the shape {spec.shape}", f"the shape {tuple(shape)}")
        if not op.aliases and isinstance(buffer, np.ndarray) and any(np.may_share_memory(buffer, b) for b in given):
            raise _broken_promise(op, device, "memory of its own (the op does not say aliases=True)", "memory of an input")


def _broken_promise(op: Op, device: Any, promised: str, found: str) -> PluginError:
    rows = registry.kernel_rows(op.name)
    row = rows.get(device.type) or rows.get("array")
    plugin = "?" if row is None else row.plugin
    return PluginError(
        f"the kernel of op {op.name!r} for {device.type} (plugin {plugin!r}) gives {found.strip()}, and its contract promises {promised}"
    )
