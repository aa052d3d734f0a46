"""gather, gather_nd, embedding_lookup and IndexedSlices."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import treadle as td

RNG = np.random.default_rng(5)
DTYPES = ("float32", "float16", ml_dtypes.bfloat16, "int8", "uint64", "complex64", "bool")

GATHERS = [  # shape of params, of indices, axis, batch_dims
    ((5, 3), (4,), 0, 0),
    ((5, 3), (2, 2), 1, 0),
    ((5, 3), (2,), -2, 0),
    ((5,), (), 0, 0),
    ((5, 3), (0,), 0, 0),
    ((0, 3), (0,), 0, 0),
    ((3, 4, 2), (3, 5), 1, 1),
    ((2, 3, 4), (2, 3, 2), 2, 2),
    ((2, 3, 4), (2, 3), 2, 1),
    ((2, 3, 4), (2, 5), -1, -1),
    ((2, 0, 3), (2, 4), 2, 1),
]


def positions(shape, indices, axis, batch_dims):
    """Where in the flat params each element of a gather comes from."""
    flat = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    axis, batch = axis % len(shape), batch_dims % indices.ndim if batch_dims < 0 else batch_dims
    result = np.empty(shape[:axis] + indices.shape[batch:] + shape[axis + 1 :], int)
    for at in itertools.product(*map(range, shape[:batch])):
        result[at] = np.take(flat[at], indices[at], axis - batch)
    return result


def case(shape, indices_shape, axis, dtype="int32"):
    return RNG.integers(0, max(shape[axis], 1), indices_shape).astype(dtype)


@pytest.mark.parametrize(("shape", "indices_shape", "axis", "batch_dims"), GATHERS)
def test_gather_takes_slices_of_every_dtype(shape, indices_shape, axis, batch_dims):
    for dtype, index_dtype in zip(DTYPES, itertools.cycle(("int32", "int64", "uint8")), strict=False):
        params, indices = RNG.integers(0, 2, shape).astype(dtype), case(shape, indices_shape, axis, index_dtype)
        want = params.reshape(-1)[positions(shape, indices, axis, batch_dims)]
        for way in (lambda f: f, td.function):
            got = way(lambda p, i: td.gather(p, i, axis=axis, batch_dims=batch_dims))(td.constant(params), td.constant(indices))
            np.testing.assert_array_equal(got.numpy(), want, strict=want.ndim > 0)


@pytest.mark.parametrize(("shape", "indices_shape", "axis", "batch_dims"), GATHERS)
def test_its_gradient_adds_up_where_an_index_repeats(shape, indices_shape, axis, batch_dims):
    indices = case(shape, indices_shape, axis)
    at = positions(shape, indices, axis, batch_dims)
    for dtype in ("float64", "float16", "complex64"):
        params, cotangent = RNG.integers(-3, 4, shape).astype(dtype), RNG.integers(-3, 4, at.shape).astype(dtype)
        want = np.zeros(params.size, dtype)
        np.add.at(want, at.reshape(-1), cotangent.reshape(-1))
        signature = [td.TensorSpec([None] * len(shape), dtype), td.TensorSpec(None, "int32")]
        for way in (lambda f: f, td.function, lambda f, signature=signature: td.function(f, input_signature=signature)):
            x = td.constant(params)
            with td.GradientTape() as tape:
                tape.watch(x)
                y = way(lambda p, i: td.gather(p, i, axis=axis, batch_dims=batch_dims))(x, td.constant(indices))
            got = tape.gradient(y, x, output_gradients=td.constant(cotangent))
            np.testing.assert_array_equal(got.numpy(), want.reshape(shape))


def test_a_large_gradient_has_the_bits_of_a_loop_over_its_rows():
    indices, rows = RNG.integers(0, 50, 3000), RNG.standard_normal((3000, 8)).astype(np.float32)
    want = np.zeros((50, 8), np.float32)
    for i, row in zip(indices, rows, strict=True):
        want[i] += row
    x = td.Variable(want)
    with td.GradientTape() as tape:
        y = td.gather(x, indices)
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=td.constant(rows)).numpy(), want)


def test_gather_is_differentiable_twice():
    x = td.constant([1.0, 2.0, 3.0])
    with td.GradientTape() as outer:
        outer.watch(x)
        with td.GradientTape() as inner:
            inner.watch(x)
            y = td.gather(x, [2, 2, 0])
            loss = td.reduce_sum(y * y * y)
        g = inner.gradient(loss, x)
    assert g.numpy().tolist() == [3, 0, 54]
    assert outer.gradient(g, x).numpy().tolist() == [6, 0, 36]


@pytest.mark.parametrize(("indices", "words"), [([0, 3], "indices[1] = 3 is not in [0, 3)"), ([[0], [-1]], "indices[1,0] = -1"), (7, "indices = 7")])
def test_an_index_out_of_range_is_named(indices, words):
    for way in (lambda f: f, td.function):
        with pytest.raises(td.errors.InvalidArgumentError) as refused:
            way(lambda x, i: td.gather(x, i))(td.constant([1.0, 2.0, 3.0]), td.constant(indices))
        assert words in str(refused.value)


def test_a_bad_gather_in_a_branch_not_taken_traces():
    f = td.function(lambda x, i: td.gather(x, 9) + i)
    assert f.get_concrete_function(td.TensorSpec([3]), td.TensorSpec([])) is not None


@pytest.mark.parametrize(
    ("params", "indices", "options", "kind"),
    [
        (np.ones(3, np.float32), [0.0], {}, TypeError),
        (np.ones(3, np.float32), [0], {"axis": 1}, ValueError),
        (np.ones(3, np.float32), [0], {"axis": -2}, ValueError),
        (np.ones((2, 3), np.float32), [0], {"batch_dims": 2}, ValueError),
        (np.ones((2, 3), np.float32), [[0], [0]], {"batch_dims": 1, "axis": 0}, ValueError),
        (np.ones((2, 3), np.float32), [[0]] * 3, {"batch_dims": 1}, ValueError),
        (np.float32(1), 0, {}, ValueError),
    ],
)
def test_what_does_not_fit_is_refused_in_both_modes(params, indices, options, kind):
    for way in (lambda f: f, td.function):
        for again in range(2):  # the second eager call finds its kernel without inference
            with pytest.raises(kind):
                way(lambda p, i: td.gather(p, i, **options))(td.constant(params), td.constant(indices))
            if not again and isinstance(indices, list) and params.ndim:
                td.gather(td.constant(np.ones((9, 9), np.float32)), td.constant([0]))


# ---------------------------------------------------------------------- gather_nd


def test_gather_nd_takes_slices_at_coordinates():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    ones = [[1, 2], [0, 0], [1, 2]]
    for way in (lambda f: f, td.function):
        np.testing.assert_array_equal(way(td.gather_nd)(td.constant(x), td.constant(ones)).numpy(), x[[1, 0, 1], [2, 0, 2]])
        np.testing.assert_array_equal(way(td.gather_nd)(td.constant(x), td.constant([[[1]], [[0]]], td.int64)).numpy(), x[[1, 0]][:, None])
        np.testing.assert_array_equal(way(td.gather_nd)(td.constant(x), td.constant([1, 2, 3])).numpy(), x[1, 2, 3])
        np.testing.assert_array_equal(way(td.gather_nd)(td.constant(x), td.zeros([2, 0], td.int32)).numpy(), np.stack([x, x]))
        batched = way(lambda p, i: td.gather_nd(p, i, batch_dims=1))(td.constant(x), td.constant([[[2]], [[0]]]))
        np.testing.assert_array_equal(batched.numpy(), x[[0, 1], [2, 0]][:, None])


@pytest.mark.parametrize(("indices", "batch_dims"), [([[1, 2], [0, 0], [1, 2]], 0), ([[[2]], [[0]]], 1), ([[1], [1]], 0)])
def test_the_gradient_of_gather_nd_adds_up(indices, batch_dims):
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    shape = td.gather_nd(x, indices, batch_dims).shape
    weights = RNG.standard_normal(shape)
    want = np.zeros(24)
    places = td.gather_nd(np.arange(24).reshape(2, 3, 4), indices, batch_dims).numpy()
    np.add.at(want, places.reshape(-1), 2 * x.reshape(-1)[places.reshape(-1)] * weights.reshape(-1))
    for way in (lambda f: f, td.function):
        v = td.constant(x)
        with td.GradientTape() as tape:
            tape.watch(v)
            y = way(lambda v: td.reduce_sum(td.square(td.gather_nd(v, indices, batch_dims)) * weights))(v)
        np.testing.assert_allclose(tape.gradient(y, v).numpy().reshape(-1), want)


def test_coordinates_out_of_range_are_named_or_passed_over():
    x = td.constant([[1.0, 2.0], [3.0, 4.0]])
    for way in (lambda f: f, td.function):
        with pytest.raises(td.errors.InvalidArgumentError, match=r"indices\[1\] = \[1, 2\] does not index into shape \[2, 2\]"):
            way(td.gather_nd)(x, td.constant([[0, 1], [1, 2]]))
        passed = way(lambda x, i: td.gather_nd(x, i, bad_indices_policy="IGNORE"))(x, td.constant([[0, 1], [1, 2], [-1, 0]]))
        assert passed.numpy().tolist() == [2, 0, 0]
    with pytest.raises(ValueError, match="bad_indices_policy"):
        td.gather_nd(x, [[0]], bad_indices_policy="never")
    assert td.gather_nd(td.zeros([0, 2]), [[1]], bad_indices_policy="IGNORE").numpy().tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("indices", "batch_dims", "kind"), [([[0, 0, 0]], 0, ValueError), ([[0.0]], 0, TypeError), (0, 0, ValueError), ([[0]], 1, ValueError)]
)
def test_coordinates_that_do_not_fit_are_refused(indices, batch_dims, kind):
    for way in (lambda f: f, td.function):
        with pytest.raises(kind):
            way(lambda x, i: td.gather_nd(x, i, batch_dims))(td.ones([2, 3]), td.constant(indices))


# ---------------------------------------------------------------------- embeddings


def test_embedding_lookup_takes_rows_of_one_matrix_or_of_its_parts():
    whole = np.arange(10, dtype=np.float32).reshape(5, 2)
    matrix, ids = td.Variable(whole), [[0, 4], [3, 3]]
    for way in (lambda f: f, td.function):
        np.testing.assert_array_equal(way(lambda: td.nn.embedding_lookup(matrix, ids))().numpy(), whole[ids])
        np.testing.assert_array_equal(way(lambda: td.nn.embedding_lookup([whole[:3], whole[3:]], ids))().numpy(), whole[ids])


def test_rows_of_a_greater_norm_are_scaled_down():
    matrix = td.constant([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    for way in (lambda f: f, td.function):
        rows = way(lambda m: td.nn.embedding_lookup(m, [[0, 1], [2, 0]], max_norm=1.0))(matrix)
        np.testing.assert_allclose(rows.numpy(), [[[0.6, 0.8], [0.3, 0.4]], [[0, 0], [0.6, 0.8]]], rtol=1e-6)


def test_embedding_lookup_refuses_an_id_out_of_range():
    with pytest.raises(td.errors.InvalidArgumentError, match=r"is not in \[0, 2\)"):
        td.nn.embedding_lookup(td.ones([2, 2]), [2])


# ---------------------------------------------------------------------- IndexedSlices


def test_indexed_slices_become_the_sum_of_their_rows():
    slices = td.IndexedSlices([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 0], [4, 2])
    dense = [[6, 8], [0, 0], [3, 4], [0, 0]]
    assert (slices.dtype, slices.shape) == (td.float32, [4, 2])
    assert td.convert_to_tensor(slices).numpy().tolist() == dense
    assert td.convert_to_tensor(-slices).numpy().tolist() == (-np.array(dense)).tolist()
    assert td.add(slices, 1.0).numpy().tolist() == (np.array(dense) + 1).tolist()
    v = td.Variable(td.zeros([4, 2]))
    v.assign_add(slices)
    assert v.numpy().tolist() == dense
    assert td.function(lambda x: td.multiply(td.IndexedSlices(x, [1], [2, 1]), 2.0))(td.constant([[3.0]])).numpy().tolist() == [[0], [6]]


def test_indexed_slices_without_a_shape_cannot_become_a_tensor():
    slices = td.IndexedSlices([1.0], [0])
    assert slices.shape.rank is None
    with pytest.raises(ValueError, match="dense_shape"):
        td.convert_to_tensor(slices)


def test_a_spec_of_indexed_slices_is_a_value():
    spec = td.IndexedSlicesSpec([4, 2])
    assert spec == td.IndexedSlicesSpec([4, 2], td.float32)
    assert hash(spec) == hash(td.IndexedSlicesSpec([4, 2]))
    assert spec != td.IndexedSlicesSpec([4, 3])
    assert spec.is_compatible_with(td.IndexedSlices([[1.0, 2.0]], [0], [4, 2]))
    assert not spec.is_compatible_with(td.constant(1.0))
    assert spec.value_type is td.IndexedSlices


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_many_elements_at_indices_of_any_dtype(dtype):
    x, indices = np.arange(120, dtype=np.float32), np.random.default_rng(0).integers(0, 120, (3, 20_000)).astype(dtype)
    np.testing.assert_array_equal(td.gather(x, indices), x[indices])
    indices[2, 7] = 120
    with pytest.raises(td.errors.InvalidArgumentError, match=r"indices\[2,7\] = 120"):
        td.gather(x, indices)


def test_coordinates_into_sizes_that_no_int32_holds():
    nothing = td.zeros([0, 2**31])
    assert td.gather_nd(nothing, np.zeros((0, 2), np.int32)).shape == (0,)
    assert td.scatter_nd(np.zeros((0, 2), np.int32), np.zeros(0, np.float32), [0, 2**40]).shape == (0, 2**40)
    with pytest.raises(td.errors.InvalidArgumentError, match=r"\[1, 2\]"):
        td.gather_nd(nothing, np.array([[1, 2]], np.int32))


FAR = np.array([5, 2**32 + 1])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: td.gather(x, FAR),
        lambda x: td.gather(x, [FAR[1]]),
        lambda x: td.gather(x, np.uint32([2**32 - 1])),
        lambda x: td.gather_nd(x, FAR[:, None]),
        lambda x: td.scatter_nd(FAR[:, None], [1.0, 2.0], [7]),
        lambda x: td.tensor_scatter_nd_add(x, FAR[:, None], [1.0, 2.0]),
        lambda x: td.math.unsorted_segment_sum([1.0, 2.0], FAR, 7),
        lambda x: td.nn.embedding_lookup(x[:, None], FAR),
        lambda x: td.dynamic_partition(x[:2], FAR, 6),
        lambda x: td.nn.sparse_softmax_cross_entropy_with_logits(FAR, [[1.0] * 7] * 2),
    ],
)
def test_wide_integers_of_numpy_are_never_cut(call):
    x = td.range(7.0)
    for run in (call, td.function(call)):
        with pytest.raises(td.errors.InvalidArgumentError):
            run(x)
    assert td.one_hot(FAR, 7).numpy().sum(1).tolist() == [1.0, 0.0]
