"""What ``td.debugging`` switches."""

from __future__ import annotations

import sys
from typing import Any

from treadle.declare import public
from treadle.state import LOCAL
from treadle_ops.observers import Observer


class _Switches:
    """What is switched on, by the names of the public functions."""

    def __init__(self) -> None:
        self.filters_tracebacks = True


_switches = _Switches()


@public("debugging.enable_traceback_filtering")
def enable_traceback_filtering() -> None:
    """Ask for tracebacks without frames of the library; kept for ``is_traceback_filtering_enabled``, as errors name the user's line anyway."""
    _switches.filters_tracebacks = True


@public("debugging.disable_traceback_filtering")
def disable_traceback_filtering() -> None:
    """Ask for whole tracebacks, which is what there is."""
    _switches.filters_tracebacks = False


@public("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled() -> bool:
    """Whether filtering is asked for; it is until it is disabled."""
    return _switches.filters_tracebacks


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
