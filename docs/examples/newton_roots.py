"""Find many roots at once by Newton's method, whose derivative a tape computes inside a traced function.

The input signature leaves the number of points open, so one trace serves every call. The derivative of the derivative (for Halley's
method, which converges faster) comes from one tape inside another.
"""

from __future__ import annotations

import numpy as np

import treadle as td

ANY_LENGTH = [td.TensorSpec([None], td.float64)]


def polynomial(x: td.Tensor) -> td.Tensor:
    """``x^3 - 2 x - 5``, Newton's own example."""
    return x * x * x - 2 * x - 5


@td.function(input_signature=ANY_LENGTH)
def newton(x: td.Tensor) -> td.Tensor:
    """The polynomial and its slope at every point, as the rows of a matrix."""
    with td.GradientTape() as tape:
        tape.watch(x)
        y = polynomial(x)
    return td.stack([y, tape.gradient(y, x)])


@td.function(input_signature=ANY_LENGTH)
def derivatives(x: td.Tensor) -> td.Tensor:
    """The polynomial and its first two derivatives at every point."""
    with td.GradientTape() as outer:
        outer.watch(x)
        with td.GradientTape() as inner:
            inner.watch(x)
            y = polynomial(x)
        first = inner.gradient(y, x)
    return td.stack([y, first, outer.gradient(first, x)])


def main() -> None:
    """Print how fast both methods come to the root from five points."""
    points = np.linspace(2.0, 4.0, 5)
    x = points.copy()
    for step in range(1, 5):
        f, slope = newton(td.constant(x)).numpy()
        x = x - f / slope
        print(f"Newton, step {step}: {x}")
    z = points.copy()
    for step in range(1, 4):
        f, slope, curve = derivatives(td.constant(z)).numpy()
        z = z - 2 * f * slope / (2 * slope * slope - f * curve)
        print(f"Halley, step {step}: {z}")
    newton(td.constant(np.linspace(0.0, 1.0, 1000)))
    print(f"newton was traced {newton.experimental_get_tracing_count()} time(s), for {newton.input_signature}")
    assert np.allclose(z, 2.0945514815423265)


if __name__ == "__main__":
    main()
