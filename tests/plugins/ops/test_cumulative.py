"""Running sums, products and log-sum-exps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td

FORMS = list(itertools.product((False, True), (False, True)))
INF = float("inf")


def running(function, x, axis, exclusive, reverse, first):
    """What NumPy gives: each element from all up to it, or before it."""
    moved = np.moveaxis(x, axis, 0)
    moved = moved[::-1] if reverse else moved
    rows = [function(moved[: i + (not exclusive)]) if i + (not exclusive) else np.full(moved.shape[1:], first) for i in range(len(moved))]
    result = np.stack(rows) if rows else moved
    return np.moveaxis(result[::-1] if reverse else result, 0, axis)


@pytest.mark.parametrize(("exclusive", "reverse"), FORMS)
def test_running_results_agree_with_numpy(exclusive, reverse, every_mode):
    x = np.random.default_rng(0).standard_normal((3, 4, 2))
    kinds = (
        (td.cumsum, lambda r: r.sum(0), 0),
        (td.math.cumprod, lambda r: r.prod(0), 1),
        (td.math.cumulative_logsumexp, lambda r: np.log(np.exp(r).sum(0)), -INF),
    )
    for function, of_rows, first in kinds:
        for axis in (0, 1, -1):
            (got,) = every_mode(lambda x, f=function, a=axis: f(x, axis=a, exclusive=exclusive, reverse=reverse), x)
            np.testing.assert_allclose(got, running(of_rows, x, axis, exclusive, reverse, first), rtol=1e-12, strict=True)
        (none,) = every_mode(lambda x, f=function: f(x, exclusive=exclusive, reverse=reverse), np.zeros((0, 2), np.float32))
        assert none.shape == (0, 2)


def test_integers_wrap_and_short_floats_are_summed_in_single_precision(every_mode):
    (total,) = every_mode(td.cumsum, np.int32([2**31 - 1, 1, 1]))
    assert total.tolist() == [2**31 - 1, -(2**31), -(2**31) + 1]
    assert float(td.cumsum(td.ones([4000], td.float16))[-1]) == 4000


@pytest.mark.parametrize(("exclusive", "reverse"), FORMS)
def test_gradients_agree_with_differences_even_through_zeros(exclusive, reverse, check_gradient):
    x = np.random.default_rng(2).standard_normal((3, 4))
    zeros = x * (np.arange(12).reshape(3, 4) % 3 != 0)
    for axis in (0, 1):
        options = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
        check_gradient(lambda x, o=options: td.cumsum(x, **o), x)
        check_gradient(lambda x, o=options: td.math.cumprod(x, **o), x)
        check_gradient(lambda x, o=options: td.math.cumprod(x, **o), zeros)
        part = slice(1, None) if exclusive and not reverse else slice(None, -1) if exclusive else slice(None)
        check_gradient(lambda x, o=options, p=part: td.math.cumulative_logsumexp(x, **o)[(slice(None),) * o["axis"] + (p,)], x)


def test_the_gradient_of_a_long_product_is_that_of_a_short_one(check_gradient):
    x = 1 + 0.1 * np.random.default_rng(3).standard_normal(150)
    x[70] = 0
    check_gradient(td.math.cumprod, x, second=False)


def test_minus_infinity_keeps_the_gradient_finite():
    x = td.constant([-INF, -INF, 1.0, -INF])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.math.cumulative_logsumexp(x)
    assert tape.gradient(y, x).numpy().tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize("function", [td.cumsum, td.math.cumprod, td.math.cumulative_logsumexp])
def test_wrong_axes_and_dtypes_are_refused(function, refuses):
    refuses(ValueError, lambda x: function(x, axis=2), np.ones((2, 3), np.float32), match="out of range")
    refuses(ValueError, function, np.float32(1), match="out of range")
    refuses(TypeError, function, np.array([True]), match="bool")
