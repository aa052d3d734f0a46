"""What ``td.debugging`` switches, and ops that do nothing: ``group`` and ``no_op``."""

from __future__ import annotations

import sys
from typing import Any

from treadle import state
from treadle.declare import public
from treadle.state import LOCAL
from treadle_ops.assertions import check_numerics_op


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


# ---------------------------------------------------------------------- observers of every op


class Observer:
    """Sees every op that this thread runs, from the place of a tape that watches nothing."""

    _watched: frozenset[int] = frozenset()

    def record_op(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: list[Any]) -> None:
        """Note the results of an op."""

    def record_call(self, name: str, inputs: list[Any], outputs: list[Any], pull: Any, zeros: bool = True) -> bool:
        """A call with a gradient of its own: nothing that is watched here."""
        return False

    def is_watching(self, things: list[Any]) -> bool:
        """Never."""
        return False

    def record_read(self, variable: Any, tensor: Any) -> None:
        """A read of a Variable: nothing to see."""

    def touch(self, variable: Any) -> None:
        """A Variable that a function reads: nothing to see."""

    def start(self) -> None:
        """Begin to see what this thread does."""
        if self not in LOCAL.tapes:
            state.enter()
            LOCAL.tapes = (self, *LOCAL.tapes)

    def stop(self) -> None:
        """See no more."""
        if self in LOCAL.tapes:
            LOCAL.tapes = tuple(t for t in LOCAL.tapes if t is not self)
            state.leave()


class _NumericsChecker(Observer):
    def record_op(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: list[Any]) -> None:
        if op is check_numerics_op.op:
            return
        with state.untaped():
            for i, output in enumerate(outputs):
                if output.dtype.is_floating:
                    check_numerics_op(output, message=f"output {i} of op {op.name!r}")


class _PlacementLogger(Observer):
    def record_op(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: list[Any]) -> None:
        if outputs:
            print(f"Executing op {op.name} in device {outputs[0].device}", file=sys.stderr)


_checker = _NumericsChecker()
_logger = _PlacementLogger()


@public("debugging.enable_check_numerics")
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Check the result of every op that this thread runs eagerly for NaN and infinities; the first one raises InvalidArgumentError.

    Args:
        stack_height_limit: ignored.
        path_length_limit: ignored.

    Sources:
        TensorFlow ``tf.debugging.enable_check_numerics``; ops inside traced functions are not checked.
    """
    _checker.start()


@public("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Check no more; see ``enable_check_numerics``."""
    _checker.stop()


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


# ---------------------------------------------------------------------- ops that do nothing


@public("no_op")
def no_op(name: str | None = None) -> None:
    """Do nothing.

    Args:
        name: ignored.
    """


@public("group")
def group(*inputs: Any, **kwargs: Any) -> None:
    """Do nothing: what the inputs stand for runs in program order anyway.

    Args:
        *inputs: tensors, or what assertions and assignments gave.
        name: ignored.

    Raises:
        ValueError: there is another keyword argument.

    Sources:
        TensorFlow ``tf.group``.
    """
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
