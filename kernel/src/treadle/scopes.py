"""Questions and scopes about how the program runs now: eagerly or being traced, and under which name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treadle import state
from treadle.state import LOCAL


def executing_eagerly() -> bool:
    """True outside traces, where ops run at once."""
    return LOCAL.graph is None


@contextmanager
def init_scope() -> Iterator[None]:
    """Leave the trace for a moment: ops inside run at once (TensorFlow's ``tf.init_scope``)."""
    if LOCAL.graph is None:
        yield
        return
    with state.recording(None):
        yield


class name_scope:
    """Put a prefix before names (TensorFlow's ``tf.name_scope``); for reading only, nothing depends on it.

    Args:
        name: of the scope.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._outer: list[str] = []

    @property
    def name(self) -> str:
        """The scope's name."""
        return self._name

    def __enter__(self) -> str:
        self._outer.append(LOCAL.name_scope)
        LOCAL.name_scope = f"{LOCAL.name_scope}{self._name}/"
        return LOCAL.name_scope

    def __exit__(self, *exc_info: object) -> None:
        LOCAL.name_scope = self._outer.pop()


def get_current_name_scope() -> str:
    """The name of the scope, without a closing slash."""
    return LOCAL.name_scope.rstrip("/")
