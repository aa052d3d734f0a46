"""The hooks that a plugin may implement. pluggy carries them; none is called on a hot path."""

from __future__ import annotations

from typing import Any

import pluggy

PROJECT = "treadle"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(historic=True)
def treadle_register(registry: Any) -> None:
    """Register ops, kernels, devices, passes and roles, inside a transaction: what raises leaves nothing behind."""


@hookspec
def treadle_trace_finished(function: Any, concrete: Any, seconds: float) -> None:
    """A function was traced for a new signature."""


@hookspec
def treadle_pass_finished(report: Any) -> None:
    """An optimizer pass has run over a graph."""


@hookspec
def treadle_device_opened(device: Any) -> None:
    """A device was used for the first time."""


@hookspec
def treadle_explain_condition(code: Any, module: dict[str, Any]) -> str | None:
    """Why Python, and not the graph, was to decide a condition that is a tensor: a note to the error, or None.

    Args:
        code: of the function with the condition.
        module: its globals.
    """
