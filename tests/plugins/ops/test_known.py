"""Values of shape-like tensors that are known while tracing, in ints and in sizes."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.dims import Dim


def known_of(fn, shape):
    """What is known while tracing of the integers that a function makes of a float tensor of this shape."""
    found = []

    def traced(x):
        result = fn(x)
        found.append(result.value.spec.value)
        return result

    td.function(traced, input_signature=[td.TensorSpec(shape, td.float32)], autograph=False).get_concrete_function()
    return as_user(found[0])


def as_user(value):
    if isinstance(value, tuple):
        return [as_user(v) for v in value]
    return "?" if isinstance(value, Dim) else value


CASES = {
    "shape": (lambda x: td.shape(x), ["?", 3]),
    "shape of int64": (lambda x: td.shape(x, td.int64), ["?", 3]),
    "size": (lambda x: td.size(td.transpose(x)), "?"),
    "rank": (lambda x: td.rank(x), 2),
    "cast": (lambda x: td.cast(td.cast(td.shape(x), td.int64), td.int32), ["?", 3]),
    "stack": (lambda x: td.stack([td.rank(x), 5]), [2, 5]),
    "stack of vectors": (lambda x: td.stack([td.shape(x), [1, 2]]), [["?", 3], [1, 2]]),
    "stack along the last axis": (lambda x: td.stack([td.shape(x), [1, 2]], -1), [["?", 1], [3, 2]]),
    "unstack": (lambda x: td.unstack(td.shape(x))[1], 3),
    "split": (lambda x: td.split(td.shape(x), 2)[0], ["?"]),
    "split of sizes": (lambda x: td.split(td.concat([td.shape(x), [7]], 0), [1, -1])[1], [3, 7]),
    "concat": (lambda x: td.concat([td.shape(x), [-1]], 0), ["?", 3, -1]),
    "reshape": (lambda x: td.reshape(td.shape(x), [2, 1]), [["?"], [3]]),
    "expand_dims": (lambda x: td.expand_dims(td.rank(x), 0), [2]),
    "squeeze": (lambda x: td.squeeze(td.reshape(td.rank(x), [1, 1])), 2),
    "transpose": (lambda x: td.transpose(td.reshape(td.shape(x), [1, 2])), [["?"], [3]]),
    "reverse": (lambda x: td.reverse(td.shape(x), [0]), [3, "?"]),
    "tile": (lambda x: td.tile(td.shape(x), [2]), ["?", 3, "?", 3]),
    "repeat": (lambda x: td.repeat(td.shape(x), [1, 2]), ["?", 3, 3]),
    "pad": (lambda x: td.pad(td.shape(x), [[1, 0]]), [0, "?", 3]),
    "ones": (lambda x: td.ones([2], td.int32), [1, 1]),
    "zeros": (lambda x: td.zeros([2, 1], td.int64), [[0], [0]]),
    "fill": (lambda x: td.fill([2], td.rank(x)), [2, 2]),
    "ones_like": (lambda x: td.ones_like(td.shape(x)), [1, 1]),
    "broadcast_to": (lambda x: td.broadcast_to(td.rank(x), [3]), [2, 2, 2]),
    "identity": (lambda x: td.identity(td.shape(x)), ["?", 3]),
    "range": (lambda x: td.range(td.rank(x)), [0, 1]),
    "range of sizes": (lambda x: td.range(2, 9, 3), [2, 5, 8]),
    "broadcast_dynamic_shape": (lambda x: td.broadcast_dynamic_shape(td.shape(x), [1, 1]), ["?", 3]),
    "narrow integers of numbers wrap": (lambda x: td.cast(td.constant([300, -1]), td.uint8), [44, 255]),
    "narrow integers of sizes are not told": (lambda x: td.cast(td.shape(x), td.int8), None),
    "floats are not told": (lambda x: td.cast(td.shape(x), td.float32), None),
    "large values are not carried": (lambda x: td.zeros([65], td.int32), None),
    "empty tables are not told": (lambda x: td.zeros([0, 2], td.int32), None),
}


@pytest.mark.parametrize("name", CASES)
def test_known_values_follow_the_op(name):
    function, want = CASES[name]
    assert known_of(function, [None, 3]) == want


def test_shapes_made_of_sizes_are_known_to_be_equal():
    @td.function(input_signature=[td.TensorSpec([None, 4], td.float32)])
    def traced(x):
        batch = td.unstack(td.shape(x))[0]
        flat = td.reshape(x, [-1])
        again = td.reshape(flat, td.stack([batch, 2, 2]))
        assert again.value.spec.dims[0] == x.value.spec.dims[0]
        assert td.reshape(x, td.concat([td.shape(x), [1]], 0)).shape.as_list() == [None, 4, 1]
        return again

    assert traced(td.ones([3, 4])).shape == (3, 2, 2)


def test_values_of_empty_tensors_keep_their_shape():
    traced = td.function(lambda x: (td.zeros_like(x), td.shape(x)), autograph=False)
    zeros, shape = traced(td.zeros([0, 3], td.int32))
    assert zeros.shape == (0, 3)
    assert shape.numpy().tolist() == [0, 3]


def test_empty_constants_keep_their_shape():
    traced = td.function(lambda: td.identity(td.zeros([0, 3], td.int32)) + td.identity(td.constant([], td.int32, [0, 3])), autograph=False)
    assert traced().shape == (0, 3)


def test_large_repetitions_of_known_values_cost_nothing_while_tracing():
    def traced():
        one = td.constant([[1]])
        many = [
            td.tile(one, [1 << 20, 1 << 20]),
            td.pad(one, [[0, 1 << 20], [0, 1 << 20]]),
            td.repeat(one, 1 << 30, 0),
            td.broadcast_to(one, [1 << 20, 1 << 20]),
        ]
        return [td.shape(m, td.int64)[0] for m in many]

    assert [int(n) for n in td.function(traced, autograph=False)()] == [1 << 20, (1 << 20) + 1, 1 << 30, 1 << 20]
