"""Fit a line through noisy points by gradient descent, one op at a time.

Nothing is traced here: every op runs when its line is reached, as in NumPy. The tape remembers what was computed from the Variables.
"""

from __future__ import annotations

import numpy as np

import treadle as td


def make_points(count: int) -> tuple[td.Tensor, td.Tensor]:
    """Points near the line ``y = 3 x - 2``."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, count).astype(np.float32)
    noise = rng.normal(0, 0.1, count).astype(np.float32)
    return td.constant(x), td.constant(3 * x - 2 + noise)


def main() -> None:
    """Fit, and print how it went."""
    x, y = make_points(200)
    slope, intercept = td.Variable(0.0), td.Variable(0.0)
    for step in range(101):
        with td.GradientTape() as tape:
            error = slope * x + intercept - y
            loss = td.reduce_mean(error * error)
        slope_gradient, intercept_gradient = tape.gradient(loss, [slope, intercept])
        slope.assign_sub(0.3 * slope_gradient)
        intercept.assign_sub(0.3 * intercept_gradient)
        if step % 20 == 0:
            print(f"step {step:3}: loss {float(loss):.5f}, y = {float(slope):.3f} x {float(intercept):+.3f}")
    assert abs(float(slope) - 3) < 0.05
    assert abs(float(intercept) + 2) < 0.05


if __name__ == "__main__":
    main()
