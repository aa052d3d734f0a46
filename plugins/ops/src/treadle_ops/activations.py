"""Activation functions and their gradients, each one op that reads its input once.

Where a gradient is constant between kinks, its own gradient with respect to the features is zeros, as in TensorFlow, and not None.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import float32
from treadle_ops.arguments import axis_argument, tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.casting import cast, cast_op
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import add, exp, multiply, negative, square, subtract, tanh
from treadle_ops.inference import FLOATING, REAL, alike, elementwise
from treadle_ops.joining import concat_op
from treadle_ops.rows import unary
from treadle_ops.sigmoids import sigmoid

# ---------------------------------------------------------------------- relu and relu6

relu = unary("relu", "nn.relu", REAL, "``max(x, 0)``, NaN kept.", argument="features")
relu6 = unary("relu6", "nn.relu6", REAL, "``min(max(x, 0), 6)``, NaN kept.", argument="features")


@op("relu_grad", elementwise=True)
def relu_grad(g: Spec, y: Spec) -> Spec:
    """``g`` where the result ``y`` of relu is greater than 0, else 0."""
    return elementwise(g, y, kinds=REAL)


@op("relu6_grad", elementwise=True)
def relu6_grad(g: Spec, y: Spec) -> Spec:
    """``g`` where the result ``y`` of relu6 lies between 0 and 6, else 0."""
    return alike(g, y, kinds=REAL)


@gradient(relu)
def _(ctx: Any, g: Any) -> Any:
    return relu_grad(g, ctx.output)


@gradient(relu_grad)
def _(ctx: Any, g: Any) -> Any:
    h, y = ctx.inputs
    return sum_like(relu_grad(g, y), h), zeros_like(y) if ctx.needs[1] else None


@gradient(relu6)
def _(ctx: Any, g: Any) -> Any:
    return relu6_grad(g, ctx.output)


@gradient(relu6_grad)
def _(ctx: Any, g: Any) -> Any:
    y = ctx.inputs[1]
    return relu6_grad(g, y), zeros_like(y) if ctx.needs[1] else None


@public("nn.crelu")
def crelu(features: Any, axis: Any = -1, name: str | None = None) -> Any:
    """relu of a tensor and of its negative, one after the other.

    Args:
        features: any shape of rank 1 or more, signed numbers.
        axis: where the two are joined.
        name: ignored.

    Returns:
        The shape of ``features`` with twice the size along ``axis``, its dtype.

    Raises:
        InvalidArgumentError: the axis is out of range.

    Sources:
        TensorFlow ``tf.nn.crelu``; Shang and others, "Understanding and improving convolutional neural networks via concatenated rectified
        linear units", ICML 2016.
    """
    x = tensor(features)
    return relu(concat_op([x, negative(x)], axis=axis_argument(axis)))


# ---------------------------------------------------------------------- leaky_relu


@op("leaky_relu", elementwise=True)
def leaky_relu_op(features: Spec, *, alpha: float) -> Spec:
    """``x`` where it is positive, else ``alpha * x``."""
    return elementwise(features, kinds=FLOATING)


@op("leaky_relu_grad", elementwise=True)
def leaky_relu_grad(g: Spec, features: Spec, *, alpha: float) -> Spec:
    """``g`` where the feature is positive, else ``alpha * g``."""
    return alike(g, features, kinds=FLOATING)


@gradient(leaky_relu_op)
def _(ctx: Any, g: Any) -> Any:
    return leaky_relu_grad(g, ctx.inputs[0], alpha=ctx.alpha)


@gradient(leaky_relu_grad)
def _(ctx: Any, g: Any) -> Any:
    x = ctx.inputs[1]
    return leaky_relu_grad(g, x, alpha=ctx.alpha), zeros_like(x) if ctx.needs[1] else None


@public("nn.leaky_relu")
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """``features`` where they are positive, else ``alpha * features``.

    Args:
        features: any shape, floating, or integers, which are cast to float32.
        alpha: the slope of the negative side, a Python number; it is rounded to float32 for every dtype.
        name: ignored.

    Returns:
        The shape of ``features``, of their floating dtype.

    Raises:
        DTypeError: the dtype is complex or bool.

    Sources:
        TensorFlow ``tf.nn.leaky_relu``; Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models", ICML 2013.
    """
    x = tensor(features)
    if x.dtype.is_integer:
        x = cast_op(x, dtype=float32)
    return leaky_relu_op(x, alpha=float(np.float32(alpha)))


# ---------------------------------------------------------------------- elu and selu

elu = unary(
    "elu",
    "nn.elu",
    FLOATING,
    "``x`` where it is positive, else ``exp(x) - 1``.",
    argument="features",
    sources='TensorFlow ``tf.nn.elu``; Clevert and others, "Fast and accurate deep network learning by exponential linear units", ICLR 2016.',
)
selu = unary(
    "selu",
    "nn.selu",
    FLOATING,
    "``scale * x`` where it is positive, else ``scale * alpha * (exp(x) - 1)``, with scale 1.0507 and alpha 1.6733.",
    argument="features",
    sources='TensorFlow ``tf.nn.selu``; Klambauer and others, "Self-normalizing neural networks", NIPS 2017.',
)


@op("elu_grad", elementwise=True)
def elu_grad(g: Spec, y: Spec) -> Spec:
    """``g`` where the result ``y`` of elu is not negative, else ``g * (y + 1)``."""
    return alike(g, y, kinds=FLOATING)


@op("selu_grad", elementwise=True)
def selu_grad(g: Spec, y: Spec) -> Spec:
    """``g * scale`` where the result ``y`` of selu is not negative, else ``g * (y + scale * alpha)``."""
    return alike(g, y, kinds=FLOATING)


@gradient(elu)
def _(ctx: Any, g: Any) -> Any:
    return elu_grad(g, ctx.output)


@gradient(selu)
def _(ctx: Any, g: Any) -> Any:
    return selu_grad(g, ctx.output)


@gradient(elu_grad)
def _(ctx: Any, h: Any) -> Any:
    g, y = ctx.inputs
    return elu_grad(h, y) if ctx.needs[0] else None, _where_negative(y, multiply(g, h)) if ctx.needs[1] else None


@gradient(selu_grad)
def _(ctx: Any, h: Any) -> Any:
    g, y = ctx.inputs
    return selu_grad(h, y) if ctx.needs[0] else None, _where_negative(y, multiply(g, h)) if ctx.needs[1] else None


def _where_negative(y: Any, g: Any) -> Any:
    return relu_grad(g, negative(y))


# ---------------------------------------------------------------------- gelu


@op("gelu", elementwise=True)
def gelu_op(features: Spec, *, approximate: bool = False) -> Spec:
    """``x`` times the probability that a normal variable is below ``x``, or its approximation by tanh."""
    return elementwise(features, kinds=FLOATING)


@op("gelu_grad", elementwise=True)
def gelu_grad(g: Spec, features: Spec, *, approximate: bool = False) -> Spec:
    """``g`` times the derivative of gelu."""
    return alike(g, features, kinds=FLOATING)


@gradient(gelu_op)
def _(ctx: Any, g: Any) -> Any:
    return gelu_grad(g, ctx.inputs[0], approximate=ctx.approximate)


@gradient(gelu_grad)
def _(ctx: Any, h: Any) -> Any:
    g, x = ctx.inputs
    along_g = gelu_grad(h, x, approximate=ctx.approximate) if ctx.needs[0] else None
    if not ctx.needs[1]:
        return along_g, None
    return along_g, multiply(multiply(g, h), _gelu_curvature_by_tanh(x) if ctx.approximate else _gelu_curvature(x))


def _gelu_curvature(x: Any) -> Any:
    """The second derivative, ``density(x) * (2 - x*x)``."""
    x2 = square(x)
    return multiply(multiply(exp(multiply(x2, -0.5)), 1 / math.sqrt(2 * math.pi)), subtract(2, x2))


def _gelu_curvature_by_tanh(x: Any) -> Any:
    """The second derivative of ``x/2 * (1 + t)`` with ``t = tanh(u)``: ``(1 - t*t) * (u' + x/2 * u'' - x * t * u' * u')``."""
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    x2 = square(x)
    t = tanh(multiply(multiply(x, add(multiply(x2, cubic), 1)), scale))
    first = multiply(add(multiply(x2, 3 * cubic), 1), scale)
    half_second = multiply(x2, 3 * cubic * scale)
    bend = subtract(add(first, half_second), multiply(multiply(x, t), square(first)))
    return multiply(subtract(1, square(t)), bend)


@public("nn.gelu")
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """``features`` times the probability that a normal variable is below them.

    Args:
        features: any shape, floating.
        approximate: use ``x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3)))``.
        name: ignored.

    Returns:
        The shape and dtype of ``features``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.nn.gelu``; Hendrycks and Gimpel, "Gaussian error linear units", 2016.
    """
    return gelu_op(features, approximate=bool(approximate))


# ---------------------------------------------------------------------- silu


@op("silu", elementwise=True)
def silu_op(features: Spec, *, beta: float = 1.0) -> Spec:
    """``x * sigmoid(beta * x)``."""
    return elementwise(features, kinds=FLOATING)


@op("silu_grad", elementwise=True)
def silu_grad(g: Spec, features: Spec, *, beta: float = 1.0) -> Spec:
    """``g`` times the derivative of silu."""
    return alike(g, features, kinds=FLOATING)


@gradient(silu_op)
def _(ctx: Any, g: Any) -> Any:
    return silu_grad(g, ctx.inputs[0], beta=ctx.beta)


@gradient(silu_grad)
def _(ctx: Any, h: Any) -> Any:
    g, x = ctx.inputs
    along_g = silu_grad(h, x, beta=ctx.beta) if ctx.needs[0] else None
    if not ctx.needs[1]:
        return along_g, None
    # with z = beta * x and t = tanh(z/2) the second derivative is beta/4 * (1 - t*t) * (2 - z*t)
    z = multiply(x, ctx.beta)
    t = tanh(multiply(z, 0.5))
    curvature = multiply(multiply(subtract(1, square(t)), subtract(2, multiply(z, t))), ctx.beta / 4)
    return along_g, multiply(multiply(g, h), curvature)


@public("nn.silu", "nn.swish")
def silu(features: Any, beta: Any = 1.0) -> Any:
    """``features * sigmoid(beta * features)``.

    Args:
        features: any shape, floating.
        beta: a Python number, which is rounded to float32 for every dtype, or a tensor of a shape that broadcasts, through which gradients flow.

    Returns:
        The shape and dtype of ``features``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.nn.silu``; Ramachandran, Zoph and Le, "Searching for activation functions", 2017.
    """
    if type(beta) is float or type(beta) is int:
        return silu_op(features, beta=float(np.float32(beta)))
    x = tensor(features)
    return multiply(x, sigmoid(multiply(x, cast(beta, x.dtype))))
