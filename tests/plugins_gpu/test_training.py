"""Tapes and traced functions on a GPU: a plan for the card, with Variables wherever they are."""

from __future__ import annotations

import numpy as np
import pytest

RNG = np.random.default_rng(4)
X, Y = RNG.standard_normal((16, 6)).astype(np.float32), RNG.integers(0, 3, 16)
W = [RNG.standard_normal(s).astype(np.float32) for s in ((6, 8), (8,), (8, 3), (3,))]


def model(td):
    """A network with two layers, and its training step."""
    weights = [td.Variable(w) for w in W]

    def step(x, labels):
        with td.GradientTape() as tape:
            h = td.nn.gelu(td.matmul(x, weights[0]) + weights[1])
            logits = td.matmul(h, weights[2]) + weights[3]
            loss = td.reduce_mean(td.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        for v, g in zip(weights, tape.gradient(loss, weights), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    return weights, step


def trained(td, device, wrap, steps=4):
    with td.device(device):
        weights, step = model(td)
        step = wrap(step)
        losses = [float(step(td.constant(X), td.constant(Y))) for _ in range(steps)]
        assert {v.device for v in weights} == {device}
    return losses, [v.numpy() for v in weights]


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_training_steps_equal_those_of_the_cpu(td, cards, traced):
    wrap = (lambda f: td.function(f, autograph=False)) if traced else (lambda f: f)
    losses, weights = trained(td, "/GPU:0", wrap)
    wanted, wanted_weights = trained(td, "/CPU:0", wrap)
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for got, want in zip(weights, wanted_weights, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_one_function_runs_on_every_device(td, cards):
    logits = td.function(lambda x: td.matmul(x, td.constant(W[0])) * 2.0, autograph=False)
    here = logits(td.constant(X))
    for name in ("/GPU:0", "/GPU:1", "/CPU:0"):
        with td.device(name):
            there = logits(td.constant(X))
        assert there.device == name
        np.testing.assert_allclose(there.numpy(), here.numpy(), rtol=1e-5)


def test_without_a_scope_a_function_runs_where_an_eager_op_would(td, cards):
    double = td.function(lambda x, y: x + y, autograph=False)
    here, there, elsewhere = td.constant(X), td.constant(X).gpu(0), td.constant(X).gpu(1)
    for _ in range(3):  # the later calls take the fast path
        assert double(here, here).device == "/CPU:0"
        assert double(there, there).device == "/GPU:0"
        assert double(here, there).device == "/GPU:0"
        assert double(elsewhere, there).device == "/GPU:1"
    np.testing.assert_array_equal(double(elsewhere, there).numpy(), X + X)


def test_a_variable_decides_too_and_one_elsewhere_is_copied(td, cards):
    here = td.Variable(np.float32(2))
    with td.device("/GPU:0"):
        there = td.Variable(np.float32(3))

    @td.function(autograph=False)
    def step(x):
        here.assign_add(1.0)
        there.assign_add(here * x)
        return here + there

    for _ in range(2):
        result = step(td.constant(1.0))
    assert result.device == "/GPU:0"
    assert (here.device, there.device) == ("/CPU:0", "/GPU:0")
    assert (float(here), float(there), float(result)) == (4.0, 10.0, 14.0)


def test_tensors_of_a_card_are_captured_by_a_function_for_another(td, cards):
    captured = td.constant(X).gpu(1)
    add = td.function(lambda x: x + captured, autograph=False)
    with td.device("/GPU:0"):
        assert add(td.constant(X)).device == "/GPU:0"
        np.testing.assert_array_equal(add(td.constant(X)).numpy(), X + X)
    with td.device("/CPU:0"):
        np.testing.assert_array_equal(add(td.constant(X)).numpy(), X + X)


def test_branches_and_loops_read_their_conditions_from_the_card(td, cards):
    @td.function(autograph=False)
    def collatz(n):
        def odd(n):
            return td.equal(n % 2, 1)

        def body(n, steps):
            return td.cond(odd(n), lambda: 3 * n + 1, lambda: n // 2), steps + 1

        return td.while_loop(lambda n, steps: n > 1, body, [n, td.constant(0)])

    with td.device("/GPU:0"):
        n, steps = collatz(td.constant(27))
        assert steps.device == "/GPU:0"
    assert (int(n), int(steps)) == (1, 111)


def test_shapes_that_are_known_at_run_time_only_come_from_the_card(td, cards):
    @td.function(autograph=False, input_signature=[td.TensorSpec([None, None]), td.TensorSpec([], td.int32)])
    def repeated(x, n):
        return td.reshape(td.tile(x, td.stack([n, 1])), td.stack([n, -1]))

    with td.device("/GPU:0"):
        result = repeated(td.constant(X), td.constant(3))
    np.testing.assert_array_equal(result.numpy(), np.tile(X, (3, 1)).reshape(3, -1))


def test_second_derivatives_and_jacobians_work(td, cards):
    with td.device("/GPU:1"):
        x = td.constant(X[0])
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as inner:
                inner.watch(x)
                y = td.reduce_sum(x**3)
            slope = inner.gradient(y, x)
        curvature = outer.jacobian(slope, x)
    assert curvature.device == "/GPU:1"
    np.testing.assert_allclose(curvature.numpy(), np.diag(6 * X[0]), rtol=1e-5)


def test_an_error_inside_a_plan_names_the_op_and_the_users_line(td, cards):
    pick = td.function(lambda x, i: td.gather(x, i), autograph=False)
    with (
        td.device("/GPU:0"),
        pytest.raises(td.errors.InvalidArgumentError, match=r"indices\[1\] = 99 is not in \[0, 16\).*in op 'gather'.*test_training.py"),
    ):
        pick(td.constant(X), td.constant([0, 99]))
