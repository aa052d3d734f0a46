"""Python's ``x[...]``, slices of Variables, slice and strided_slice, and shape arithmetic through them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td
from treadle.dims import Dim
from treadle.graph.text import from_text, to_text
from treadle_ops.selection import slice_size
from treadle_ops.slicing import strided_slice_op

X = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)

INDICES = {
    "an int": 1,
    "a negative int": -1,
    "a slice": slice(1, None),
    "a slice that clips": slice(-9, 9),
    "an empty slice": slice(2, 1),
    "backwards": slice(None, None, -1),
    "backwards in steps": (0, slice(None, 0, -2)),
    "steps": (slice(None), slice(None, None, 2)),
    "ellipsis": (..., 0),
    "ellipsis in the middle": (0, ..., slice(1, 3)),
    "ellipsis for nothing": (0, 1, ..., 2),
    "new axes": (None, 0, ..., None),
    "all ints": (1, 2, 3),
    "a column": (slice(None), slice(None), 1),
    "nothing": (),
    "numpy ints": (np.int64(1), slice(np.int32(0), np.int8(2))),
}


def of_unknown_shape(function):
    return td.function(function, input_signature=[td.TensorSpec([None, None, None])])


@pytest.mark.parametrize("name", INDICES)
def test_an_index_selects_what_it_selects_in_numpy(name):
    index = INDICES[name]
    want = X[index]
    for way in (lambda f: f, td.function, of_unknown_shape):
        got = way(lambda x: x[index])(td.constant(X))
        np.testing.assert_array_equal(got.numpy(), want, strict=True)


@pytest.mark.parametrize("name", INDICES)
def test_its_gradient_reaches_what_was_selected_twice_over(name):
    index = INDICES[name]
    weights = np.zeros_like(X)
    weights[index] = 3
    for way in (lambda f: f, td.function, of_unknown_shape):
        x = td.constant(X)
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as inner:
                inner.watch(x)
                y = way(lambda x: x[index] * x[index] * x[index] * 0.5)(x)
            g = inner.gradient(y, x)
        np.testing.assert_array_equal(g.numpy(), weights * X * X / 2)
        np.testing.assert_array_equal(outer.gradient(g, x).numpy(), weights * X)


def test_rows_picked_more_than_once_add_up():
    x = td.constant([1.0, 2.0, 3.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = x[0] * 2 + x[-3] * 3 + td.reduce_sum(x[:2])
    assert tape.gradient(y, x).numpy().tolist() == [6, 1, 0]


def test_scalar_tensors_are_ints_and_bounds():
    i, j = td.constant(1), td.constant(3, td.int64)
    v = td.Variable(2)

    def pick(x, i, j):
        return x[0, i], x[0, i, j], x[..., i:j], x[..., ::v], x[-i]

    want = [X[0, 1], X[0, 1, 3], X[..., 1:3], X[..., ::2], X[-1]]
    for way in (pick, td.function(pick)):
        for got, expected in zip(way(td.constant(X), i, j), want, strict=True):
            np.testing.assert_array_equal(got.numpy(), expected, strict=True)


def test_the_gradient_of_a_slice_whose_bounds_are_tensors():
    @td.function
    def slope(x, i, j):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.reduce_sum(x[i:j] * [1.0, 2.0]) + x[i]
        return tape.gradient(y, x)

    assert slope(td.constant([5.0, 6.0, 7.0, 8.0]), td.constant(1), td.constant(3)).numpy().tolist() == [0, 2, 2, 0]


def test_a_bool_tensor_is_a_mask():
    x = td.constant(X)
    np.testing.assert_array_equal(x[td.constant(X > 20)].numpy(), X[X > 20])
    np.testing.assert_array_equal(x[np.array([True, False])].numpy(), X[:1])


def test_iterating_gives_the_rows():
    np.testing.assert_array_equal([row.numpy() for row in td.constant(X)], X)
    assert [int(n) for n in td.constant([3, 1, 2])] == [3, 1, 2]


def test_newaxis_is_none():
    assert td.newaxis is None


@pytest.mark.parametrize(
    ("index", "kind", "words"),
    [
        (2, td.errors.InvalidArgumentError, "index 2 is out of range for axis 0 with size 2"),
        ((0, -4), ValueError, "index -4 is out of range for axis 1 with size 3"),
        ((0, 0, 0, 0), td.errors.InvalidArgumentError, "too many indices"),
        ((..., 0, ...), ValueError, "more than one"),
        (slice(0, 2, 0), ValueError, "step 0"),
        (1.5, TypeError, "1.5"),
        ("a", TypeError, "'a'"),
        ([0, 1], TypeError, "td.gather"),
        ((0, [0, 1]), TypeError, "td.gather"),
        (np.array([0, 1]), TypeError, "td.gather"),
        (slice(0.5, 2), TypeError, "0.5"),
        ((0, True), TypeError, "True"),
        (True, ValueError, "scalar"),
    ],
)
def test_what_is_no_index_is_refused_in_both_modes(index, kind, words):
    for way in (lambda f: f, td.function):
        with pytest.raises(kind) as refused:
            way(lambda x: x[index])(td.constant(X))
        assert words in str(refused.value)


def test_tensors_that_are_not_scalar_integers_are_no_indices():
    for index in (td.constant([0, 1]), td.constant(1.0), td.constant([[1]])):
        for way in (lambda f: f, td.function):
            with pytest.raises(TypeError, match=r"td\.gather"):
                way(lambda x, i: x[i])(td.constant(X), index)


def test_an_int_out_of_range_is_refused_when_the_size_is_known_at_last():
    f = td.function(lambda x: x[3], input_signature=[td.TensorSpec([None])])
    assert float(f(td.constant([1.0, 2, 3, 4]))) == 4
    with pytest.raises(td.errors.InvalidArgumentError, match="index 3 is out of range for axis 0 with size 1"):
        f(td.constant([1.0]))


# ---------------------------------------------------------------------- replacing


def test_assigning_to_a_slice_of_a_variable_replaces_it():
    def change(v):
        v[0].assign(td.zeros([3, 4]))
        v[1, 1:, ::2].assign([[7.0, 8.0]])
        v[..., 3].assign(-1.0)
        return v + 0.0

    want = X.copy()
    want[0], want[1, 1:, ::2], want[..., 3] = 0, [[7, 8]], -1
    for way in (lambda f: f, td.function):
        v = td.Variable(X)
        np.testing.assert_array_equal(way(change)(v).numpy(), want)
        np.testing.assert_array_equal(v.numpy(), want)


def test_a_slice_of_a_variable_at_a_tensor_can_be_assigned_to():
    v = td.Variable([1.0, 2, 3])

    @td.function
    def change(i):
        v[i : i + 2].assign([9.0, 8.0])

    change(td.constant(1))
    assert v.numpy().tolist() == [1, 9, 8]


@pytest.mark.parametrize(
    ("index", "value", "kind"),
    [
        (0, np.zeros((4, 3), np.float32), td.errors.InvalidArgumentError),
        (0, np.zeros((1, 1, 3, 4), np.float32), ValueError),
        (0, np.zeros((3, 4)), TypeError),
        (5, 0.0, ValueError),
        (X > 3, 0.0, TypeError),
    ],
)
def test_a_value_that_does_not_fit_a_slice_is_refused(index, value, kind):
    for way in (lambda f: f, td.function):
        v = td.Variable(X)
        with pytest.raises(kind):
            way(lambda v: v[index].assign(td.constant(value)))(v)
        np.testing.assert_array_equal(v.numpy(), X)


# ---------------------------------------------------------------------- slice and strided_slice


def test_slice_takes_a_box():
    begin, size = [0, 1, 1], [2, -1, 2]
    for way in (lambda f: f, td.function, of_unknown_shape):
        np.testing.assert_array_equal(way(lambda x: td.slice(x, begin, size))(td.constant(X)).numpy(), X[0:2, 1:, 1:3])
    dynamic = td.function(td.slice)
    np.testing.assert_array_equal(dynamic(td.constant(X), td.constant(begin), td.constant(size)).numpy(), X[0:2, 1:, 1:3])
    assert td.slice(td.constant(4.0), td.zeros([0], td.int32), td.zeros([0], td.int32)).shape == []


def test_the_gradient_of_slice():
    @td.function
    def slope(x, begin):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.slice(x, begin, [2])
        return tape.gradient(y, x, output_gradients=td.constant([3.0, 4.0]))

    assert slope(td.constant([1.0, 2.0, 3.0]), td.constant([1])).numpy().tolist() == [0, 3, 4]


@pytest.mark.parametrize(
    ("begin", "size"), [([1, 0, 0], [2, 1, 1]), ([-1, 0, 0], [1, 1, 1]), ([0, 0, 0], [-2, 1, 1]), ([0, 0], [1, 1]), ([3, 0, 0], [-1, 1, 1])]
)
def test_a_box_that_reaches_out_is_refused(begin, size):
    for way in (lambda f: f, td.function, of_unknown_shape):
        with pytest.raises(td.errors.InvalidArgumentError):
            way(lambda x: td.slice(x, begin, size))(td.constant(X))


def test_masks_of_strided_slice_say_what_each_entry_is():
    x = td.constant(X)

    def check(want, *numbers, **masks):
        for way in (lambda f: f, td.function):
            np.testing.assert_array_equal(way(lambda x: td.strided_slice(x, *numbers, **masks))(x).numpy(), want, strict=True)

    check(X[0:2, 1:3], [0, 1], [2, 3])
    check(X[:1, 1:], [1, 1], [1, 2], begin_mask=1, end_mask=2)
    check(X[0, 0:3:2], [0, 0], [9, 3], [1, 2], shrink_axis_mask=1)
    check(X[..., 1:2], [5, 1], [5, 2], ellipsis_mask=1)
    check(X[None, 1], [3, 1], [3, 2], new_axis_mask=1, shrink_axis_mask=3)
    check(X[:, ::-1], [0, -1], [2, -9], [1, -1])
    traced = td.function(lambda x, b, e: td.strided_slice(x, b, e, shrink_axis_mask=2))
    np.testing.assert_array_equal(traced(x, td.constant([0, 1]), td.constant([1, 2])).numpy(), X[0:1, 1])


@pytest.mark.parametrize(("numbers", "shrink"), [(([0], [1, 2]), 0), (([0], [1], [0]), 0), (([0], [1], [-1]), 1), ((0, 1), 0)])
def test_strided_slice_refuses_numbers_that_do_not_fit(numbers, shrink):
    for way in (lambda f: f, td.function):
        with pytest.raises(ValueError, match="strided_slice"):
            way(lambda x: td.strided_slice(x, *numbers, shrink_axis_mask=shrink))(td.constant(X))


# ---------------------------------------------------------------------- what is known while tracing


def test_the_size_of_a_slice_is_right_wherever_it_is_known():
    n = Dim.symbol("n")
    starts = (None, -4, -1, 0, 1, 5, n - 2, -n, n + 1)
    for start, stop, step in itertools.product(starts, starts, (None, 2, -1, -3)):
        size = slice_size(start, stop, step, n)
        symbols = size.symbols() if isinstance(size, Dim) else set()
        if symbols <= {n}:
            for k in range(7):
                bounds = [b.evaluate({n: k}) if isinstance(b, Dim) else b for b in (start, stop)]
                assert (size.evaluate({n: k}) if isinstance(size, Dim) else size) == len(range(*slice(*bounds, step).indices(k)))


def test_shape_arithmetic_stays_known():
    @td.function(input_signature=[td.TensorSpec([None, 4, 6])])
    def f(x):
        (n, four, six) = x.dims
        shape = td.shape(x)
        assert td.reshape(x, [shape[0] * 2, 12]).dims == (n * 2, 12)
        assert td.reshape(x, td.stack([shape[0] * shape[1], shape[-1]])).dims == (n * 4, six)
        assert td.reshape(x, td.concat([shape[:1], [3, 8]], 0)).dims == (n, 3, 8)
        assert td.reshape(x, td.concat([[3, 8], shape[:1]], 0)).dims == (3, 8, n)
        assert td.zeros(td.gather(shape, [2, 0])).dims == (six, n)
        assert td.zeros(td.cast(shape, td.int64)[1:]).dims == (four, six)
        assert td.zeros(td.add(shape[::-1], [0, 1, 0])).dims == (six, four + 1, n)
        assert td.zeros(td.slice(shape, [1], [-1])).dims == (four, six)
        assert x[1:, :3, ::2].dims == (x[1:].dims[0], 3, 3)
        assert x[: shape[0]].dims == (n, 4, 6)
        assert x[:-1].dims[0] == x[1:].dims[0]
        assert x[td.newaxis, ..., 0].dims == (1, n, 4)
        return x

    f(td.zeros([2, 4, 6]))


def test_inference_knows_the_rank_with_an_unknown_shape():
    f = td.function(lambda x: (x[0], x[..., None]), input_signature=[td.TensorSpec(None)])
    row, column = f(td.constant([[1.0, 2.0]]))
    assert (row.shape, column.shape) == ([2], [1, 2, 1])


def test_an_index_in_a_graph_prints_and_parses():
    graph = td.function(lambda x, i: (x[..., None, 1:], x[i:, 0])).get_concrete_function(td.TensorSpec([None, 3]), td.TensorSpec([], td.int32)).graph
    assert to_text(from_text(to_text(graph))).count("strided_slice(") == 2


def test_a_tape_keeps_no_note_of_each_index():
    x = td.Variable(np.zeros(200, np.float32))
    with td.GradientTape() as tape:
        y = sum(x[i] for i in range(200))
    assert tape.gradient(y, x).numpy().tolist() == [1] * 200
    assert not strided_slice_op.op.reads
