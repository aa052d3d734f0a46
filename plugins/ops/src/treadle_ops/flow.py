"""Ops that hand on what they get: identity, and the end of a gradient."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op
from treadle_ops.inference import ANY
from treadle_ops.rows import unary

identity = unary("identity", "identity", ANY, "The same value as another tensor.", argument="input", aliases=True)


@gradient(identity)
def _(ctx: Any, g: Any) -> Any:
    return g


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
