"""The plugin ``autograph``: the namespace ``td.autograph``, and the ops that refuse variables without a value and raise exceptions."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the public functions, the ops and their kernels."""
    registry.add_ops("treadle_autograph.api", "treadle_autograph.definedness", "treadle_autograph.raising")
    registry.add_kernels(for_="array", module="treadle_autograph.definedness")
    registry.add_kernels(for_="array", module="treadle_autograph.raising")


@hookimpl
def treadle_explain_unconverted(code: Any, module: dict[str, Any]) -> str | None:
    """Why a function that asked a symbolic tensor for its truth was not converted."""
    from treadle_autograph.convert import why_as_written

    return why_as_written(code, module)
