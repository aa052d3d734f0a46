"""meshgrid and unravel_index."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

WAYS = (lambda f: f, td.function)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(3,), (2, 3), (2, 3, 4), (1, 0), ()])
def test_a_grid_is_numpys(indexing, sizes):
    vectors = [np.arange(n, dtype=np.float32) + 10 * n for n in sizes]
    want = np.meshgrid(*vectors, indexing=indexing)
    signature = [td.TensorSpec([None])] * len(sizes)
    for way in (*WAYS, lambda f: td.function(f, input_signature=signature)):
        got = way(lambda *v: td.meshgrid(*v, indexing=indexing))(*map(td.constant, vectors))
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g.numpy(), w, strict=True)


def test_gradients_sum_over_the_grid():
    x, y = td.constant([1.0, 2.0]), td.constant([3.0, 4.0, 5.0])
    with td.GradientTape() as tape:
        tape.watch([x, y])
        a, b = td.meshgrid(x, y)
        z = a * a * b
    gx, gy = tape.gradient(z, [x, y])
    assert (gx.numpy().tolist(), gy.numpy().tolist()) == ([24, 48], [5, 5, 5])


def test_a_grid_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="'zz'"):
        td.meshgrid([1.0], [2.0], indexing="zz")
    with pytest.raises(TypeError, match="'sparse'"):
        td.meshgrid([1.0], sparse=True)
    with pytest.raises(TypeError, match="int32"):
        td.meshgrid([1.0], [2])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_places_come_back_as_coordinates(dtype):
    places = np.array([5, 0, 23], dtype)
    want = np.stack(np.unravel_index(places, (2, 3, 4))).astype(dtype)
    for way in WAYS:
        np.testing.assert_array_equal(way(lambda p: td.unravel_index(p, [2, 3, 4]))(td.constant(places)).numpy(), want, strict=True)
        np.testing.assert_array_equal(way(td.unravel_index)(td.constant(places), td.constant([2, 3, 4])).numpy(), want, strict=True)
        assert way(lambda p: td.unravel_index(p, [3, 4]))(td.constant(5)).numpy().tolist() == [1, 1]


def test_a_place_outside_is_refused():
    for way in WAYS:
        for place in (6, -1):
            with pytest.raises(td.errors.InvalidArgumentError, match=f"indices\\[0\\] = {place}"):
                way(lambda p: td.unravel_index(p, [2, 3]))(td.constant([place]))
        with pytest.raises(ValueError, match="vector"):
            way(lambda p: td.unravel_index(p, [[2]]))(td.constant([0]))
        with pytest.raises(TypeError):
            way(lambda p: td.unravel_index(p, [2]))(td.constant([0.0]))
