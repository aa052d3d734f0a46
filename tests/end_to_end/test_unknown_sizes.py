"""Values and gradients of traces for sizes, or a rank, that are not known: those of the eager run."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)

PROGRAMS = {
    "gather with repeated rows": lambda x: td.gather(x, [0, 0, 2]),
    "gather_nd": lambda x: td.gather_nd(x, [[0, 1], [0, 1]]),
    "boolean_mask": lambda x: td.boolean_mask(x, x > 0),
    "strides": lambda x: x[::-1, 1:3:2],
    "softmax": td.nn.softmax,
    "cross entropy": lambda x: td.nn.softmax_cross_entropy_with_logits(labels=td.nn.softmax(x * 0.0), logits=x),
    "sparse cross entropy": lambda x: td.nn.sparse_softmax_cross_entropy_with_logits(labels=td.zeros([td.shape(x)[0]], td.int32), logits=x),
    "reduce_prod": td.reduce_prod,
    "cumprod": lambda x: td.math.cumprod(x, 1),
    "cumsum": lambda x: td.cumsum(x, 0, reverse=True),
    "reduce_max": lambda x: td.reduce_max(x, 0),
    "reduce_std": lambda x: td.math.reduce_std(x, 0),
    "logsumexp": lambda x: td.reduce_logsumexp(x, 1),
    "norm": lambda x: td.norm(x, axis=1),
    "top_k": lambda x: td.math.top_k(x, 2)[0],
    "where": lambda x: td.where(x > 0, x, 0.0),
    "where by row": lambda x: td.where(td.reduce_sum(x, 1, keepdims=True) > 0, x, -x),
    "tile": lambda x: td.tile(x, [2, 1]),
    "pad": lambda x: td.pad(x, [[1, 0], [0, 2]]),
    "split": lambda x: td.split(x, 2, 1)[0],
    "reshape": lambda x: td.reshape(x, [-1, 2]),
    "broadcasting": lambda x: x * td.ones([2, 1, 4]) + x[:1],
    "matmul": lambda x: x @ td.transpose(x),
    "einsum": lambda x: td.einsum("ij,kj->ik", x, x),
    "segment_sum": lambda x: td.math.segment_sum(x, td.range(td.shape(x)[0]) // 2),
    "unsorted_segment_max": lambda x: td.math.unsorted_segment_max(x, td.zeros([td.shape(x)[0]], td.int32), 2),
    "dynamic_partition": lambda x: td.dynamic_partition(x, [0, 1, 0], 2)[0],
    "scatter": lambda x: td.tensor_scatter_nd_add(x, [[0, 1], [0, 1]], [1.0, 2.0]),
    "scan": lambda x: td.scan(lambda a, b: a * b, x),
    "map_fn": lambda x: td.map_fn(lambda row: row * td.reduce_sum(row), x),
    "while_loop": lambda x: td.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1],
    "cond": lambda x: td.cond(td.reduce_sum(x) > 0, lambda: x * 2, lambda: x * 3),
    "TensorArray": lambda x: td.TensorArray(td.float32, 0, dynamic_size=True).unstack(x).stack() * 2.0,
    "size": lambda x: x / td.cast(td.size(x), td.float32),
    "conv1d": lambda x: td.nn.conv1d(x[:, :, None], td.ones([2, 1, 3]), 1, "SAME"),
    "recompute_grad": td.recompute_grad(lambda x: td.tanh(x @ td.transpose(x))),
}


def with_gradient(fn, x):
    with td.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    return y, td.convert_to_tensor(tape.gradient(y, x))


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients_are_the_eager_ones(name):
    eager = with_gradient(PROGRAMS[name], td.constant(X))
    for shape in ([None, 4], [None, None], None):
        f = td.function(lambda x: with_gradient(PROGRAMS[name], x), input_signature=[td.TensorSpec(shape, td.float32)])
        for a, b in zip(f(X), eager, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{name} for {shape}")


SIZED = {
    "matmul": (lambda x: td.matmul(x, x), r"the inner axes differ, 4 of a with shape \(3, 4\) and 3 of b with shape \(3, 4\)"),
    "reshape": (lambda x: td.reshape(x, [5]), r"reshape of shape \(3, 4\) \(12 elements\) to \[5\] \(5 elements\)"),
    "squeeze": (lambda x: td.squeeze(x, 0), r"axis 0 of shape \(3, 4\) has size 3; only axes of size 1"),
    "slice": (lambda x: td.slice(x, [0, 0], [9, 1]), r"begin 0 and size 9 do not fit axis 0 with size 3"),
    "index": (lambda x: x[5], r"index 5 is out of range for axis 0 with size 3 \(shape \(3, 4\)\)"),
    "add": (lambda x: x + td.ones([7, 1, 2]), r"shapes \(3, 4\) and \(7, 1, 2\) have sizes 4 and 2 on axis -1"),
    "solve": (lambda x: td.linalg.solve(x, x), r"the matrix of shape \(3, 4\) has 3 rows and 4 columns"),
    "unstack": (lambda x: td.unstack(x, num=5), r"axis 0 of shape \(3, 4\) has size 3, and num is 5"),
}


@pytest.mark.parametrize("name", SIZED)
def test_what_does_not_fit_is_told_with_the_sizes_of_the_call_and_the_line(name):
    fn, message = SIZED[name]
    f = td.function(fn, input_signature=[td.TensorSpec([None, None], td.float32)])
    with pytest.raises(td.errors.InvalidArgumentError, match=rf"{message}.*\(float32\[3, 4\].*test_unknown_sizes\.py:"):
        f(X)
    with pytest.raises(td.errors.InvalidArgumentError, match=message):
        fn(td.constant(X))


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_a_variable_takes_no_value_of_another_size(method):
    v = td.Variable([1.0, 2.0])
    f = td.function(lambda x: getattr(v, method)(x), input_signature=[td.TensorSpec([None], td.float32)])
    for wrong in ([5.0], [5.0, 6.0, 7.0]):
        with pytest.raises(td.errors.InvalidArgumentError, match=rf"\({len(wrong)},\).*test_unknown_sizes\.py:"):
            f(td.constant(wrong))
    assert v.numpy().tolist() == [1.0, 2.0]
    f(td.constant([1.0, 1.0]))
