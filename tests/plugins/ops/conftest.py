"""Ways to run a function of tensors that must all give the same: eagerly, traced, and traced with shapes that are not known."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


def leaves(result):
    """Results in a flat list."""
    return [leaf for item in result for leaf in leaves(item)] if isinstance(result, list | tuple) else [result]


def traced_with(fn, tensors, shape_of):
    """The function traced on specs whose shapes ``shape_of`` gives."""
    return td.function(fn, input_signature=[td.TensorSpec(shape_of(t), t.dtype) for t in tensors], autograph=False)


@pytest.fixture
def shape_while_tracing():
    """The shapes of a function's results, tuples with None for what is unknown, where only these shapes of its arguments are known."""

    def shapes(fn, *shapes, dtypes=None):
        specs = [td.TensorSpec(shape, dtype) for shape, dtype in zip(shapes, dtypes or ["float32"] * len(shapes), strict=True)]
        results = td.function(fn, input_signature=specs, autograph=False).get_concrete_function().structured_outputs
        found = [None if t.shape.rank is None else tuple(t.shape.as_list()) for t in leaves(results)]
        return found[0] if len(found) == 1 else found

    return shapes


@pytest.fixture
def every_mode():
    """Run a function in every mode, check that all agree bit for bit, and give back its results as NumPy arrays.

    ``rank=False`` leaves out the mode where not even ranks are known.
    """

    def run(fn, *args, rank=True):
        tensors = [td.convert_to_tensor(a) for a in args]
        eager = leaves(fn(*tensors))
        ways = {
            "traced": td.function(fn, autograph=False),
            "unknown sizes": traced_with(fn, tensors, lambda t: [None] * t.shape.rank),
        }
        if rank:
            ways["unknown rank"] = traced_with(fn, tensors, lambda t: None)
        for way, function in ways.items():
            for got, want in zip(leaves(function(*tensors)), eager, strict=True):
                assert got.dtype is want.dtype, way
                np.testing.assert_array_equal(np.asarray(got), np.asarray(want), err_msg=way, strict=True)
        return [np.asarray(t) for t in eager]

    return run


@pytest.fixture
def check_linear():
    """Check the first and second gradient of a linear function of one float64 tensor in every mode.

    For cotangents c and any v: ``sum(f(v) * c) == sum(v * gradient)``, and the gradient of that with respect to c is ``f(v)``.
    """

    def check(fn, shape, rank=True):
        rng = np.random.default_rng(5)
        x, v = (td.constant(rng.standard_normal(shape)) for _ in range(2))
        images = leaves(fn(v))
        cotangents = [td.constant(rng.standard_normal(image.shape)) for image in images]

        def both(x, v, *cotangents):
            with td.GradientTape() as outer:
                outer.watch(cotangents)
                with td.GradientTape() as tape:
                    tape.watch(x)
                    results = leaves(fn(x))
                gradient = tape.gradient(results, x, output_gradients=list(cotangents))
            return gradient, outer.gradient(gradient, list(cotangents), output_gradients=v)

        tensors = (x, v, *cotangents)
        ways = [both, td.function(both, autograph=False), traced_with(both, tensors, lambda t: [None] * t.shape.rank)]
        if rank:
            ways.append(traced_with(both, tensors, lambda t: None))
        for way in ways:
            gradient, second = way(*tensors)
            assert gradient.shape == shape
            want = sum(np.sum(np.asarray(c) * np.asarray(image)) for c, image in zip(cotangents, images, strict=True))
            np.testing.assert_allclose(np.sum(np.asarray(gradient) * np.asarray(v)), want, rtol=1e-9, atol=1e-9)
            for again, image in zip(second, images, strict=True):
                np.testing.assert_allclose(np.asarray(again), np.asarray(image), rtol=1e-9)

    return check


@pytest.fixture
def refuses():
    """Check that a call raises ``error`` eagerly, also when its kernel is resolved already, and while tracing or when the trace runs."""

    def check(error, fn, *args, match=None):
        tensors = [td.convert_to_tensor(a) for a in args]
        ways = [fn, fn, td.function(fn, autograph=False), lambda *ts: traced_with(fn, ts, lambda t: [None] * t.shape.rank)(*ts)]
        for way in ways:
            with pytest.raises(error, match=match):
                way(*tensors)

    return check


@pytest.fixture
def check_gradient():
    """Check the gradients of a function of float64 tensors, and theirs, against central differences in every mode."""

    def check(fn, *arrays, rtol=1e-5, atol=1e-7, step=1e-6, second=True):
        arrays = [np.array(a, np.float64) for a in arrays]
        rng = np.random.default_rng(11)
        weight = rng.uniform(0.5, 1.5, np.shape(fn(*map(td.constant, arrays))))
        directions = [rng.uniform(0.5, 1.5, a.shape) for a in arrays]

        def value(*xs):
            return td.reduce_sum(fn(*xs) * weight)

        def slope(*xs):
            with td.GradientTape() as tape:
                tape.watch(xs)
                result = value(*xs)
            gradients = tape.gradient(result, xs)
            return td.add_n([td.reduce_sum(g * d) for g, d in zip(gradients, directions, strict=True) if g is not None])

        for function, derivative in ((value, slope), (slope, None)):
            if derivative is None and not second:
                break
            for i in range(len(arrays)):
                check_one(function, arrays, i, rtol, atol, step)

    def check_one(function, arrays, i, rtol, atol, step):
        def gradient(*xs):
            with td.GradientTape() as tape:
                tape.watch(xs[i])
                result = function(*xs)
            return tape.gradient(result, xs[i], unconnected_gradients="zero")

        tensors = [td.constant(a) for a in arrays]
        want = np.zeros(arrays[i].shape)
        for index in np.ndindex(arrays[i].shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[i][index] += sign * step
                ends.append(float(function(*map(td.constant, moved))))
            want[index] = (ends[0] - ends[1]) / (2 * step)
        eager = np.asarray(gradient(*tensors))
        np.testing.assert_allclose(eager, want, rtol=rtol, atol=atol)
        for traced in (td.function(gradient, autograph=False), traced_with(gradient, tensors, lambda t: [None] * t.shape.rank)):
            np.testing.assert_allclose(np.asarray(traced(*tensors)), eager, rtol=1e-12, atol=1e-13)

    return check
