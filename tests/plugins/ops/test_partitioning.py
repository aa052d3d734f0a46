"""dynamic_partition and dynamic_stitch."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

RNG = np.random.default_rng(8)
WAYS = (lambda f: f, td.function)


@pytest.mark.parametrize(("shape", "rank"), [((6,), 1), ((6, 2), 1), ((2, 3, 2), 2), ((0, 2), 1)])
def test_a_partition_sorts_rows_and_its_gradient_puts_them_back(shape, rank):
    data, partitions = RNG.standard_normal(shape).astype(np.float32), RNG.integers(0, 3, shape[:rank]).astype(np.int32)
    weights = [1.0, 10.0, 100.0]
    signature = [td.TensorSpec([None] * len(shape)), td.TensorSpec([None] * rank, td.int32)]
    for way in (*WAYS, lambda f: td.function(f, input_signature=signature)):
        x = td.constant(data)
        with td.GradientTape() as tape:
            tape.watch(x)
            pieces = way(lambda x, p: td.dynamic_partition(x, p, 3))(x, td.constant(partitions))
            loss = sum(td.reduce_sum(piece * piece) * w for piece, w in zip(pieces, weights, strict=True))
        for i, piece in enumerate(pieces):
            np.testing.assert_array_equal(piece.numpy(), data[partitions == i], strict=True)
        scale = np.array(weights, np.float32)[partitions].reshape(shape[:rank] + (1,) * (len(shape) - rank))
        np.testing.assert_allclose(tape.gradient(loss, x).numpy(), 2 * data * scale, rtol=1e-6)


def test_a_gradient_reaches_a_partition_of_which_one_piece_is_used():
    x = td.constant([1.0, 2.0, 3.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.dynamic_partition(x, [1, 0, 1], 2)[1] * [5.0, 7.0]
    assert tape.gradient(y, x).numpy().tolist() == [5, 0, 7]


def test_what_cannot_be_partitioned_is_refused():
    for way in WAYS:
        with pytest.raises(td.errors.InvalidArgumentError, match=r"indices\[1\] = 2 is not in \[0, 2\)"):
            way(lambda x, p: td.dynamic_partition(x, p, 2))(td.ones([2]), td.constant([0, 2]))
        with pytest.raises(ValueError, match="begin with the shape"):
            way(lambda x, p: td.dynamic_partition(x, p, 2))(td.ones([3]), td.constant([0, 1]))
        with pytest.raises(ValueError, match="num_partitions"):
            way(lambda x, p: td.dynamic_partition(x, p, 0))(td.ones([2]), td.constant([0, 1]))


def test_a_stitch_puts_rows_in_their_places_and_the_last_stands():
    indices = [[2, 0], [[1, 2]], 4]
    data = [np.array([[1, 2], [3, 4]], np.float32), np.array([[[5, 6], [7, 8]]], np.float32), np.array([9, 9], np.float32)]
    want = [[3, 4], [5, 6], [7, 8], [0, 0], [9, 9]]
    for way in WAYS:
        xs = [td.constant(d) for d in data]
        with td.GradientTape() as tape:
            tape.watch(xs)
            result = way(lambda *xs: td.dynamic_stitch(indices, list(xs)))(*xs)
            y = result * [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [5.0, 5.0]]
        assert result.numpy().tolist() == want
        assert [g.numpy().tolist() for g in tape.gradient(y, xs)] == [[[3, 3], [1, 1]], [[[2, 2], [3, 3]]], [5, 5]]


def test_a_stitch_knows_its_size_when_the_indices_are_constants():
    f = td.function(lambda x, i: (td.dynamic_stitch([[3, 0], 1], [x, 5.0]), td.dynamic_stitch([i], [x])))
    known, unknown = f.get_concrete_function(td.TensorSpec([2]), td.TensorSpec([2], td.int32)).structured_outputs
    assert (known.shape, unknown.shape) == ([4], [None])


def test_what_cannot_be_stitched_is_refused():
    for way in WAYS:
        for indices, data in (([[0], [1]], [[1.0]]), ([[0]], [[1.0, 2.0]]), ([[0], [1]], [[[1.0]], [2.0]]), ([[-1, 0]], [[1.0, 2.0]])):
            with pytest.raises(td.errors.InvalidArgumentError):
                way(lambda *data, indices=indices: td.dynamic_stitch(indices, list(data)))(*map(td.constant, data))
