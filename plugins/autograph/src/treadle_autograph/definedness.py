"""Reading variables that may have no value, and the op that refuses to if a tensor does not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import plugins
from treadle.declare import BoolSpec, kernel, op
from treadle_autograph.cells import Maybe
from treadle_autograph.errors import UndefinedVariableError
from treadle_autograph.outside import around


def defined(value: Any) -> Any:
    """The value of a variable that is read; if it may be undefined, with an assertion that it is not."""
    if type(value) is not Maybe:
        return value
    plugins.host.load_ops("autograph")
    assert_defined(value.is_there, message=undefined_message(value.name, value.where))
    return value.value


def read(variable: Callable[[Any], Any]) -> Any:
    """The value of the variable that a lambda gives, where a part of a branch or loop reads it before it surely has one.

    Raises:
        UndefinedVariableError: it has none, on no way.
    """
    try:
        value = variable(None)
    except NameError:
        (name,) = variable.__code__.co_freevars
        for before in around():
            before.missed.add(name)
        raise UndefinedVariableError(undefined_message(name)) from None
    return defined(value)


def undefined_message(name: str, where: str | None = None) -> str:
    """What is said when a variable without a value is read, which a branch or loop may have left so."""
    reason = "" if where is None else f": the branch or loop at {where} did not set it"
    return f"cannot access local variable {name!r} where it is not associated with a value{reason}"


@op("autograph.assert_defined", effect="writes", can_fail=True)
def assert_defined(is_there: BoolSpec, *, message: str) -> None:
    """Fail unless a variable has a value."""


@kernel("autograph.assert_defined")
def _(xp: Any) -> Any:
    def run(is_there: Any, *, message: str) -> None:
        if not bool(is_there):
            raise UndefinedVariableError(message)

    return run
