"""What the kernel asks of ops, by module and name: Python's operators, and the few functions that differentiation and conversion need."""

from __future__ import annotations

_BINARY = {
    "add": "elementwise:add",
    "sub": "elementwise:subtract",
    "mul": "elementwise:multiply",
    "truediv": "division:divide",
    "floordiv": "division:floordiv",
    "mod": "division:floormod",
    "pow": "powers:pow",
    "matmul": "products:matmul",
}
"""Python's name of an operator to the function of its two operands."""

_OTHERS = {
    "__and__": "logic:and_operator",
    "__rand__": "logic:and_operator",
    "__or__": "logic:or_operator",
    "__ror__": "logic:or_operator",
    "__xor__": "logic:xor_operator",
    "__rxor__": "logic:xor_operator",
    "__lt__": "comparison:less",
    "__le__": "comparison:less_equal",
    "__gt__": "comparison:greater",
    "__ge__": "comparison:greater_equal",
    "__eq__": "comparison:is_equal",
    "__ne__": "comparison:is_not_equal",
    "__neg__": "elementwise:negative",
    "__pos__": "flow:identity",
    "__abs__": "signs:absolute",
    "__invert__": "logic:invert_operator",
    "__round__": "rounding:round_operator",
    "__getitem__": "indexing:getitem",
    "accumulate": "accumulation:accumulate",
    "dense_rows": "gathering:dense_rows",
    "scatter_rows": "row_scattering:scatter_rows",
    "zeros_like": "tensor_lists:zeros_like",
    "ones_like": "creation:ones_like",
    "zeros": "tensor_lists:zeros",
    "fill_list": "tensor_lists:tensor_list_fill",
    "list_of_one": "tensor_lists:list_of_one",
    "only_element": "tensor_lists:only_element",
    "stack": "joining:stack",
    "shape": "shaping:shape",
    "concat": "joining:concat",
    "for_each": "counted_maps:for_each",
    "reshape": "shaping:reshape",
    "transpose": "shaping:transpose_op",
    "vectorized_map": "vectorization:vectorized_map",
    "ensure_shape": "shaping:ensure_shape",
    "broadcast_to": "broadcasting:broadcast_to_op",
    "cast": "casting:cast",
    "identity": "flow:identity",
    "set_item": "indexing:set_item",
    "one_hot": "one_hot:unit_vector",
    "require": "assertions:assert_",
    "session_streams": "random_state:session_streams",
    "explain_missing": "missing_names:explain_missing",
}

ROLES = {
    role: f"treadle_ops.{place}"
    for role, place in {
        **{f"__{name}__": place for name, place in _BINARY.items()},
        **{f"__r{name}__": f"reflected:{name}" for name in _BINARY},
        **_OTHERS,
    }.items()
}
"""Role to ``module:name``, imported when the role is first needed."""
