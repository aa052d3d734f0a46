"""where, boolean_mask and sequence_mask."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import treadle as td

RNG = np.random.default_rng(7)
WAYS = (lambda f: f, td.function)


def test_where_chooses_with_broadcasting():
    c, x, y = RNG.random((3, 1)) < 0.5, RNG.standard_normal(4).astype(np.float32), np.float32(7)
    for way in WAYS:
        np.testing.assert_array_equal(way(td.where)(td.constant(c), td.constant(x), td.constant(y)).numpy(), np.where(c, x, y), strict=True)
        assert way(lambda c: td.where(c, 1.0, 0.0))(td.constant([True, False])).numpy().tolist() == [1, 0]
        assert way(lambda c, x: td.where(c, x, 5))(td.constant(True), td.constant([2, 3])).numpy().tolist() == [2, 3]


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "uint8", "bool", "complex64"])
def test_where_takes_every_dtype(dtype):
    c, x, y = np.array([True, False, True]), RNG.integers(0, 2, 3).astype(dtype), RNG.integers(0, 2, 3).astype(dtype)
    np.testing.assert_array_equal(td.where(c, x, y).numpy(), np.where(c, x, y), strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "complex64", "complex128"])
def test_many_elements_are_chosen_like_few(dtype):
    c, x, y = RNG.random((200, 201)) < 0.5, RNG.standard_normal((200, 201)).astype(dtype), RNG.standard_normal((200, 201)).astype(dtype)
    for a, b in ((x, y), (x, y[0, 0]), (x[0, 0], y), (x[0, 0], y[0, 0])):
        for way in WAYS:
            got = way(lambda c, a, b: td.where(c, a, b))(td.constant(c), td.constant(a), td.constant(b))
            np.testing.assert_array_equal(got.numpy(), np.where(c, a, b), strict=True)


def test_the_gradient_of_where_goes_to_what_was_chosen():
    c = td.constant([[True], [False]])
    for way in WAYS:
        x, y = td.constant([1.0, np.nan]), td.constant(3.0)
        with td.GradientTape() as tape:
            tape.watch([x, y])
            z = way(lambda x, y: td.where(c, x, y) * [[1.0, 2.0], [3.0, 4.0]])(x, y)
        gx, gy = tape.gradient(z, [x, y])
        assert (gx.numpy().tolist(), float(gy)) == ([1, 2], 7)


def test_where_alone_gives_the_coordinates():
    for array in (RNG.random((3, 4)) < 0.5, np.array([0.0, np.nan, -0.0, 2.0], np.float32), np.zeros((0, 2), bool), RNG.integers(0, 2, (2, 2, 2))):
        for way in WAYS:
            np.testing.assert_array_equal(way(td.where)(td.constant(array)).numpy(), np.argwhere(array), strict=True)
    assert td.where(np.array([1, 0, 1], ml_dtypes.bfloat16)).numpy().tolist() == [[0], [2]]
    assert (td.where(True).shape, td.where(False).shape) == ([1, 0], [0, 0])
    f = td.function(td.where, input_signature=[td.TensorSpec([None, 3], td.bool)])
    assert f.get_concrete_function().structured_outputs.shape == [None, 2]


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (([True], [1.0]), ValueError),
        (([1, 0], [1.0, 2.0], [3.0, 4.0]), TypeError),
        (([True, False], [1.0, 2.0], np.array([1.0, 2.0])), TypeError),
        (([True, False], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), ValueError),
    ],
)
def test_where_refuses_what_does_not_fit(args, kind):
    for way in WAYS:
        with pytest.raises(kind):
            way(td.where)(*map(td.constant, args))


MASKS = [
    ((3, 4), (3,), None),
    ((3, 4), (3, 4), None),
    ((3, 4), (4,), 1),
    ((2, 3, 4), (3, 4), 1),
    ((2, 3, 4), (3,), -2),
    ((5,), (5,), None),
    ((0, 2), (0,), None),
]


@pytest.mark.parametrize(("shape", "mask_shape", "axis"), MASKS)
def test_boolean_mask_keeps_what_numpy_keeps_and_sends_gradients_there(shape, mask_shape, axis):
    x, mask = RNG.standard_normal(shape).astype(np.float32), RNG.random(mask_shape) < 0.5
    index = (slice(None),) * ((axis or 0) % len(shape)) + (mask,)
    want, slope = x[index], np.zeros_like(x)
    slope[index] = 2 * want
    signature = [td.TensorSpec([None] * len(shape)), td.TensorSpec([None] * len(mask_shape), td.bool)]
    for way in (*WAYS, lambda f: td.function(f, input_signature=signature)):
        v = td.constant(x)
        with td.GradientTape() as tape:
            tape.watch(v)
            kept = way(lambda x, m: td.boolean_mask(x, m, axis))(v, td.constant(mask))
            y = kept * kept
        np.testing.assert_array_equal(kept.numpy(), want, strict=True)
        np.testing.assert_array_equal(tape.gradient(y, v).numpy(), slope)


def test_boolean_mask_knows_the_other_sizes_while_tracing():
    f = td.function(lambda x, m: td.boolean_mask(x, m, 1), input_signature=[td.TensorSpec([None, 3, 4]), td.TensorSpec([3], td.bool)])
    assert f.get_concrete_function().structured_outputs.shape == [None, None, 4]


@pytest.mark.parametrize(
    ("shape", "mask", "axis"), [((2, 3), [True] * 3, None), ((2,), True, None), ((2, 3), [True] * 2, 1), ((2,), [[True], [True]], None)]
)
def test_a_mask_that_does_not_fit_is_refused(shape, mask, axis):
    for way in WAYS:
        with pytest.raises(ValueError, match="mask"):
            way(lambda x, m: td.boolean_mask(x, m, axis))(td.ones(shape), td.constant(mask))


def test_sequence_mask_marks_the_first_positions():
    lengths = [[1, 3], [0, 2]]
    want = np.arange(4) < np.array(lengths)[..., None]
    for way in WAYS:
        np.testing.assert_array_equal(way(lambda n: td.sequence_mask(n, 4))(td.constant(lengths)).numpy(), want, strict=True)
        np.testing.assert_array_equal(way(td.sequence_mask)(td.constant(lengths)).numpy(), want[..., :3], strict=True)
        masked = way(lambda n, m: td.sequence_mask(n, m, td.float32))(td.constant(lengths, td.int64), td.constant(4))
        np.testing.assert_array_equal(masked.numpy(), want.astype(np.float32), strict=True)
    assert td.sequence_mask(2, 3).numpy().tolist() == [True, True, False]
    assert td.sequence_mask(td.zeros([0], td.int32)).shape == [0, 0]
    assert td.sequence_mask([-1]).shape == [1, 0]


def test_sequence_mask_refuses_what_does_not_fit():
    for way in WAYS:
        with pytest.raises(TypeError):
            way(td.sequence_mask)(td.constant([True]))
        with pytest.raises(ValueError, match="maxlen"):
            way(lambda n: td.sequence_mask(n, -1))(td.constant([1]))
        with pytest.raises(ValueError, match="maxlen"):
            way(lambda n: td.sequence_mask(n, [3, 4]))(td.constant([1]))
