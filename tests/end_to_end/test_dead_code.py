"""Code that would fail and never runs: branches not taken and loops of no turn do no harm, whatever the optimizer learns of them."""

from __future__ import annotations

import warnings

import pytest

import treadle as td
from treadle.errors import InvalidArgumentError

X = td.constant([1.0, 2.0])


def seven(x):
    """A 7 that only folding knows."""
    return td.cast(x[0], td.int32) * 7


FAILS = {
    "gather": lambda x: td.gather(x, [9]),
    "index": lambda x: x[seven(x)],
    "slice": lambda x: td.slice(x, [seven(x)], [1]),
    "reshape": lambda x: td.reshape(x, [seven(x)]),
    "broadcast_to": lambda x: td.broadcast_to(x, [seven(x)]),
    "tile": lambda x: td.tile(x, [-seven(x)]),
    "fill": lambda x: td.fill([-seven(x)], 1.0),
    "pad": lambda x: td.pad(x, [[-seven(x), 1]]),
    "split": lambda x: td.split(x, [seven(x), 1])[0],
    "one_hot": lambda x: td.one_hot([0], -seven(x)),
    "range": lambda x: td.cast(td.range(0, 5, seven(x) * 0), td.float32),
    "top_k": lambda x: td.math.top_k(x, seven(x))[0],
    "scatter_nd": lambda x: td.scatter_nd([[5]], [x[0]], [2]),
    "division": lambda x: td.cast(seven(x) // (seven(x) * 0), td.float32),
    "shapes": lambda x: x + td.zeros([seven(x)]),
    "cholesky": lambda x: td.linalg.cholesky(-td.linalg.diag(x)),
    "inverse": lambda x: td.linalg.inv(td.zeros([2, 2]) * x[0]),
    "check_numerics": lambda x: td.debugging.check_numerics(x / 0.0, "x"),
    "py_function": lambda x: td.py_function(lambda v: 1 / 0, [x], td.float32),
}


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", FAILS)
@pytest.mark.parametrize("source", ["constant", "argument"])
def test_a_branch_that_is_not_taken(name, source):
    @td.function
    def f(x, c):
        x = td.constant([1.0, 2.0]) if source == "constant" else x
        return td.cond(c, lambda: td.reduce_sum(FAILS[name](x)), lambda: -1.0)

    assert float(f(X, td.constant(False))) == -1.0


@pytest.mark.parametrize("name", FAILS)
@pytest.mark.parametrize("source", ["constant", "argument"])
def test_a_loop_without_a_turn(name, source):
    @td.function
    def f(x, n):
        x = td.constant([1.0, 2.0]) if source == "constant" else x
        return td.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + td.reduce_sum(FAILS[name](x))), (0, 0.0))[1]

    assert float(f(X, td.constant(0))) == 0.0


@pytest.mark.parametrize("name", sorted(set(FAILS) - {"py_function", "check_numerics"}))
def test_taken_it_fails_as_written(name):
    @td.function
    def f(c):
        return td.cond(c, lambda: td.reduce_sum(FAILS[name](td.constant([1.0, 2.0]))), lambda: -1.0)

    with pytest.raises(InvalidArgumentError, match=rf"test_dead_code.py.*{name[:4]}"):
        f(td.constant(True))


def test_a_call_whose_arguments_do_not_fit_fails_with_its_own_error():
    shapeless = td.TensorSpec(None, td.float32)
    product = td.function(lambda a, b: a @ b, input_signature=[shapeless, shapeless])
    f = td.function(lambda x: product(x[None], td.ones([3, 2])) * (td.constant(1.0) + td.constant(2.0)))
    with pytest.raises(InvalidArgumentError, match=r"matmul: the inner axes differ, 2 of a with shape \(1, 2\) and 3 of b with shape \(3, 2\)"):
        f(X)
