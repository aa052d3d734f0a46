"""treadle: TensorFlow 2's execution model as a microkernel. ``import treadle as td``.

Every public name is found when it is first used, so importing costs little; see ``treadle.public`` for how.
"""

from __future__ import annotations

import sys
from typing import Any

from treadle import autodiff, dtypes, errors, nest, public
from treadle.conversion import constant, convert_to_tensor
from treadle.functions.polymorphic import function
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle.version import __version__

__all__ = ["Tensor", "Variable", "__version__", "autodiff", "constant", "convert_to_tensor", "dtypes", "errors", "function", "nest"]

newaxis = None
"""As in NumPy and TensorFlow: a new axis in an index."""

for _name in ("dtypes", "errors", "nest", "autodiff"):
    public.add_to_module(_name)
sys.meta_path.append(public.Finder())


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'treadle' has no attribute {name!r}")
    thing = public.lookup(name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted({*public.names_under(""), "__version__", "newaxis"})
