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
def treadle_explain_condition(code: Any, module: dict[str, Any]) -> str:
    """Why the function was not converted, or what in it only Python decides."""
    from treadle_autograph.convert import why_python_decides

    return why_python_decides(code, module)
