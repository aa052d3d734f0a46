"""The plugin ``autograph``: the namespace ``td.autograph``, and the op that refuses variables without a value."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the public functions, the op and its kernel."""
    registry.add_ops("treadle_autograph.api", "treadle_autograph.definedness")
    registry.add_kernels(for_="array", module="treadle_autograph.definedness")
