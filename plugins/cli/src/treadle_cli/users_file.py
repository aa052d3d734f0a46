"""The user's file: imported by its path, and the function in it that was asked for.

The file is imported under its own name, so its ``if __name__ == "__main__"`` does not run.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from importlib.machinery import SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from treadle.functions.concrete import ConcreteFunction
from treadle.functions.instances import BoundFunction
from treadle.functions.polymorphic import Function
from treadle_cli.failures import CommandError, users_program


class Target(NamedTuple):
    """``FILE.py:FUNCTION`` in its parts; ``name`` is empty if only a file was given."""

    file: str
    name: str


def split(text: str) -> Target:
    """Read ``FILE.py:FUNCTION``; the colon after a drive letter is none of ours."""
    file, colon, name = text.rpartition(":")
    if not colon or os.sep in name or (os.altsep or os.sep) in name:
        return Target(text, "")
    return Target(file, name)


def load(file: str) -> ModuleType:
    """Import a file by its path.

    Raises:
        CommandError: there is no such file.
        UserProgramError: it raised.
    """
    path = os.path.abspath(file)
    if not os.path.isfile(path):
        hint = "that is a folder, give a file in it" if os.path.isdir(path) else "give a Python file, as in `treadle explain model.py:step`"
        raise CommandError(f"there is no file {file!r}: {hint}")
    folder, name = os.path.dirname(path), os.path.basename(path).partition(".")[0]
    if name in sys.modules or name.startswith("treadle") or not name.isidentifier():
        name = f"explained_{name}"  # nothing of ours may be replaced, nor the user's lines be taken for ours
    loader = SourceFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look here
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as Python does for a program
    with users_program():
        loader.exec_module(module)
    return module


def find(module: ModuleType, file: str, name: str) -> Any:
    """The function called ``name`` (dots go into objects), or the only traced one of the file if no name was given.

    Raises:
        CommandError: there is none; the message lists what there is.
    """
    if not name:
        traced = _names(module, is_traced)
        if len(traced) == 1:
            return getattr(module, traced[0])
        raise CommandError(f"say which function of {file!r} to explain, as in `treadle explain {file}:NAME`; {_what_there_is(module)}")
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise CommandError(f"{file!r} has no {name!r}; {_what_there_is(module)}")
        found = getattr(found, part)
    if isinstance(found, type) or not callable(found):
        raise CommandError(f"{name!r} in {file!r} is {_kind(found)}, not a function; {_what_there_is(module)}")
    return found


def is_traced(thing: Any) -> bool:
    """True for what ``td.function`` makes, and for one trace of it."""
    return isinstance(thing, Function | BoundFunction | ConcreteFunction)


def _names(module: ModuleType, is_wanted: Any) -> list[str]:
    return [name for name, thing in vars(module).items() if is_wanted(thing) and not name.startswith("__")]


def _what_there_is(module: ModuleType) -> str:
    traced = _names(module, is_traced)
    plain = _names(module, lambda thing: isinstance(thing, FunctionType) and inspect.getmodule(thing) is module)
    told = []
    if traced:
        told.append(f"traced functions: {', '.join(traced)}")
    if plain:
        told.append(f"plain functions, which need --spec: {', '.join(plain)}")
    return "; ".join(told) or "it defines no function"


def _kind(thing: Any) -> str:
    return "a class" if isinstance(thing, type) else f"a value of type {type(thing).__name__}"
