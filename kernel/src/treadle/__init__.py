"""treadle: TensorFlow 2's execution model as a microkernel. ``import treadle as td``.

Every public name is found when it is first used, so importing costs little; see ``treadle.public`` for how.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as _numpy  # noqa: F401  from here: deep inside our own imports CPython 3.11 takes a quarter longer for it

from treadle import public
from treadle.version import __version__

_MODULES = frozenset(entry.name.partition(".")[0] for entry in os.scandir(os.path.dirname(__file__)))
"""The kernel's own modules: ``from treadle import dims`` must not look for a public name first."""

__all__ = ["__version__", "newaxis"]

newaxis = None
"""As in NumPy and TensorFlow: a new axis in an index."""

public.extend("dtypes")
sys.meta_path.append(public.Finder())


def __getattr__(name: str) -> Any:
    if name.startswith("__") or (name in _MODULES and name not in public.OWN):
        raise AttributeError(f"module 'treadle' has no attribute {name!r}")
    thing = public.lookup(name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted({*public.names_under(""), *__all__})
