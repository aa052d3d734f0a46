"""Assertions on values: checked each time the program gets there, never moved, merged or dropped.

What can be decided while tracing (both sides are constants, a rank, a dtype) is decided then. What only looks at shapes is in ``shape_assertions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from treadle.contracts.spec import Spec
from treadle.declare import BoolSpec, FreeSpec, gradient, op, public
from treadle.dtypes import float64
from treadle.errors import InvalidArgumentError
from treadle.inspection import get_static_value
from treadle.state import LOCAL
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_ops.arguments import tensor
from treadle_ops.inference import ANY, FLOATING, NUMERIC, REAL, broadcast, require_kind, require_rank, same_dtype
from treadle_ops.print_format import Placeholder, array_text
from treadle_ops.program_order import no_op

SHOWN = 3
"""How many elements an error shows."""


class AssertionFailedError(InvalidArgumentError, AssertionError, TypeError):
    """An assertion does not hold. It is a TypeError too, which is what TensorFlow raises where a traced function gives an assertion back."""


def _comparison(name: str, kinds: str = ANY) -> Any:
    def infer(x: Spec, y: Spec, *, message: str, summarize: int) -> None:
        same_dtype(x, y, kinds=kinds)
        broadcast(x, y)

    infer.__doc__ = f"Fail unless ``x {RELATIONS[name][0]} y`` everywhere."
    return op(name, effect="writes", can_fail=True)(infer)


RELATIONS: dict[str, tuple[str, Any]] = {
    "assert_equal": ("==", np.equal),
    "assert_none_equal": ("!=", np.not_equal),
    "assert_less": ("<", np.less),
    "assert_less_equal": ("<=", np.less_equal),
    "assert_greater": (">", np.greater),
    "assert_greater_equal": (">=", np.greater_equal),
}
"""Op name to its sign and to the function that decides."""

assert_equal_op = _comparison("assert_equal")
assert_none_equal_op = _comparison("assert_none_equal")
assert_less_op = _comparison("assert_less", REAL)
assert_less_equal_op = _comparison("assert_less_equal", REAL)
assert_greater_op = _comparison("assert_greater", REAL)
assert_greater_equal_op = _comparison("assert_greater_equal", REAL)


@op("assert_near", effect="writes", can_fail=True)
def assert_near_op(x: Spec, y: Spec, rtol: Spec, atol: Spec, *, message: str, summarize: int) -> None:
    """Fail unless ``|x - y| <= atol + rtol * |y|`` everywhere."""
    same_dtype(x, y, kinds=NUMERIC)
    broadcast(x, y, rtol, atol)


@op("assert", effect="writes", can_fail=True)
def assert_op(condition: BoolSpec, data: Sequence[FreeSpec], *, pieces: tuple[Any, ...], summarize: int) -> None:
    """Fail unless the condition is true, showing the data."""
    require_kind(condition, "b", "condition")
    require_rank(condition, 0, "condition")


@op("check_numerics", effect="writes", aliases=True, can_fail=True)
def check_numerics_op(x: Spec, *, message: str) -> Spec:
    """The same value, if it has no NaN and no infinity."""
    return Spec(x.dims, require_kind(x, FLOATING, "tensor"))


@gradient(check_numerics_op)
def _(ctx: Any, g: Any) -> Any:
    return check_numerics_op(g, message=f"Not a number (NaN) or infinity (Inf) values detected in gradient. {ctx.message}")


def failure(sign: str, message: str, x: Any, y: Any, holds: Any, summarize: int) -> AssertionFailedError:
    """The error of a comparison of two host arrays, with the first elements that differ."""
    count = SHOWN if summarize is None else x.size + y.size if summarize < 0 else summarize
    lines = [*([message] if message else []), f"Condition x {sign} y did not hold."]
    if count and x.shape == y.shape and x.ndim:
        wrong = np.argwhere(~holds)[:count]
        at = tuple(wrong.T)
        lines += [f"Indices of first {len(wrong)} different values:", str(wrong.tolist())]
        lines += ["Corresponding x values:", array_text(x[at], -1), "Corresponding y values:", array_text(y[at], -1)]
    if count:
        for what, value in (("x", x), ("y", y)):
            shown = value.reshape(-1)[:count]
            lines += [f"First {shown.size} elements of {what}:", array_text(shown, -1)]
    return AssertionFailedError("\n".join(lines))


def _compare(entry: Any, x: Any, y: Any, message: str | None, summarize: int | None) -> Any:
    if x is y and entry is assert_equal_op:
        return no_op()
    x, y = (x, tensor(y, x)) if isinstance(x, Tensor | Variable) else (tensor(x, y) if isinstance(y, Tensor | Variable) else tensor(x), y)
    if LOCAL.graph is not None:
        _decide_now(entry.op.name, x, y, message or "", summarize)
    return entry(x, y, message=message or "", summarize=summarize)


def _decide_now(name: str, x: Any, y: Any, message: str, summarize: int | None) -> None:
    known = [get_static_value(t) if not isinstance(t, Variable) else None for t in (x, y)]
    if any(k is None for k in known):
        return
    sign, relation = RELATIONS[name]
    a, b = (np.asarray(k) for k in known)
    holds = relation(a, b)
    if not np.all(holds):
        raise failure(sign, message, a, b, holds, summarize)


_DOC = """Fail with an error unless ``x {sign} y`` everywhere.

    Checked when the program gets there, in order with its other effects; at once while tracing if both are constants.

    Args:
        x: any shape, {kinds}.
        y: a shape that broadcasts with that of ``x``, the same dtype.
        {arguments}
        name: ignored.

    Raises:
        InvalidArgumentError: it does not hold.

    Sources:
        TensorFlow ``tf.debugging.{name}``.
    """
_MESSAGE = "message: put before the error's own."
_SUMMARIZE = "summarize: how many elements the error shows; 3 by default, -1 for all."


def _documented(sign: str, kinds: str) -> Any:
    def put(function: Any) -> Any:
        function.__doc__ = _DOC.format(sign=sign, kinds=kinds, name=function.__name__, arguments=f"{_MESSAGE}\n        {_SUMMARIZE}")
        return function

    return put


@public("debugging.assert_equal", "assert_equal")
@_documented("==", "any dtype")
def assert_equal(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    return _compare(assert_equal_op, x, y, message, summarize)


@public("debugging.assert_none_equal")
@_documented("!=", "any dtype")
def assert_none_equal(x: Any, y: Any, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    return _compare(assert_none_equal_op, x, y, message, summarize)


@public("debugging.assert_less", "assert_less")
@_documented("<", "integer or floating")
def assert_less(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    return _compare(assert_less_op, x, y, message, summarize)


@public("debugging.assert_less_equal")
@_documented("<=", "integer or floating")
def assert_less_equal(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    return _compare(assert_less_equal_op, x, y, message, summarize)


@public("debugging.assert_greater", "assert_greater")
@_documented(">", "integer or floating")
def assert_greater(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    return _compare(assert_greater_op, x, y, message, summarize)


@public("debugging.assert_greater_equal")
@_documented(">=", "integer or floating")
def assert_greater_equal(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    return _compare(assert_greater_equal_op, x, y, message, summarize)


def _zero_like(x: Any) -> Any:
    return tensor(0, x)


def _sign_doc(relation: str) -> Any:
    def put(function: Any) -> Any:
        function.__doc__ = f"""Fail with an error unless ``x {relation} 0`` everywhere.

    Args:
        x: any shape, integer or floating.
        {_MESSAGE}
        {_SUMMARIZE}
        name: ignored.

    Raises:
        InvalidArgumentError: it does not hold.

    Sources:
        TensorFlow ``tf.debugging.{function.__name__}``.
    """
        return function

    return put


@public("debugging.assert_positive")
@_sign_doc(">")
def assert_positive(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    x = tensor(x)
    return _compare(assert_greater_op, x, _zero_like(x), message, summarize)


@public("debugging.assert_negative")
@_sign_doc("<")
def assert_negative(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    x = tensor(x)
    return _compare(assert_less_op, x, _zero_like(x), message, summarize)


@public("debugging.assert_non_negative")
@_sign_doc(">=")
def assert_non_negative(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    x = tensor(x)
    return _compare(assert_greater_equal_op, x, _zero_like(x), message, summarize)


@public("debugging.assert_non_positive")
@_sign_doc("<=")
def assert_non_positive(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
    x = tensor(x)
    return _compare(assert_less_equal_op, x, _zero_like(x), message, summarize)


@public("debugging.assert_near")
def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail with an error unless ``|x - y| <= atol + rtol * |y|`` everywhere.

    Args:
        x: any shape, any numeric dtype.
        y: a shape that broadcasts with that of ``x``, the same dtype.
        rtol: relative tolerance; 10 times the dtype's epsilon by default.
        atol: absolute tolerance; 10 times the dtype's epsilon by default.
        message: put before the error's own.
        summarize: how many elements the error shows; 3 by default, -1 for all.
        name: ignored.

    Raises:
        InvalidArgumentError: it does not hold.

    Sources:
        TensorFlow ``tf.debugging.assert_near``.
    """
    a = tensor(x, y if isinstance(y, Tensor | Variable) else None)
    b = tensor(y, a)
    real = a.dtype.real_dtype
    epsilon = 10 * _epsilon(real)
    return assert_near_op(a, b, _tolerance(rtol, epsilon, real), _tolerance(atol, epsilon, real), message=message or "", summarize=summarize)


def _epsilon(dtype: Any) -> float:
    if not dtype.is_floating:
        return 0.0
    return float(ml_dtypes.finfo(dtype.numpy).eps)


def _tolerance(given: Any, default: float, dtype: Any) -> Any:
    value = default if given is None else given
    return value if isinstance(value, Tensor | Variable) else tensor(np.asarray(value, (dtype if dtype.is_floating else float64).numpy))


@public("debugging.Assert", "Assert")
def assert_(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """Fail with an error unless the condition is true.

    Args:
        condition: a bool scalar.
        data: a list of tensors and strings to show in the error.
        summarize: how many elements of each to show; 3 by default, -1 for all.
        name: ignored.

    Raises:
        InvalidArgumentError: the condition is false.

    Sources:
        TensorFlow ``tf.debugging.Assert``.
    """
    tensors: list[Any] = []
    pieces: list[Any] = []
    for item in data:
        if isinstance(item, str | bytes):
            pieces.append(item if isinstance(item, str) else item.decode())
        else:
            pieces.append(Placeholder(len(tensors)))
            tensors.append(tensor(item))
    return assert_op(condition, tensors, pieces=tuple(pieces), summarize=SHOWN if summarize is None else summarize)


@public("debugging.check_numerics")
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The same tensor, after a check that it has no NaN and no infinity.

    Args:
        tensor: any shape, floating.
        message: put before the error's own.
        name: ignored.

    Returns:
        ``tensor``.

    Raises:
        InvalidArgumentError: it has one.

    Sources:
        TensorFlow ``tf.debugging.check_numerics``.
    """
    return check_numerics_op(tensor, message=message)


@public("debugging.assert_all_finite")
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """The same tensor, after a check that it has no NaN and no infinity.

    Args:
        x: any shape, floating.
        message: put before the error's own.
        name: ignored.

    Returns:
        ``x``.

    Raises:
        InvalidArgumentError: it has one.

    Sources:
        TensorFlow ``tf.debugging.assert_all_finite``.
    """
    return check_numerics_op(x, message=message)
