"""What may stand among the control inputs of ``td.control_dependencies`` and ``td.group``."""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.graph.graph import Node
from treadle.tensor import Operators


def control_inputs_in(things: Any) -> list[Any]:
    """The nodes, tensors and Variables in a structure; None stands for what was done at once.

    Raises:
        TypeError: there is something else.
    """
    found = [thing for thing in nest.flatten(things, expand_composites=True) if thing is not None]
    for thing in found:
        if not isinstance(thing, Node | Operators):
            raise TypeError(f"a control input must be a tensor or what an op of the graph gave; got {thing!r} ({type(thing).__name__})")
    return found
