"""What the kernel asks of ops: Python's operators, and the few functions that differentiation and conversion need."""

from __future__ import annotations

from typing import Any

from treadle_ops.broadcasting import broadcast_to_op
from treadle_ops.casting import cast
from treadle_ops.creation import ones_like, zeros, zeros_like
from treadle_ops.elementwise import add, multiply, negative, subtract
from treadle_ops.flow import identity
from treadle_ops.indexing import getitem, set_item
from treadle_ops.joining import stack
from treadle_ops.one_hot import unit_vector
from treadle_ops.products import matmul
from treadle_ops.shaping import reshape


def reflected(function: Any) -> Any:
    """The operator with its operands the other way round."""

    def operator(x: Any, y: Any) -> Any:
        return function(y, x)

    return operator


ROLES: dict[str, Any] = {
    "__add__": add,
    "__radd__": reflected(add),
    "__sub__": subtract,
    "__rsub__": reflected(subtract),
    "__mul__": multiply,
    "__rmul__": reflected(multiply),
    "__matmul__": matmul,
    "__rmatmul__": reflected(matmul),
    "__neg__": negative,
    "__getitem__": getitem,
    "accumulate": add,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "zeros": zeros,
    "stack": stack,
    "reshape": reshape,
    "broadcast_to": broadcast_to_op,
    "cast": cast,
    "identity": identity,
    "set_item": set_item,
    "one_hot": unit_vector,
}

