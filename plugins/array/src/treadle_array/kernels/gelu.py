"""gelu and its gradient, exact and by tanh.

With Q(t) the probability that a normal variable exceeds t >= 0, ``gelu(x) = max(x, 0) - |x| Q(|x|)``, which is accurate in the left tail too, where
``x/2 (1 + erf(x/sqrt(2)))`` cancels. ``exp(t*t/2) Q(t) (t + k)`` is a polynomial in ``(t - k) / (t + k)``, to the accuracy of the dtype.

The constants are TensorFlow's, which rounds sqrt(1/2) and 0.044715 to float32 in every dtype: a float64 ``x`` stands for ``t = 0.999999983 x``.
"""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import bound, elementwise, scalars

_SQRT_2_OVER_PI = 0.7978845608028654
_CUBIC = 0.04471499845385552
_STRETCH = 0.70710676908493042 / 0.70710678118654757
_LARGE = 1e30
_FAR = 1000.0
"""From here on a gradient is 0 or 1; its square and its cube are finite."""

_TAIL = {
    4: (
        3.0,
        (
            0.729083668,
            -0.509332373,
            0.230019435,
            -0.0472544635,
            -0.0104801438,
            0.00691616727,
            0.00107323616,
            -0.00089252827,
            -0.000259306949,
        ),
    ),
    8: (
        4.0,
        (
            0.7552851304157518,
            -0.6078966419718891,
            0.38713740074218717,
            -0.1865218579597774,
            0.060396574892063584,
            -0.007540188966224694,
            -0.0034796923864406784,
            0.0016308184681761324,
            0.0001333444628641055,
            -0.00023109507497994026,
            -1.9088882054248416e-06,
            3.5145472731258696e-05,
            7.181332470424109e-07,
            -5.922757177926134e-06,
            -6.314847451631155e-07,
            1.026955404816899e-06,
            2.724486551896507e-07,
            -1.6231630106873137e-07,
            -8.443363772973444e-08,
            1.965137970852184e-08,
            1.840631899811701e-08,
            -1.3006254032658713e-09,
            -2.1073424255447032e-09,
        ),
    ),
}
"""Bytes of an element to k and the coefficients, the constant first: least relative error for float32, Chebyshev interpolation for float64."""


class _NormalTail:
    """Q and the density of the normal distribution, as steps on arrays."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._numbers = {size: scalars(xp, 1, -0.5, k, -2 * k, *coefficients) for size, (k, coefficients) in _TAIL.items()}

    def __call__(self, t: Any, tail: Any, density: Any, u: Any, v: Any) -> None:
        """Fill ``density`` with ``exp(-t*t/2)`` and ``tail`` with ``Q(t) / density``; ``u`` and ``v`` are scratch, ``v`` may be ``density``."""
        add, multiply = self._xp.add, self._xp.multiply
        one, minus_half, k, slope, *coefficients = self._numbers[t.dtype.itemsize](t.dtype)
        add(t, k, u)
        self._xp.reciprocal(u, u)
        multiply(u, slope, v)
        add(v, one, v)
        multiply(v, coefficients[-1], tail)
        for coefficient in coefficients[-2:0:-1]:
            add(tail, coefficient, tail)
            multiply(tail, v, tail)
        add(tail, coefficients[0], tail)
        multiply(tail, u, tail)
        multiply(t, t, density)
        multiply(density, minus_half, density)
        self._xp.exp(density, density)


@kernel("gelu", out=True)
def gelu(xp: Any) -> Any:
    """See the op."""
    zero, large, normal_tail = bound(xp, 0), bound(xp, _LARGE), _NormalTail(xp)

    def exact(x: Any, out: Any, t: Any, tail: Any, u: Any, stretch: Any, back: Any) -> None:
        xp.minimum(x, large(x), out=t)
        xp.absolute(t, t)
        if x.dtype.itemsize == 8:
            xp.multiply(t, stretch, t)
        normal_tail(t, tail, out, u, out)
        xp.multiply(tail, out, tail)
        xp.multiply(tail, t, tail)
        if x.dtype.itemsize == 8:
            xp.multiply(tail, back, tail)
        xp.maximum(x, zero(x), out=out)
        xp.subtract(out, tail, out)

    def by_tanh(x: Any, out: Any, one: Any, linear: Any, cubic: Any) -> None:
        # x/2 (1 + tanh(u)) = x / (1 + exp(-2u))
        xp.multiply(x, x, out)
        xp.multiply(out, cubic, out)
        xp.add(out, linear, out)
        xp.multiply(out, x, out)
        xp.exp(out, out)
        xp.add(out, one, out)
        xp.divide(x, out, out)

    kernels = (
        elementwise(xp, exact, _STRETCH, 1 / _STRETCH, scratch=3, is_heavy=True),
        elementwise(xp, by_tanh, 1, -2 * _SQRT_2_OVER_PI, -2 * _SQRT_2_OVER_PI * _CUBIC, is_heavy=True),
    )

    def run(features: Any, *, approximate: bool, out: Any = None) -> Any:
        return kernels[approximate](features, out=out)

    return run


@kernel("gelu_grad", out=True)
def gelu_grad(xp: Any) -> Any:
    """See the op."""
    far, near, normal_tail = bound(xp, _FAR), bound(xp, -_FAR), _NormalTail(xp)

    def exact(g: Any, x: Any, out: Any, t: Any, tail: Any, u: Any, v: Any, zero: Any, one: Any, minus_two: Any, density: Any, stretch: Any) -> None:
        # the derivative at -t is d = Q(t) - t density(t), at t it is 1 - d = d + (1 - 2d)
        xp.absolute(x, t)
        xp.minimum(t, far(t), out=t)
        if x.dtype.itemsize == 8:
            xp.multiply(t, stretch, t)
        normal_tail(t, tail, out, u, v)
        xp.multiply(t, density, t)
        xp.subtract(tail, t, tail)
        xp.multiply(tail, out, tail)
        xp.multiply(tail, minus_two, v)
        xp.add(v, one, v)
        u[...] = xp.greater(x, zero)
        xp.multiply(v, u, v)
        xp.add(v, tail, out)
        xp.multiply(out, g, out)

    def by_tanh(g: Any, x: Any, out: Any, x2: Any, z: Any, one: Any, linear: Any, cubic: Any, minus_three: Any) -> None:
        # with z = -2u, a function of x, and s = 1 / (1 + exp(z)) the derivative is s - x s (1 - s) z'
        xp.minimum(x, far(x), out=z)
        xp.maximum(z, near(z), out=z)
        xp.multiply(z, z, x2)
        xp.multiply(x2, cubic, x2)
        xp.add(x2, linear, out)
        xp.multiply(out, z, out)
        xp.exp(out, out)
        xp.add(out, one, out)
        xp.reciprocal(out, out)
        xp.multiply(x2, minus_three, x2)
        xp.subtract(x2, linear, x2)
        xp.multiply(x2, z, x2)
        xp.subtract(one, out, z)
        xp.multiply(z, x2, z)
        xp.multiply(z, out, z)
        xp.add(out, z, out)
        xp.multiply(out, g, out)

    kernels = (
        elementwise(xp, exact, 0, 1, -2, _SQRT_2_OVER_PI / 2, _STRETCH, scratch=4, is_heavy=True),
        elementwise(xp, by_tanh, 1, -2 * _SQRT_2_OVER_PI, -2 * _SQRT_2_OVER_PI * _CUBIC, -3, scratch=2, is_heavy=True),
    )

    def run(g: Any, features: Any, *, approximate: bool, out: Any = None) -> Any:
        return kernels[approximate](g, features, out=out)

    return run
