"""Truth: of Python values at once, of tensors as bool scalars; and the operators on it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from treadle.dtypes import bool as bool_dtype
from treadle.errors import SymbolicTensorError
from treadle.inspection import get_static_value
from treadle.registry import registry
from treadle.state import recording
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_autograph.cells import Variables
from treadle_autograph.errors import NotStagedError
from treadle_autograph.fstrings import Text
from treadle_autograph.staging import Arm, branch, join, trace_arm
from treadle_autograph.symbols import symbolic
from treadle_autograph.values import dtype_of, is_bool, is_number

Lazy = Callable[[Any], Any]
_PLAIN = frozenset({bool, int, float, str, type(None)})
"""Classes of what is surely no tensor."""


def truth(value: Any) -> Any:
    """Whether a value is true: a Python bool where that is known, else a bool scalar tensor."""
    result = loop_truth(value)
    if result is True or result is False:
        return result
    known = get_static_value(result)
    return result if known is None else bool(known)


def loop_truth(value: Any) -> Any:
    """As ``truth``, but always a tensor for a tensor: that it is known before the first turn says nothing of the others."""
    tensor = symbolic(value)
    if tensor is None:
        return bool(value)
    if tensor.shape.rank != 0:
        count = tensor.shape.num_elements()
        if count is not None and count != 1:
            raise ValueError(
                f"the truth value of a tensor of shape {tensor.shape} is ambiguous; use td.reduce_any() or td.reduce_all(), "
                "or td.logical_and() for a chained comparison"
            )
        tensor = registry.role("reshape")(tensor, [])
    return tensor if tensor.dtype.is_bool else registry.role("cast")(tensor, bool_dtype)


def and_(value: Any, rest: Lazy, shared: Any = None) -> Any:
    """``value and rest``; ``shared`` has the variables that calling a function in ``rest`` may bind."""
    return _logic(value, rest, True, shared)


def or_(value: Any, rest: Lazy, shared: Any = None) -> Any:
    """``value or rest``."""
    return _logic(value, rest, False, shared)


def _logic(value: Any, rest: Lazy, is_and: bool, shared: Any) -> Any:
    """The second operand if the first one's truth is ``is_and``, else the first one."""
    if symbolic(value) is None:
        return rest(None) if bool(value) is is_and else value
    condition = truth(value)
    if condition is True or condition is False:
        return rest(None) if condition is is_and else value
    where = place_of(rest)
    return logic(condition, lambda: rest(None), is_and, _bound_by_calls(shared, where), where, value)


def _bound_by_calls(shared: Any, where: str) -> Variables | None:
    return None if shared is None else Variables(shared, shared.__code__.co_freevars, (), where)


def logic(condition: Any, rest: Callable[[], Any], is_and: bool, variables: Variables | None, where: str, value: Any = None) -> Any:
    """``condition and rest()`` or ``condition or rest()``, for a bool scalar tensor.

    A logical op will do where the second operand is a bool scalar too and nobody could tell that it was computed for nothing. Of a bool and a number,
    the bool becomes 0 or 1, which in Python it is.

    Args:
        condition: the first operand's truth.
        rest: computes the second operand.
        is_and: which of the two it is.
        variables: that ``rest`` may bind.
        where: it stands.
        value: the first operand itself, ``condition`` by default.
    """
    value = condition if value is None else value
    before = [] if variables is None else variables.read()
    second = trace_arm(rest, variables, "second operand")
    *after, other = second.values
    if condition is value and second.is_harmless and all(a is b for a, b in zip(before, after, strict=True)):
        if other is True or other is False:
            return condition if other is is_and else other
        if isinstance(other, SymbolicTensor) and other.dtype.is_bool and other.shape.rank == 0:
            (computed,) = second.function(lambda: [other]).call([])
            return registry.role("__and__" if is_and else "__or__")(condition, computed)
    if is_bool(value) and is_number(other):
        value = int(not is_and)
    elif is_number(value) and is_bool(other):
        with recording(second.graph):
            second = Arm(second.graph, [*after, registry.role("cast")(other, dtype_of(value))])
    first = trace_arm(lambda: value, variables, "first operand")
    taken, not_taken = (second, first) if is_and else (first, second)
    return join(condition, taken, not_taken, variables, f"the value of `{'and' if is_and else 'or'}`", where)


def not_(value: Any) -> Any:
    """``not value``."""
    result = truth(value)
    return not result if result is True or result is False else registry.role("__invert__")(result)


def in_(item: Any, container: Any) -> Any:
    """``item in container``: in a list or tuple, whether any comparison with ``==`` holds, which may be a tensor."""
    try:
        return item in container
    except SymbolicTensorError:
        if not isinstance(container, list | tuple):
            raise
    return _is_any(item, container)


def not_in(item: Any, container: Any) -> Any:
    """``item not in container``."""
    try:
        return item not in container
    except SymbolicTensorError:
        if not isinstance(container, list | tuple):
            raise
    return not_(_is_any(item, container))


def _is_any(item: Any, others: Iterable[Any]) -> Any:
    found: Any = False
    for other in others:
        is_equal = item is other or truth(item == other)
        if is_equal is True:
            return True
        if is_equal is not False:
            found = is_equal if found is False else registry.role("__or__")(found, is_equal)
    return found


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": in_,
    "not in": not_in,
}


def chain(shared: Any, left: Any, sign: str, right: Any, *more: Any) -> Any:
    """A chained comparison: of the operands after the second one each is lazy, computed only if all comparisons before it hold."""
    result = _COMPARISONS[sign](left, right)
    if not more:
        return result
    following, operand, *rest = more
    return and_(result, lambda _: chain(shared, right, following, operand(None), *rest), shared)


def if_exp(condition: Any, body: Lazy, orelse: Lazy, shared: Any = None) -> Any:
    """``body if condition else orelse``."""
    result = truth(condition)
    if result is True or result is False:
        return (body if result else orelse)(None)
    where = place_of(body)
    return branch(result, (lambda: body(None), lambda: orelse(None)), _bound_by_calls(shared, where), "the value of the ternary", where)


def place_of(function: Any) -> str:
    """Where a generated function stands in the user's file."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def decided(condition: Any) -> Any:
    """A condition that Python itself acts on: a Python value, or what is known of a tensor.

    Raises:
        NotStagedError: it depends on a tensor.
    """
    if type(condition) in _PLAIN or symbolic(condition) is None:
        return condition
    result = truth(condition)
    if result is True or result is False:
        return result
    raise NotStagedError(
        "this condition depends on a tensor that has no value while tracing, which cannot be in the filter of a comprehension, in `filter`, in the "
        "guard of a `case`, or before a `:=` that may not run. Use td.boolean_mask, td.where or td.map_fn instead of the comprehension, or an `if` "
        "statement"
    )


def assert_(condition: Any, message: Lazy) -> Any:
    """What an ``assert`` tests: True for a tensor, whose assertion becomes part of the graph."""
    if condition is True or condition is False or symbolic(condition) is None:
        return condition
    result = truth(condition)
    if result is True or result is False:
        return result
    import treadle as td

    text = message(None)
    if isinstance(text, Text):
        data: list[Any] = text.data
    else:
        data = list(text) if isinstance(text, list | tuple) else [text] if text is not None else ["assertion failed"]
    td.debugging.Assert(result, [item if isinstance(item, Tensor | Variable) else str(item) for item in data])
    return True
