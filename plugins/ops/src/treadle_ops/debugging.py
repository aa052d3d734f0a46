"""What ``td.debugging`` switches."""

from __future__ import annotations

import sys
from typing import Any

from treadle.declare import public
from treadle.state import LOCAL
from treadle.tracebacks import is_filtering, set_filtering
from treadle_ops.observers import Observer


@public("debugging.enable_traceback_filtering")
def enable_traceback_filtering() -> None:
    """Show only the user's lines in the tracebacks of exceptions that leave traced functions, as is the case until it is disabled.

    Sources:
        TensorFlow ``tf.debugging.enable_traceback_filtering``.
    """
    set_filtering(True)


@public("debugging.disable_traceback_filtering")
def disable_traceback_filtering() -> None:
    """Show whole tracebacks, with the lines of treadle and its plugins.

    Sources:
        TensorFlow ``tf.debugging.disable_traceback_filtering``.
    """
    set_filtering(False)


@public("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled() -> bool:
    """Whether tracebacks show only the user's lines.

    Sources:
        TensorFlow ``tf.debugging.is_traceback_filtering_enabled``.
    """
    return is_filtering()


# ---------------------------------------------------------------------- where ops run


class _PlacementLogger(Observer):
    def record_op(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: list[Any]) -> None:
        if outputs:
            print(f"Executing op {op.name} in device {outputs[0].device}", file=sys.stderr)


_logger = _PlacementLogger()


@public("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Write to stderr on which device each op of this thread runs eagerly.

    Args:
        enabled: whether to.
    """
    if enabled:
        _logger.start()
    else:
        _logger.stop()


@public("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether ``set_log_device_placement`` switched it on."""
    return _logger in LOCAL.tapes
