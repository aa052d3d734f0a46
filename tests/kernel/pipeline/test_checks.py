"""``td.testing`` finds what is wrong with an op, and lets a right one pass; with the toy plugin alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td
from treadle import dims
from treadle.declare import HostSpec, Spec, gradient, kernel, op
from treadle.errors import ShapeError
from treadle.registry import registry
from treadle.testing import Checks, OpCheckError, check_gradient, check_op, elementwise_samples, inspect_op, sample

X = np.float32([[1, 2, 3], [4, 5, 6]])
numbers = itertools.count()


@pytest.fixture
def make(toy):
    """Register an op with a kernel, an inference and a gradient; each right by default."""

    def make(run, infer=None, pull=None, **options):
        name = f"faulty.op{next(numbers)}"

        def default(x: Spec) -> Spec:
            return Spec(x.dims, x.dtype)

        infer = infer or default
        infer.__module__ = run.__module__ = f"faulty_{name}"
        entry = op(name, **options)(infer)
        if pull is not None:
            gradient(entry)(pull)

        def factory(xp):
            return run

        factory.__module__ = infer.__module__
        kernel(name)(factory)
        from treadle.contracts.kernels import Kernel

        with registry.transaction(name):
            registry.add_op(entry.op)
            registry.add_kernel(Kernel(name, factory), for_="CPU")
        return entry

    return make


def problems(entry, *inputs, checks=None, **attrs):
    return [p.check for p in inspect_op(entry, sample(*inputs, checks=checks, **attrs)).problems]


def test_a_right_op_passes(make, toy):
    good = make(lambda x: x + x, pull=lambda ctx, g: toy.mul(g, 2.0), elementwise=True)
    report = check_op(good, X)
    assert report.is_good
    assert report.done["gradient of order 1 is the derivative"] >= 1
    assert "all good" in str(report)


def test_the_toy_plugins_ops_pass(toy):
    for name in ("toy.add", "toy.mul"):
        report = inspect_op(name, *elementwise_samples(name, checks=Checks(complex_order=0)))
        assert report.is_good, str(report)


def test_a_complex_gradient_that_is_not_conjugated_is_found(toy):
    (x, *_) = elementwise_samples("toy.mul", dtype=np.complex64)
    assert "gradient of order 1 for x is the derivative" in [p.check for p in inspect_op("toy.mul", x).problems]


def test_the_error_names_op_case_and_both_values(make):
    bad = make(lambda x: x.astype(np.float64))
    with pytest.raises(AssertionError) as caught:
        check_op(bad, X)
    assert isinstance(caught.value, OpCheckError)
    text = str(caught.value)
    assert bad.op.name in text
    assert "x=float32[2, 3]" in text
    assert "got:  float64" in text
    assert "want: float32" in text


def test_a_result_in_an_inputs_memory_is_found_unless_it_is_announced(make):
    assert "a result has memory of its own (aliases=True allows that of the first input)" in problems(make(lambda x: x), X)
    assert problems(make(lambda x: x, aliases=True), X) == []


def test_a_result_that_the_kernel_keeps_is_found(make):
    kept = np.ones((2, 3), np.float32)
    assert "results of one call, and of two, share no memory" in problems(make(lambda x: kept), X, checks=Checks().alone)


def test_a_write_into_an_input_is_found(make):
    def write(x):
        x += 1
        return x.copy()

    assert "a kernel does not write into its inputs" in problems(make(write), X)


def test_strides_are_found(make):
    assert "a result is C-contiguous" in problems(make(lambda x: np.asfortranarray(x)), X)


def test_wrong_inference_is_found(make):
    def infer(x: Spec) -> Spec:
        return Spec(None if x.dims is None else (x.dims[0],), x.dtype)

    found = problems(make(lambda x: x.sum(), infer), X, checks=Checks().alone)
    assert "inference agrees with the result, inputs known" in found
    assert "inference agrees with the result, traced" in found


def test_inference_that_is_right_for_known_sizes_only_is_found(make):
    def infer(x: Spec) -> Spec:
        return Spec(None if x.dims is None else tuple(d if isinstance(d, int) else 7 for d in x.dims), x.dtype)

    found = problems(make(lambda x: x + x, infer), X, checks=Checks().alone)
    assert "inference agrees with the result, inputs known" not in found
    assert "inference agrees with the result, inputs of unknown sizes" in found


def test_inference_that_knows_too_little_is_found(make):
    def infer(x: Spec) -> Spec:
        return Spec(None if x.dims is None else tuple(dims.Dim.symbol() for _ in x.dims), x.dtype)

    bad = make(lambda x: x + x, infer)
    assert "static inputs give static sizes (or the sample says sizes_follow=False)" in problems(bad, X)
    assert problems(bad, X, checks=Checks(sizes_follow=False, shapes=False)) == []


def test_a_kernel_that_takes_what_inference_refuses_is_found(make):
    def infer(x: Spec) -> Spec:
        if x.dims is not None and len(x.dims) != 2:
            raise ShapeError(f"x has rank {len(x.dims)}; expected 2")
        return Spec(x.dims, x.dtype)

    assert "a kernel refuses what inference refuses" in problems(make(lambda x: x + x, infer), X)


def test_a_kernel_that_refuses_what_inference_takes_is_found(make):
    def run(x):
        if x.ndim != 2:
            raise ValueError("rank 2 only")
        return x + x

    assert "an op that is not said to fail does not (or its inference refuses)" in problems(make(run), X)
    assert problems(make(run, can_fail=True), X) == []


def test_a_kernel_that_fails_for_a_dtype_that_inference_takes_is_found(make):
    def run(x):
        if x.dtype == np.int16:
            raise TypeError("no short numbers")
        return np.add(x, x)

    assert problems(make(run), X) == ["a dtype that inference takes works"]


def test_other_bits_at_another_place_are_found(make):
    def run(x):
        result = x * np.float32(2)
        if x.size > 40:
            result.reshape(-1)[40] += 1
        return result

    assert "the same bits at every place of an array" in problems(make(run, elementwise=True), X, checks=Checks().alone)


def test_a_host_value_that_the_kernel_uses_otherwise_is_found(make):
    def infer(x: Spec, shape: HostSpec) -> Spec:
        return Spec(shape.value, x.dtype)

    found = problems(make(lambda x, shape: np.full(shape[::-1], x), infer), np.float32(1), (2, 3), checks=Checks().alone)
    assert "inference agrees with the result, inputs known" in found


def test_wrong_gradients_are_found(make, toy):
    def square(x):
        return x * x

    def right(ctx, g):
        return toy.mul(g, toy.mul(ctx.inputs[0], 2.0))

    alone = Checks().alone
    assert problems(make(square, pull=right), X, checks=alone) == []
    wrong = problems(make(square, pull=lambda ctx, g: toy.mul(g, ctx.inputs[0])), X, checks=alone)
    assert "gradient of order 1 for x is the derivative" in wrong
    none = problems(make(square, pull=lambda ctx, g: None), X, checks=alone)
    assert none == ["gradient of order 1 for x is there"]
    assert problems(make(square, pull=lambda ctx, g: None), X, checks=Checks(constant=("x",)).alone) == []


def test_a_wrong_second_order_is_found(make, toy):
    def cut(ctx, g):
        twice = td.constant(2.0 * np.asarray(ctx.inputs[0])) if td.executing_eagerly() else toy.mul(ctx.inputs[0], 2.0)
        return toy.mul(g, twice)  # eagerly, the gradient of the gradient is lost

    found = problems(make(lambda x: x * x, pull=cut), X, checks=Checks().alone)
    assert "gradient of order 1 for x is the derivative" not in found
    assert "gradient of order 2 for x is there" in found


def test_a_gradient_that_is_another_one_while_tracing_is_found(make, toy):
    def pull(ctx, g):
        return toy.mul(g, 2.0 if td.executing_eagerly() else 3.0)

    found = problems(make(lambda x: x + x, pull=pull), X, checks=Checks(order=1).alone)
    assert "gradient of order 1, traced" in found
    assert "gradient of order 1 from outside td.function" in found


def test_check_gradient_takes_any_function(toy):
    x = np.float64([0.5, 1.5])
    check_gradient(lambda x, y: toy.mul(toy.mul(x, x), y), x, x + 1)

    @td.custom_gradient
    def wrong(x):
        return toy.mul(x, x), lambda g: g

    with pytest.raises(OpCheckError, match="input 0"):
        check_gradient(wrong, x, checks=Checks(order=1))


def test_compute_gradient_gives_both_jacobians(toy):
    theory, numbers_ = td.test.compute_gradient(lambda x, y: toy.mul(x, y), [td.constant([1.0, 2.0]), td.constant(3.0)])
    assert [t.tolist() for t in theory] == [[[3.0, 0.0], [0.0, 3.0]], [[1.0], [2.0]]]
    for a, b in zip(theory, numbers_, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)
    theory, numbers_ = td.testing.compute_gradient(toy.total, [td.constant(np.complex64([1 + 2j]))])
    assert theory[0].shape == (2, 2)
    np.testing.assert_allclose(theory[0], numbers_[0], atol=1e-3)
    with pytest.raises(ValueError, match="list or tuple"):
        td.test.compute_gradient(toy.neg, td.constant(1.0))
