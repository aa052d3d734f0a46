"""The plugin ``autograph``: the namespace ``td.autograph``."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the public functions."""
    registry.add_ops("treadle_autograph.api")
