"""The public function that a program has called, for messages. It is looked for on the stack, and only when something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from treadle.errors import OpError, prefix
from treadle.registry import registry

_PACKAGES = ("treadle", "treadle_ops")


def subject() -> str:
    """How a message begins: the public path of the function called and a colon; nothing outside of one."""
    call = _call()
    return "" if call is None else f"{call[0]}: "


def blame(error: Exception, value: Any) -> None:
    """Say in an error's message which argument of the function called the value is.

    Args:
        error: an error about ``value`` that names neither.
        value: what was given.
    """
    call = _call()
    if call is not None:
        path, frame = call
        code = frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        name = next((n for n in arguments if frame.f_locals.get(n) is value), None)
        prefix(error, path if name is None else f"{path}: argument {name!r}")


def checked(check: Callable[..., Any], *args: Any) -> Any:
    """What a check of inference gives for a public function, which what it raises then names."""
    try:
        return check(*args)
    except OpError as error:
        call = _call()
        if call is not None:
            prefix(error, call[0])
        raise


def _call() -> tuple[str, FrameType] | None:
    """The outermost public function that is not called by other code in turn, and its frame."""
    paths = _functions()
    found = None
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _PACKAGES:
        for path, function in paths.get(frame.f_code, ()):
            if _is_call_of(function, frame):
                found = path, frame
                break
        frame = frame.f_back
    return found


def _functions() -> dict[Any, list[tuple[str, Any]]]:
    """Code to the public functions with that code, which are several where a function makes them."""
    found: dict[Any, list[tuple[str, Any]]] = {}
    for path, entry in registry.names.items():
        if entry.is_loaded and hasattr(entry.value, "__code__"):
            found.setdefault(entry.value.__code__, []).append((path, entry.value))
    return found


def _is_call_of(function: Any, frame: FrameType) -> bool:
    """Whether a frame with the code of a function is a call of that very one: what it closes over tells."""
    names = function.__code__.co_freevars
    return all(frame.f_locals.get(name) is cell.cell_contents for name, cell in zip(names, function.__closure__ or (), strict=True))
