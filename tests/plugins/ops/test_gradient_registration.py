"""Gradients given to ops in TensorFlow 1's way."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


@td.op("registered.cube")
def cube(x):
    return x**3


@td.op("registered.flat")
def flat(x):
    return x * 2


def test_a_gradient_is_registered_once():
    td.convert_to_tensor(cube(td.constant(2.0)))

    @td.RegisterGradient("registered.cube")
    def gradient(op, grad):
        return 3.0 * grad * op.inputs[0] ** 2

    x = td.constant([2.0, 3.0])
    for way in (cube, td.function(lambda x: cube(x))):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = way(x)
        np.testing.assert_array_equal(tape.gradient(y, x), [12, 27])
    with pytest.raises(td.errors.AlreadyExistsError, match=r"'registered.cube' has a gradient already"):
        td.RegisterGradient("registered.cube")


def test_no_gradient_flows_where_that_is_said():
    flat(td.constant(1.0))
    td.no_gradient("registered.flat")
    x = td.constant(1.0)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = flat(x)
    assert tape.gradient(y, x) is None


def test_an_op_that_is_not_there_is_named():
    with pytest.raises(td.errors.OpError, match="nothing_like_it"):
        td.RegisterGradient("nothing_like_it")
