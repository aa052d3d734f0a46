"""Variables that have a value only if a tensor holds, and the op that refuses to read them if it does not."""

from __future__ import annotations

from typing import Any

from treadle import plugins
from treadle.declare import BoolSpec, kernel, op
from treadle_autograph.errors import UndefinedVariableError


class Maybe:
    """A value that is there only if a tensor holds; ``defined`` reads it.

    Attributes:
        value: the value, of no meaning if it is not there.
        is_there: a bool scalar tensor.
        name: of the variable.
        where: the branch or loop that may have left it undefined.
    """

    __slots__ = ("is_there", "name", "value", "where")

    def __init__(self, value: Any, is_there: Any, name: str, where: str) -> None:
        self.value = value
        self.is_there = is_there
        self.name = name
        self.where = where


def defined(value: Any) -> Any:
    """The value of a variable that is read; if it may be undefined, with an assertion that it is not."""
    if type(value) is not Maybe:
        return value
    plugins.host.load_ops("autograph")
    assert_defined(value.is_there, message=undefined_message(value.name, value.where))
    return value.value


def undefined_message(name: str, where: str) -> str:
    """What is said when a variable without a value is read."""
    return f"cannot access local variable {name!r} where it is not associated with a value: the branch or loop at {where} did not set it"


@op("autograph.assert_defined", effect="writes", can_fail=True)
def assert_defined(is_there: BoolSpec, *, message: str) -> None:
    """Fail unless a variable has a value."""


@kernel("autograph.assert_defined")
def _(xp: Any) -> Any:
    def run(is_there: Any, *, message: str) -> None:
        if not bool(is_there):
            raise UndefinedVariableError(message)

    return run
