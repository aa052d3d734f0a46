"""Ways that NumPy does not need but other array modules do, tried with a module that has less than NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treadle_array.axis_sums import summation
from treadle_array.folding import fold_rows
from treadle_array.kernels.axis_extremes import reduce_max
from treadle_array.kernels.cumulative import cumulative_logsumexp


class Plain:
    """A ufunc without ``at``, ``reduceat`` and ``accumulate``."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc
        self.reduce = ufunc.reduce

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._ufunc(*args, **options)


class Other:
    """NumPy under another name."""

    __name__ = "other"

    def __getattr__(self, name: str) -> Any:
        thing = getattr(np, name)
        return Plain(thing) if isinstance(thing, np.ufunc) else thing


@pytest.mark.parametrize("how", ["add", "multiply", "maximum", "minimum"])
def test_rows_are_folded_in_pairs_as_one_by_one(how):
    rng = np.random.default_rng(0)
    for size, width, count in ((1, 1, 1), (9, 3, 4), (100, 2, 3), (100, 1, 90), (0, 2, 3), (64, 2, 1)):
        rows = rng.standard_normal((size, width))
        ids = rng.integers(-1, count, size)
        nothing = 0 if how == "add" else 7
        got = fold_rows(Other(), how, rows, ids, count, nothing, False)
        want = np.full((count, width), float(nothing))
        for k in range(count):
            if (ids == k).any():
                want[k] = getattr(np, how).reduce(rows[ids == k])
        np.testing.assert_allclose(got, want, rtol=1e-12)
        np.testing.assert_allclose(fold_rows(np, how, rows, ids, count, nothing, False), want, rtol=1e-12)


def test_running_logsumexp_by_doubling():
    x = np.random.default_rng(1).standard_normal((3, 7, 2))
    for axis, reverse in ((0, False), (1, False), (1, True), (2, True)):
        want = cumulative_logsumexp(np)(x, axis=axis, reverse=reverse)
        np.testing.assert_allclose(cumulative_logsumexp(Other())(x, axis=axis, reverse=reverse), want, rtol=1e-12)


def test_sums_and_extremes_are_the_module_s_own():
    x = np.random.default_rng(2).standard_normal((300, 5))
    np.testing.assert_array_equal(summation(Other())(x, (0,), True), np.add.reduce(x, axis=0, keepdims=True))
    np.testing.assert_array_equal(reduce_max(Other())(x, axis=(1,), keepdims=False), reduce_max(np)(x, axis=(1,), keepdims=False))
