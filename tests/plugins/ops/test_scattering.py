"""scatter_nd and tensor_scatter_nd_*."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import treadle as td

RNG = np.random.default_rng(6)
SHAPES = [((5, 3), (4, 1)), ((5, 3), (6, 2)), ((3, 4, 2), (2, 3, 2)), ((4,), (0, 1)), ((3, 2), (2, 0)), ((5, 3), (1,))]
EACH = {"add": lambda old, new: old + new, "sub": lambda old, new: old - new, "max": np.maximum, "min": np.minimum, "update": lambda old, new: new}
TENSOR_SCATTER = {name: getattr(td, f"tensor_scatter_nd_{name}") for name in EACH}


def some(shape, indices_shape, dtype, index_dtype="int32"):
    depth = indices_shape[-1]
    columns = [RNG.integers(0, n, indices_shape[:-1]) for n in shape[:depth]]
    indices = np.stack(columns, -1).astype(index_dtype) if depth else np.zeros(indices_shape, index_dtype)
    return indices, RNG.integers(0, 9, indices_shape[:-1] + shape[depth:]).astype(dtype), RNG.integers(0, 9, shape).astype(dtype)


def one_by_one(tensor, indices, updates, function):
    result = tensor.copy()
    with np.errstate(over="ignore"):
        for at in np.ndindex(*indices.shape[:-1]):
            place = tuple(int(i) for i in indices[at])
            result[place] = function(result[place], updates[at])
    return result


@pytest.mark.parametrize(("shape", "indices_shape"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16, "int8", "uint16", "int64", "complex64"])
def test_updates_go_to_their_places_one_after_the_other(shape, indices_shape, dtype):
    indices, updates, tensor = some(shape, indices_shape, dtype, "int64")
    for way in (lambda f: f, td.function):
        scattered = way(lambda i, u: td.scatter_nd(i, u, shape))(td.constant(indices), td.constant(updates))
        np.testing.assert_array_equal(scattered.numpy(), one_by_one(np.zeros_like(tensor), indices, updates, EACH["add"]), strict=True)
        for name, function in EACH.items():
            if np.dtype(dtype).kind == "c" and name in ("max", "min"):
                continue
            got = way(TENSOR_SCATTER[name])(td.constant(tensor), td.constant(indices), td.constant(updates))
            np.testing.assert_array_equal(got.numpy(), one_by_one(tensor, indices, updates, function), strict=True)


def test_bools_are_joined_by_or():
    assert td.scatter_nd([[1], [1], [0]], [True, False, False], [3]).numpy().tolist() == [False, True, False]
    assert td.tensor_scatter_nd_update([True, True], [[0]], [False]).numpy().tolist() == [False, True]


def test_integers_wrap():
    assert td.scatter_nd([[0], [0]], np.array([100, 100], np.int8), [1]).numpy().tolist() == [-56]
    assert td.tensor_scatter_nd_sub(np.array([1], np.uint8), [[0]], np.array([3], np.uint8)).numpy().tolist() == [254]


def test_nan_wins_a_maximum_and_a_minimum():
    for scatter in (td.tensor_scatter_nd_max, td.tensor_scatter_nd_min):
        got = scatter([1.0, np.nan, 3.0], [[0], [1], [0], [2]], [np.nan, 1.0, 5.0, 3.0])
        np.testing.assert_array_equal(got.numpy(), [np.nan, np.nan, 3])


def test_a_place_that_no_update_reaches_keeps_its_bits():
    got = td.tensor_scatter_nd_add(np.full((600, 20), -0.0, np.float32), np.zeros((1000, 1), np.int32), np.ones((1000, 20), np.float32)).numpy()
    assert np.signbit(got[1:]).all()
    assert (got[0] == 1000).all()


def slopes(function, *values, way=lambda f: f):
    tensors = [td.constant(v) for v in values]
    with td.GradientTape() as tape:
        tape.watch(tensors)
        y = way(function)(*tensors)
    return [g.numpy() for g in tape.gradient(y, tensors)]


def numeric(function, *values):
    result = []
    for k, value in enumerate(values):
        g = np.zeros_like(value)
        for at in np.ndindex(*value.shape):
            moved = [[v.copy() for v in values] for _ in range(2)]
            moved[0][k][at] += 1e-6
            moved[1][k][at] -= 1e-6
            g[at] = (float(function(*moved[0])) - float(function(*moved[1]))) / 2e-6
        result.append(g)
    return result


@pytest.mark.parametrize("name", TENSOR_SCATTER)
def test_gradients_agree_with_finite_differences(name):
    indices = [[2], [0]] if name == "update" else [[2], [0], [2]]
    tensor, updates = RNG.standard_normal((4, 3)), RNG.standard_normal((len(indices), 3))
    weights = RNG.standard_normal((4, 3))

    def loss(tensor, updates):
        return td.reduce_sum(td.square(TENSOR_SCATTER[name](tensor, indices, updates)) * weights)

    for way in (lambda f: f, td.function, lambda f: td.function(f, input_signature=[td.TensorSpec([None, 3], "float64")] * 2)):
        for got, want in zip(slopes(loss, tensor, updates, way=way), numeric(loss, tensor, updates), strict=True):
            np.testing.assert_allclose(got, want, atol=1e-7)


def test_the_gradient_of_scatter_nd_is_gather_nd():
    def loss(updates):
        return td.reduce_sum(td.square(td.scatter_nd([[2], [0], [2]], updates, [4, 2])))

    updates = RNG.standard_normal((3, 2))
    for way in (lambda f: f, td.function):
        np.testing.assert_allclose(slopes(loss, updates, way=way)[0], numeric(loss, updates)[0], atol=1e-7)


def test_what_ties_shares_the_gradient():
    x, updates = slopes(lambda x, u: td.tensor_scatter_nd_max(x, [[0], [0], [1]], u), np.array([2.0, 5.0]), np.array([2.0, 1.0, 4.0]))
    assert (x.tolist(), updates.tolist()) == ([0.5, 1.0], [0.5, 0.0, 0.0])


def test_an_index_out_of_range_is_named_or_passed_over():
    for way in (lambda f: f, td.function):
        with pytest.raises(td.errors.InvalidArgumentError, match=r"indices\[1\] = \[4\] does not index into shape \[4\]"):
            way(lambda u: td.scatter_nd([[0], [4]], u, [4]))(td.constant([1.0, 2.0]))
        passed = way(lambda u: td.scatter_nd([[0], [4], [-1]], u, [2], bad_indices_policy="IGNORE"))(td.constant([1.0, 2.0, 3.0]))
        assert passed.numpy().tolist() == [1, 0]
        for scatter in TENSOR_SCATTER.values():
            with pytest.raises(td.errors.InvalidArgumentError, match=r"indices\[0\] = \[-1\]"):
                way(lambda x, u, scatter=scatter: scatter(x, [[-1]], u))(td.zeros([3]), td.constant([1.0]))


@pytest.mark.parametrize(
    ("indices", "updates", "kind"),
    [
        ([[0]], np.ones(2, np.float32), ValueError),
        ([[0]], np.ones((1, 1), np.float32), ValueError),
        ([[0, 0]], np.ones(1, np.float32), ValueError),
        (0, np.ones(1, np.float32), ValueError),
        ([[0.0]], np.ones(1, np.float32), TypeError),
        ([[0]], np.ones(1, np.float64), TypeError),
    ],
)
def test_what_does_not_fit_is_refused_in_both_modes(indices, updates, kind):
    for way in (lambda f: f, td.function):
        for scatter in TENSOR_SCATTER.values():
            with pytest.raises(kind):
                way(lambda x, i, u, scatter=scatter: scatter(x, i, u))(td.zeros([4]), td.constant(indices), td.constant(updates))


def test_the_shape_may_be_a_tensor():
    @td.function(input_signature=[td.TensorSpec([None, 1], td.int32), td.TensorSpec([None, 2])])
    def f(indices, updates):
        result = td.scatter_nd(indices, updates, [td.shape(indices)[0] + 1, 2])
        assert result.dims == (indices.dims[0] + 1, 2)
        return result

    assert f(td.constant([[2], [0]]), td.constant([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist() == [[3, 4], [0, 0], [1, 2]]
