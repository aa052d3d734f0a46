"""What the kernel asks of ops: Python's operators, and the few functions that differentiation and conversion need."""

from __future__ import annotations

from typing import Any

from treadle_ops.broadcasting import broadcast_to_op
from treadle_ops.casting import cast
from treadle_ops.comparison import greater, greater_equal, is_equal, is_not_equal, less, less_equal
from treadle_ops.creation import ones_like, zeros, zeros_like
from treadle_ops.division import divide, floordiv, floormod
from treadle_ops.elementwise import add, multiply, negative, subtract
from treadle_ops.flow import identity
from treadle_ops.indexing import getitem, set_item
from treadle_ops.joining import stack
from treadle_ops.logic import and_operator, invert_operator, or_operator, xor_operator
from treadle_ops.one_hot import unit_vector
from treadle_ops.powers import pow as power
from treadle_ops.products import matmul
from treadle_ops.rounding import round_operator
from treadle_ops.shaping import reshape
from treadle_ops.signs import absolute


def reflected(function: Any) -> Any:
    """The operator with its operands the other way round."""

    def operator(x: Any, y: Any) -> Any:
        return function(y, x)

    return operator


BINARY: dict[str, Any] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": floordiv,
    "mod": floormod,
    "pow": power,
    "matmul": matmul,
}
"""Python's name of an operator to the function of its two operands."""

ROLES: dict[str, Any] = {
    **{f"__{name}__": function for name, function in BINARY.items()},
    **{f"__r{name}__": reflected(function) for name, function in BINARY.items()},
    "__and__": and_operator,
    "__rand__": and_operator,
    "__or__": or_operator,
    "__ror__": or_operator,
    "__xor__": xor_operator,
    "__rxor__": xor_operator,
    "__lt__": less,
    "__le__": less_equal,
    "__gt__": greater,
    "__ge__": greater_equal,
    "__eq__": is_equal,
    "__ne__": is_not_equal,
    "__neg__": negative,
    "__pos__": identity,
    "__abs__": absolute,
    "__invert__": invert_operator,
    "__round__": round_operator,
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
