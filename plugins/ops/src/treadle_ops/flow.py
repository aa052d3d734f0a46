"""Ops that hand on what they get: identity, and the end of a gradient."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import list_argument


@op("identity", public=("identity",), aliases=True, elementwise=True)
def identity(input: Spec) -> Spec:
    """The same value as another tensor.

    Args:
        input: any shape, any dtype.
        name: ignored.

    Returns:
        The value of ``input``.

    Sources:
        TensorFlow ``tf.identity``.
    """
    return Spec(input.dims, input.dtype, input.value)


@gradient(identity)
def _(ctx: Any, g: Any) -> Any:
    return g


@public("identity_n")
def identity_n(input: Any, name: str | None = None) -> Any:
    """The same values as several tensors.

    Args:
        input: a list of tensors of any shapes and dtypes.
        name: ignored.

    Returns:
        A list of as many tensors.

    Sources:
        TensorFlow ``tf.identity_n``.
    """
    return [identity(x) for x in list_argument(input, "input")]


@op("stop_gradient", public=("stop_gradient",), aliases=True)
def stop_gradient(input: Spec) -> Spec:
    """The same value, through which no gradient flows.

    Args:
        input: any shape, any dtype.
        name: ignored.

    Returns:
        The value of ``input``.

    Sources:
        TensorFlow ``tf.stop_gradient``.
    """
    return Spec(input.dims, input.dtype, input.value)
