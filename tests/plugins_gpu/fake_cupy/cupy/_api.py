"""What CuPy really has, as recorded by ``record_cupy_api.py``: the stand-in offers no other name, parameter or loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

API: dict[str, Any] = json.loads((Path(__file__).parent / "api.json").read_text())


class NotPlayedError(NotImplementedError):
    """CuPy has it, and the stand-in does not play it yet."""


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def missing(module: str, name: str) -> NoReturn:
    """The error for a name that the stand-in does not have: its own fault, or CuPy's."""
    if name in API["modules"].get(module, ()):
        raise NotPlayedError(f"CuPy has {module}.{name}, and the stand-in in tests/plugins_gpu/fake_cupy does not play it yet: add it there")
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def only_known(path: str, kwargs: dict[str, Any]) -> None:
    """Refuse keywords that CuPy's function lacks."""
    parameters = API["parameters"].get(path)
    if parameters is None or "kwargs" in parameters:
        return
    for name in kwargs:
        if name not in parameters:
            raise TypeError(f"{path.rpartition('.')[2]}() got an unexpected keyword argument {name!r}")
