"""TensorFlow's switches of how ops are executed; treadle runs ops at once, in the caller's thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treadle.declare import public


@public("experimental.async_scope")
@contextmanager
def async_scope() -> Iterator[None]:
    """Without effect: ops inside the ``with`` are done when they return, as everywhere, and raise where they are called.

    Sources:
        TensorFlow ``tf.experimental.async_scope``.
    """
    yield


@public("experimental.async_clear_error")
def async_clear_error() -> None:
    """Without effect: an error is raised by the call that it belongs to, so none is pending.

    Sources:
        TensorFlow ``tf.experimental.async_clear_error``.
    """


@public("experimental.function_executor_type")
@contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Without effect: there is one way to run a plan.

    Args:
        executor_type: ignored.

    Sources:
        TensorFlow ``tf.experimental.function_executor_type``.
    """
    yield


@public("experimental.enable_strict_mode")
def enable_strict_mode() -> None:
    """Without effect: treadle offers none of what TensorFlow's strict mode forbids as deprecated.

    Sources:
        TensorFlow ``tf.experimental.enable_strict_mode``.
    """
