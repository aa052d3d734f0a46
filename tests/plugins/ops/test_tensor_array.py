"""TensorArray: the same eagerly, traced, in loops and branches, with gradients of first and second order."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest

import treadle as td
from treadle import nest
from treadle.dtypes import DType, list_of
from treadle.errors import DTypeError, InvalidArgumentError, OutOfRangeError, ShapeError


def filled(*tensors, dtype=td.float64, **options):
    ta = td.TensorArray(dtype, len(tensors), **options)
    for i, t in enumerate(tensors):
        ta = ta.write(i, t)
    return ta


@pytest.mark.parametrize("shape", [(3,), (2, 2), (0, 2), ()])
def test_what_is_written_is_read_stacked_and_gathered(every_mode, shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(np.float64)

    def program(t):
        ta = filled(t, t + 1, t * 2)
        return ta.read(1), ta.stack(), ta.gather([2, 0, 2]), ta.size()

    read, stacked, gathered, size = every_mode(program, x)
    np.testing.assert_array_equal(read, x + 1)
    np.testing.assert_array_equal(stacked, np.stack([x, x + 1, x * 2]))
    np.testing.assert_array_equal(gathered, np.stack([x * 2, x, x * 2]))
    assert size == 3 and size.dtype == np.int32


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int8", "uint64", "bool"])
def test_every_dtype_is_held(every_mode, dtype):
    x = np.array([[0, 1], [1, 0]]).astype(td.as_dtype(dtype).numpy)
    assert every_mode(lambda t: td.TensorArray(dtype, 2).unstack(t).stack(), x)[0].tolist() == x.tolist()


def test_unstack_and_stack_are_inverse(every_mode, check_linear):
    x = np.arange(24.0).reshape(4, 3, 2)
    np.testing.assert_array_equal(every_mode(lambda t: td.TensorArray(td.float64, 4).unstack(t).stack(), x)[0], x)
    check_linear(lambda t: td.TensorArray(td.float64, 4).unstack(t).gather([3, 1, 3]), (4, 3))
    check_linear(lambda t: td.TensorArray(td.float64, 4).unstack(t).read(2), (4, 3))
    check_linear(lambda t: td.TensorArray(td.float64, 4).unstack(t).write(1, t[0]).stack(), (4, 3))


def test_split_and_concat_are_inverse(every_mode, check_linear):
    x = np.arange(12.0).reshape(6, 2)

    def program(t):
        ta = td.TensorArray(td.float64, 3, infer_shape=False).split(t, [1, 3, 2])
        return ta.read(1), ta.concat(), ta.size()

    piece, joined, size = every_mode(program, x)
    np.testing.assert_array_equal(piece, x[1:4])
    np.testing.assert_array_equal(joined, x)
    assert size == 3
    check_linear(lambda t: td.TensorArray(td.float64, 3, infer_shape=False).split(t, [1, 3, 2]).concat(), (6, 2))
    check_linear(lambda t: td.TensorArray(td.float64, 3, infer_shape=False).split(t, [1, 3, 2]).read(1), (6, 2))


def test_split_takes_lengths_known_when_it_runs(every_mode):
    x, lengths = np.arange(6.0), np.array([4, 0, 2])
    ta = td.TensorArray(td.float64, 3, infer_shape=False)
    parts = every_mode(lambda t, n: [ta.split(t, n).read(i) for i in range(3)], x, lengths)
    for got, want in zip(parts, np.split(x, [4, 4]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_scatter_puts_slices_at_their_places(every_mode, check_linear):
    x = np.arange(6.0).reshape(3, 2)
    got = every_mode(lambda t: td.TensorArray(td.float64, 4).scatter([3, 0, 1], t).stack(), x)[0]
    np.testing.assert_array_equal(got, [x[1], x[2], [0, 0], x[0]])
    check_linear(lambda t: td.TensorArray(td.float64, 4).scatter([3, 0, 1], t).stack(), (3, 2))


def test_of_equal_indices_the_last_slice_counts_and_gets_the_gradient():
    x = td.constant([1.0, 2.0, 3.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.TensorArray(td.float32, 2).scatter([0, 1, 0], x).stack()
    assert y.numpy().tolist() == [3, 2]
    assert tape.gradient(y, x).numpy().tolist() == [0, 1, 1]


def test_gradients_of_first_and_second_order_flow_through_every_method(check_gradient):
    def program(a, b):
        ta = filled(a * a, a * b, td.sin(b))
        ta = ta.write(1, ta.read(0) * ta.read(2))
        ta = ta.scatter([2], ta.read(1)[None] * b)
        return td.concat([ta.concat(), td.reshape(ta.stack() * ta.gather([2, 0, 1]), [-1])], 0)

    check_gradient(program, [0.3, -0.7], [1.1, 0.4])


def test_a_loop_carries_an_array(every_mode, check_gradient):
    def program(x, n):
        ta = td.TensorArray(td.float64, n)

        def body(i, ta, x):
            return i + 1, ta.write(i, x * x), x * 1.5

        return td.while_loop(lambda i, ta, x: i < n, body, (0, ta, x))[1].stack()

    x = np.array([1.0, -2.0])
    got = every_mode(program, x, np.int32(3))[0]
    np.testing.assert_array_equal(got, np.stack([(x * 1.5**k) ** 2 for k in range(3)]))
    check_gradient(lambda x: program(x, 3), [0.5, 1.5])


def test_a_loop_reads_an_array_from_outside(check_gradient):
    def program(x):
        ta = td.TensorArray(td.float64, 3).unstack(x)

        def body(i, total):
            return i + 1, total * td.sin(total) + ta.read(i) ** 2

        return td.while_loop(lambda i, _: i < 3, body, (0, x[0]))[1]

    check_gradient(program, np.random.default_rng(1).normal(size=(3, 2)))


def test_a_loop_reads_what_it_wrote_the_turn_before(check_gradient):
    def program(x):
        ta = td.TensorArray(td.float64, 0, dynamic_size=True, element_shape=[2]).write(0, x)

        def body(i, ta):
            return i + 1, ta.write(i, td.sin(ta.read(i - 1)) * x)

        return td.while_loop(lambda i, ta: i < 4, body, (1, ta), maximum_iterations=10)[1].stack()

    check_gradient(program, [0.5, 1.5])


def test_a_loop_in_a_loop_carries_an_array(check_gradient):
    def program(x):
        ta = td.TensorArray(td.float64, 4)

        def outer(i, ta, x):
            def inner(j, ta, x):
                return j + 1, ta.write(2 * i + j, x * x), x + td.sin(x)

            _, ta, x = td.while_loop(lambda j, *_: j < 2, inner, (0, ta, x))
            return i + 1, ta, x

        return td.while_loop(lambda i, *_: i < 2, outer, (0, ta, x))[1].stack()

    check_gradient(program, [0.5, -0.3])


def test_a_loop_of_one_array_takes_it_alone(every_mode):
    def program(x):
        ta = td.TensorArray(td.float64, 0, dynamic_size=True)
        results = []
        for most in (None, 2):
            (found,) = td.while_loop(lambda ta: ta.size() < 3, lambda ta: ta.write(ta.size(), x), [ta], maximum_iterations=most)
            results.append(found.stack())
        return results

    three, two = every_mode(program, np.array([4.0, 5.0]))
    assert three.tolist() == [[4, 5]] * 3
    assert two.tolist() == [[4, 5]] * 2


def test_shape_invariants_stand_beside_an_array():
    @td.function(autograph=False)
    def program(x):
        ta = td.TensorArray(td.float32, 3, infer_shape=False)

        def body(i, x, ta):
            return i + 1, td.concat([x, x], 0), ta.write(i, td.reduce_sum(x))

        invariants = (td.TensorShape([]), td.TensorShape([None]), td.TensorShape(None))
        return td.while_loop(lambda i, *_: i < 3, body, (0, x, ta), shape_invariants=invariants)[2].stack()

    assert program(td.constant([1.0, 1.0])).numpy().tolist() == [2, 4, 8]


@pytest.fixture(params=["eager", "traced"])
def way(request):
    return (lambda program: td.function(program, autograph=False)) if request.param == "traced" else lambda program: program


def uneven(x, **options):
    return td.TensorArray(td.float32, 2, **options).split(x, [2, 4])


@pytest.mark.parametrize("infer", [True, False])
def test_pieces_may_differ_in_length(way, infer):
    def slope(program):
        def run(x):
            with td.GradientTape() as tape:
                tape.watch(x)
                y = program(uneven(x, infer_shape=infer))
            return y, tape.gradient(y, x)

        return [t.numpy().tolist() for t in way(run)(td.range(6.0))]

    assert slope(lambda ta: ta.read(1)) == [[2, 3, 4, 5], [0, 0, 1, 1, 1, 1]]
    assert slope(lambda ta: ta.gather([0])) == [[[0, 1]], [1, 1, 0, 0, 0, 0]]
    assert slope(lambda ta: ta.concat()) == [[0, 1, 2, 3, 4, 5], [1] * 6]
    assert slope(lambda ta: ta.write(0, td.zeros([3])).read(1)) == [[2, 3, 4, 5], [0, 0, 1, 1, 1, 1]]
    with pytest.raises(ShapeError, match=r"shapes \(2,\) and \(4,\)"):
        slope(lambda ta: ta.stack())


def test_an_array_of_different_pieces_goes_through_a_loop_and_out_of_a_function(way):
    def program(x):
        return td.while_loop(lambda i, _: i < 1, lambda i, ta: (i + 1, ta.split(x, [2, 4])), (0, td.TensorArray(td.float32, 2)))[1]

    ta = way(program)(td.range(6.0))
    assert ta.element_shape.as_list() == [None]
    assert [t.numpy().tolist() for t in ta] == [[0, 1], [2, 3, 4, 5]]
    assert ta.write(0, td.zeros([2])).read(1).shape == [4]


def test_pieces_that_do_not_fit_the_array_are_refused(way):
    with pytest.raises(ShapeError, match=r"saw \(4,\) but expected \(2,\)"):
        way(lambda x: uneven(x, element_shape=[2]).read(1))(td.range(6.0))
    with pytest.raises(ShapeError, match=r"saw \(2,\) but expected \(3,\)"):
        way(lambda x: td.TensorArray(td.float32, 2).split(x, [3, 3]).write(0, td.zeros([2])).stack())(td.range(6.0))
    with pytest.raises(InvalidArgumentError, match=r"the lengths \[-1, 7\] must be 0 or more"):
        way(lambda x: td.TensorArray(td.float32, 2).split(x, [-1, 7]).read(0))(td.range(6.0))
    run = td.function(lambda x, n: td.TensorArray(td.float32, 2).split(x, n).read(0), autograph=False)
    with pytest.raises(InvalidArgumentError, match=r"the lengths \[-1, 7\] must be 0 or more"):
        run(td.range(6.0), td.constant([-1, 7]))


def test_a_branch_gives_an_array(every_mode, check_gradient):
    def program(x):
        ta = filled(x, x * 2)
        ta = td.cond(td.reduce_sum(x) > 0, lambda: ta.write(1, x * x), lambda: ta.write(0, x * x * x))
        return ta.stack()

    for x in ([1.0, 2.0], [-1.0, -2.0]):
        x = np.array(x)
        want = [x, x * x] if x[0] > 0 else [x**3, x * 2]
        np.testing.assert_array_equal(every_mode(program, x)[0], want)
        check_gradient(program, x)


def test_an_array_goes_into_a_traced_function_and_comes_out():
    @td.function
    def doubled(ta):
        return ta.write(0, ta.read(1) * 2.0)

    x = td.constant([1.0, 2.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        ta = doubled(td.TensorArray(td.float32, 2).unstack(td.stack([x, x * x])))
        assert isinstance(ta, td.TensorArray)
        y = ta.stack()
    assert y.numpy().tolist() == [[2, 8], [1, 4]]
    assert tape.gradient(y, x).numpy().tolist() == [6, 12]
    assert doubled.experimental_get_tracing_count() == 1
    doubled(td.TensorArray(td.float32, 2).unstack([[1.0], [2.0]]))
    assert doubled.experimental_get_tracing_count() == 1


def test_an_eager_array_is_captured():
    ta = filled([1.0, 2.0], [3.0, 4.0], dtype=td.float32)
    outer = td.function(lambda x: td.function(lambda y: ta.read(1) * y)(x))
    assert outer(td.constant(2.0)).numpy().tolist() == [6, 8]


def test_an_array_is_not_changed_by_writing():
    ta = filled([1.0], [2.0])
    other = ta.write(0, [5.0])
    again = ta.write(1, [6.0])
    assert ta.stack().numpy().tolist() == [[1], [2]]
    assert other.stack().numpy().tolist() == [[5], [2]]
    assert again.stack().numpy().tolist() == [[1], [6]]


def test_what_was_written_stays_though_its_buffer_could_be_used_again():
    @td.function(autograph=False)
    def program(x):
        large = td.exp(x)
        ta = td.TensorArray(td.float32, 2).write(0, large)
        negative = -large
        ta = ta.write(1, negative)
        return ta.stack(), negative * 2.0 + 1.0, -ta.read(1), ta.read(1)

    x = np.linspace(0, 1, 10000, dtype=np.float32)
    large = np.exp(x)
    for _ in range(2):
        stacked, _, positive, negative = program(td.constant(x))
        np.testing.assert_allclose(stacked, [large, -large], rtol=1e-6)
        np.testing.assert_allclose(positive, large, rtol=1e-6)
        np.testing.assert_allclose(negative, -large, rtol=1e-6)


# ---------------------------------------------------------------------- dropped results


@pytest.mark.parametrize("traced", [False, True])
def test_a_dropped_write_means_the_same_in_both_modes_and_is_told(traced):
    def program(x):
        ta = td.TensorArray(td.float32, 2)
        ta.write(0, x)
        ta.write(1, x)
        return ta.stack()

    function = td.function(program, autograph=False) if traced else program
    with pytest.warns(UserWarning, match=r"ta = ta\.write\(\.\.\.\)"), pytest.raises(InvalidArgumentError, match=r"ta = ta\.write\(index, value\)"):
        function(td.constant(1.0))


@pytest.mark.parametrize("traced", [False, True])
def test_a_dropped_write_in_a_loop_is_told(traced):
    def program(x):
        ta = td.TensorArray(td.float32, 2, element_shape=[])

        def body(i):
            ta.write(i, x)
            return i + 1

        td.while_loop(lambda i: i < 2, body, [0])
        return ta.stack()

    function = td.function(program, autograph=False) if traced else program
    with pytest.warns(UserWarning, match="dropped"):
        assert function(td.constant(1.0)).numpy().tolist() == [0, 0]


def test_a_dropped_write_is_named_by_its_own_line():
    ta = td.TensorArray(td.float32, 2, element_shape=[])
    ta.write(0, 1.0)  # this one
    with pytest.warns(UserWarning, match=r"ta\.write\(0, 1\.0\)  # this one"):
        ta.stack()


def test_kept_arrays_are_not_taken_for_dropped():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ta = td.TensorArray(td.float32, 2)
        first, second = ta.write(0, 1.0), ta.write(0, 2.0)
        del second  # nothing is read from what it was made of before it is gone
        assert first.write(1, 3.0).stack().numpy().tolist() == [1, 3]
        kept = [first.write(i, 0.0).stack() for i in range(2)]
        gc.collect()
        assert len(kept) == 2 and first.size() == 2


# ---------------------------------------------------------------------- sizes and shapes


def test_a_dynamic_array_grows(every_mode):
    def program(x):
        ta = td.TensorArray(td.float64, 0, dynamic_size=True).write(2, x)
        ta = ta.write(0, x + 1)
        return ta.size(), ta.stack(), ta.scatter([4], x[None]).size()

    size, stacked, larger = every_mode(program, np.array([1.0, 2.0]))
    assert (int(size), int(larger)) == (3, 5)
    assert stacked.tolist() == [[2, 3], [0, 0], [1, 2]]


def test_a_size_may_be_a_tensor(every_mode):
    assert every_mode(lambda t: td.TensorArray(td.float64, td.shape(t)[0]).unstack(t).size(), np.ones((5, 2)))[0] == 5


def test_the_shape_is_inferred_and_enforced(refuses):
    ta = td.TensorArray(td.float32, 3)
    assert ta.element_shape.rank is None
    ta = ta.write(0, [1.0, 2.0])
    assert ta.element_shape == (2,)
    with pytest.raises(ValueError, match="saw \\(3,\\) but expected \\(2,\\)"):
        ta.write(1, [1.0, 2.0, 3.0])
    with pytest.raises(ShapeError):
        td.TensorArray(td.float32, 3, element_shape=[None, 2]).write(0, [1.0])
    x = np.ones(2, np.float32)
    refuses(ValueError, lambda t: td.TensorArray(td.float32, 2).write(0, t).write(1, td.concat([t, t], 0)).stack(), x)


def test_shapes_are_known_while_tracing():
    seen = []

    @td.function(input_signature=[td.TensorSpec([None, 3])], autograph=False)
    def program(x):
        ta = td.TensorArray(td.float32, 2).write(0, x)
        seen.extend([ta.element_shape, ta.stack().shape, ta.read(1).shape, ta.concat().shape, ta.gather([0]).shape])
        unstacked = td.TensorArray(td.float32, 0, dynamic_size=True).unstack(x)
        seen.extend([unstacked.element_shape, unstacked.stack().shape, unstacked.size().shape])
        return ta.stack()

    assert program(td.ones([4, 3])).shape == (2, 4, 3)
    lists = [shape.as_list() for shape in seen]
    assert lists == [[None, 3], [2, None, 3], [None, 3], [None, 3], [1, None, 3], [3], [None, 3], []]


def test_without_inference_shapes_may_differ_but_not_be_stacked():
    ta = filled(td.ones([2]), td.zeros([1]), dtype=td.float32, infer_shape=False)
    assert ta.concat().numpy().tolist() == [1, 1, 0]
    assert ta.read(1).shape == (1,)
    for program in (ta.stack, td.function(lambda: filled(td.ones([2]), td.zeros([1]), dtype=td.float32, infer_shape=False).stack())):
        with pytest.raises(InvalidArgumentError, match="shapes"):
            program()


def test_what_was_not_written_is_zeros_where_the_shape_is_known(every_mode):
    def program(x):
        ta = td.TensorArray(td.float64, 3, element_shape=[2])
        return ta.stack(), ta.read(1), ta.write(2, x).stack(), td.TensorArray(td.float64, 0, element_shape=[2]).stack()

    nothing, read, some, empty = every_mode(program, np.array([1.0, 2.0]))
    assert nothing.tolist() == [[0, 0]] * 3
    assert read.tolist() == [0, 0]
    assert some.tolist() == [[0, 0], [0, 0], [1, 2]]
    assert empty.shape == (0, 2)


def test_positions_that_do_not_exist_are_refused(refuses):
    x = np.ones(2, np.float32)
    for error in (IndexError, InvalidArgumentError, OutOfRangeError):
        refuses(error, lambda t: td.TensorArray(td.float32, 2).write(2, t).stack(), x)
    refuses(IndexError, lambda t: td.TensorArray(td.float32, 2).write(-1, t).stack(), x)
    refuses(IndexError, lambda t: td.TensorArray(td.float32, 2).unstack(t).read(2), x)
    refuses(IndexError, lambda t: td.TensorArray(td.float32, 2).unstack(t).read(-1), x)
    refuses(IndexError, lambda t: td.TensorArray(td.float32, 2).unstack(t).gather([0, 2]), x)
    refuses(IndexError, lambda t: td.TensorArray(td.float32, 2).scatter([0, 2], t).stack(), x)
    refuses(InvalidArgumentError, lambda t: td.TensorArray(td.float32, 2).gather([1]), x)


def test_what_does_not_fit_is_refused(refuses):
    x = np.ones(2, np.float32)
    refuses(DTypeError, lambda t: td.TensorArray(td.int32, 2).write(0, t).stack(), x)
    refuses(DTypeError, lambda t: td.TensorArray(td.float32, 2).write(0.0, t).stack(), x)
    refuses(ShapeError, lambda t: td.TensorArray(td.float32, 2).write([0, 1], t).stack(), x)
    refuses(ShapeError, lambda t: td.TensorArray(td.float32, 2).unstack(t[0]).stack(), x)
    refuses(ShapeError, lambda t: td.TensorArray(td.float32, 2).unstack(t).gather(1), x)
    refuses(ShapeError, lambda t: td.TensorArray(td.float32, 2).scatter([0], t).stack(), x)
    refuses(ShapeError, lambda t: td.TensorArray(td.float32, 2).unstack(t).concat(), x)
    refuses(InvalidArgumentError, lambda t: td.TensorArray(td.float32, 2).split(t, [2, 1]).concat(), x)
    refuses(InvalidArgumentError, lambda t: td.TensorArray(td.float32, 2).read(0), x)
    refuses(InvalidArgumentError, lambda t: td.TensorArray(td.float32, 0).stack(), x)
    with pytest.raises(ShapeError, match="static size 1"):
        td.TensorArray(td.float32, 1).unstack(td.ones([2]))
    with pytest.raises(ValueError, match="size"):
        td.TensorArray(td.float32)
    with pytest.raises(InvalidArgumentError, match="-1"):
        td.TensorArray(td.float32, -1)


def test_numbers_take_the_dtype_of_the_array():
    assert td.TensorArray(td.float64, 1).write(0, 3).read(0).dtype is td.float64
    assert td.TensorArray(td.int64, 2).unstack([1, 2]).stack().dtype is td.int64


def test_a_position_is_read_twice_unless_that_is_forbidden(every_mode):
    ta = filled(1.0, 2.0)
    assert float(ta.read(0)) == float(ta.read(0)) == 1
    forbidding = filled(1.0, 2.0, clear_after_read=True)
    forbidding.read(0)
    with pytest.raises(InvalidArgumentError, match="clear_after_read"):
        forbidding.read(0)
    assert float(forbidding.write(0, 5.0).read(0)) == 5


# ---------------------------------------------------------------------- what an array is


def test_an_array_is_a_structure_with_one_leaf():
    ta = filled([1.0], [2.0])
    (leaf,) = nest.flatten({"a": ta})
    assert leaf.dtype is list_of(td.float64) and leaf.shape == ()
    again = nest.pack_sequence_as(ta, [leaf])
    assert again.stack().numpy().tolist() == ta.stack().numpy().tolist()
    assert "2 tensors" in repr(ta) and "2 of them set" in repr(leaf) and "list" in str(leaf)


def test_the_dtype_of_lists_is_one_object_per_element():
    assert list_of(td.float32) is list_of(td.float32) is DType(list_of(td.float32).as_datatype_enum)
    assert list_of(td.float32).element is td.float32 and td.float32.element is td.float32
    assert list_of(td.float32).is_differentiable and not list_of(td.int32).is_differentiable


def test_the_other_names_of_an_array():
    ta = filled([1.0], [2.0])
    assert ta.dtype is td.float64 and not ta.dynamic_size and ta.handle is None
    assert ta.close() is None
    copy = td.TensorArray(td.float64, flow=ta.flow)
    assert copy.size() == 2 and copy.identity().read(1).numpy().tolist() == [2]
    with pytest.raises(NotImplementedError, match="GradientTape"):
        ta.grad("x")


def test_specs_of_arrays():
    spec = td.TensorArraySpec([None, 2], td.float32)
    ta = filled(td.ones([3, 2]), dtype=td.float32)
    assert spec.is_compatible_with(ta) and td.TensorArraySpec.from_value(ta) == td.TensorArraySpec([3, 2])
    assert not spec.is_compatible_with(td.TensorArraySpec([None, 2], td.int32)) and not spec.is_compatible_with(3)
    assert spec.most_specific_compatible_type(td.TensorArraySpec([3, 2])).element_shape.as_list() == [None, 2]
    assert hash(spec) == hash(td.TensorArraySpec([None, 2])) and spec.dtype is td.float32 and spec.value_type is td.TensorArray
    with pytest.raises(ValueError, match="compatible"):
        spec.most_specific_compatible_type(td.TensorArraySpec([3], td.float64))
    assert "(None, 2)" in repr(spec)


def growing(*rows, **options):
    ta = td.TensorArray(td.float32, 0, dynamic_size=True, **options)
    for k, row in enumerate(rows):
        ta = ta.write(k, row)
    return ta


GROWING = td.TensorArraySpec([None], td.float32, dynamic_size=True)


def test_a_spec_of_an_array_in_an_input_signature_serves_every_array_that_fits():
    @td.function(input_signature=[GROWING, td.TensorSpec([], td.int32)])
    def program(ta, i):
        return ta.write(i, ta.read(0) * 2.0)

    assert program(growing([1.0, 2.0]), 2).stack().numpy().tolist() == [[1, 2], [0, 0], [2, 4]]
    assert program(growing([1.0], [2.0]), 0).stack().numpy().tolist() == [[2], [2]]
    assert program(growing([1.0], element_shape=[1]), td.constant(1)).size() == 2
    assert program.experimental_get_tracing_count() == 1
    concrete = program.get_concrete_function()
    assert concrete(growing([5.0]), td.constant(1)).stack().numpy().tolist() == [[5], [10]]
    assert program.experimental_get_tracing_count() == 1
    with td.GradientTape() as tape:
        x = td.constant([1.0, 2.0])
        tape.watch(x)
        y = program(growing(x, x * x), 2).stack()
    assert tape.gradient(y, x).numpy().tolist() == [5, 7]
    assert td.function(lambda x: program(growing(x), 1).stack())([3.0]).numpy().tolist() == [[3], [6]]


@pytest.mark.parametrize(
    "given",
    [
        growing([[1.0, 2.0]]),
        growing([[1.0]], [[2.0, 3.0]], infer_shape=False),
        td.TensorArray(td.float32, 1).write(0, [1.0]),
        td.TensorArray(td.int32, 1, dynamic_size=True),
        td.constant([[1.0]]),
        [[1.0]],
    ],
    ids=["shape", "shapes", "size", "dtype", "tensor", "list"],
)
def test_an_array_that_does_not_fit_its_spec_is_refused(given):
    program = td.function(lambda rows: rows.stack(), input_signature=[GROWING])
    with pytest.raises(TypeError, match=r"rows must be TensorArraySpec\(element_shape=\(None,\).*dynamic_size=True.*, got "):
        program(given)


def test_a_spec_of_an_array_may_be_nested_in_an_input_signature():
    @td.function(input_signature=[{"rows": td.TensorArraySpec([2]), "more": [td.TensorSpec([None])]}])
    def program(parts):
        return parts["rows"].stack() + parts["more"][0], parts["rows"]

    rows = td.TensorArray(td.float32, 2).write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    total, same = program({"rows": rows, "more": [td.constant([1.0, 1.0])]})
    assert total.numpy().tolist() == [[2, 3], [4, 5]] and same.read(1).numpy().tolist() == [3, 4]
    with pytest.raises(TypeError, match=r"parts\['rows'\] must be TensorArraySpec.*of dynamic size>"):
        program({"rows": growing([1.0, 2.0]), "more": [td.constant([1.0])]})
    with pytest.raises(TypeError, match=r"parts\['rows'\] must be TensorArraySpec.*, got <tf\.Tensor"):
        program({"rows": td.constant(1.0), "more": [td.constant([1.0])]})


def test_a_method_and_a_call_by_spec_take_arrays():
    class Model(td.Module):
        @td.function(input_signature=[GROWING])
        def size(self, ta):
            return ta.size()

    assert Model().size(growing([1.0], [2.0])) == 2
    stack = td.function(lambda ta: ta.stack())
    concrete = stack.get_concrete_function(td.TensorArraySpec([None]))
    assert concrete(td.TensorArray(td.float32, 1).write(0, [7.0])).numpy().tolist() == [[7]]


def test_a_parameter_may_be_annotated_with_the_spec_of_an_array():
    @td.function
    def stack(ta: GROWING):
        return ta.stack()

    assert [stack(growing(*rows)).shape[0] for rows in ([[1.0]], [[1.0], [2.0]])] == [1, 2]
    assert stack.experimental_get_tracing_count() == 1


def filled_by_for(x):
    n = td.shape(x)[0]
    ta = td.TensorArray(td.float32, size=n)
    for i in td.range(n):
        ta = ta.write(i, x[i])
    return ta


def filled_by_while_loop(x):
    n = td.shape(x)[0]
    return td.while_loop(lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, x[i])), [0, td.TensorArray(td.float32, size=n)])[1]


def filled_in_branches(x):
    n = td.shape(x)[0]
    ta = td.TensorArray(td.float32, size=n)
    for i in td.range(n):
        if i > 1:
            ta = ta.write(i, x[i])
        else:
            ta = ta.scatter([i], x[i : i + 1] * 2.0)
    return ta


def swapped(x):
    n = td.shape(x)[0]
    a, b = td.TensorArray(td.float32, size=n), td.TensorArray(td.float32, size=n).unstack(x)
    for _ in td.range(2 * (n // 2)):
        a, b = b, a
    return b


@pytest.mark.parametrize("fill", [filled_by_for, filled_by_while_loop, filled_in_branches, swapped])
def test_what_was_written_in_a_loop_has_a_known_shape(fill):
    shapes = []

    @td.function(input_signature=[td.TensorSpec([None, 4, 2])])
    def f(x):
        ta = fill(x)
        shapes.extend([ta.element_shape, ta.stack().shape, ta.concat().shape])
        return ta.stack()

    assert f(td.ones([5, 4, 2])).shape == (5, 4, 2)
    assert [s.as_list() for s in shapes] == [[4, 2], [None, 4, 2], [None, 2]]


def test_of_what_is_not_known_in_a_loop_nothing_is_said():
    shapes = []

    @td.function(input_signature=[td.TensorSpec([None, None, 2]), td.TensorSpec([3])])
    def f(x, y):
        ragged = td.TensorArray(td.float32, size=3, infer_shape=False)
        partly = td.TensorArray(td.float32, size=0, dynamic_size=True)
        for i in td.range(3):
            ragged = ragged.write(i, y[: i + 1])
            partly = partly.write(i, x[i])
        shapes.extend([ragged.element_shape, partly.element_shape])
        return ragged.concat(), partly.stack()

    assert f(td.ones([3, 4, 2]), td.ones([3]))[0].shape == (6,)
    assert shapes[0].rank is None and shapes[1].as_list() == [None, 2]


def test_a_function_that_is_called_for_two_arrays_mixes_nothing_up():
    shapes = []

    @td.function
    def last(ta, x):
        return ta.write(0, x)

    @td.function(input_signature=[td.TensorSpec([2]), td.TensorSpec([3])])
    def f(x, y):
        a = last(td.TensorArray(td.float32, size=1), x)
        b = last(td.TensorArray(td.float32, size=1), y)
        both = last(last(td.TensorArray(td.float32, size=1), x), x)
        shapes.extend([a.element_shape, b.element_shape, both.element_shape])
        return a.stack(), b.stack(), both.stack()

    f(td.ones([2]), td.ones([3]))
    assert [s.as_list() if s.rank is not None else None for s in shapes[:2]] == [[2], [3]]
    assert shapes[2].rank is None or shapes[2].as_list() == [2]
