"""Assertions, checks, calls back into Python, and what the debugging namespace switches."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import treadle as td
from treadle_ops.host_kernels import python_calls

D = td.debugging
COMPARISONS = {
    D.assert_equal: (1, 1),
    D.assert_none_equal: (1, 2),
    D.assert_less: (1, 2),
    D.assert_less_equal: (1, 1),
    D.assert_greater: (2, 1),
    D.assert_greater_equal: (2, 2),
}


def checked(check):
    """The check as a traced function that gives something else back."""

    @td.function
    def function(*args):
        check(*args)
        return td.constant(0)

    return function


# ---------------------------------------------------------------------- comparisons


@pytest.mark.parametrize("check", COMPARISONS)
@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16", "uint8", "float64"])
def test_a_comparison_holds_or_raises_eagerly_and_traced(check, dtype):
    low, high = COMPARISONS[check]
    good = td.constant([low, low], dtype=dtype), td.constant(high, dtype=dtype)
    bad = (good[1], good[0]) if check not in (D.assert_equal, D.assert_less_equal, D.assert_greater_equal, D.assert_none_equal) else None
    if bad is None:
        flip = {D.assert_equal: (1, 2), D.assert_none_equal: (1, 1), D.assert_less_equal: (2, 1), D.assert_greater_equal: (1, 2)}[check]
        bad = tuple(td.constant(v, dtype=dtype) for v in flip)
    for run in (check, checked(check)):
        assert run(*good) is None or run is not check
        with pytest.raises(td.errors.InvalidArgumentError, match="did not hold"):
            run(*bad)


def test_an_error_shows_the_message_and_what_differs():
    with pytest.raises(td.errors.InvalidArgumentError) as caught:
        D.assert_equal([1, 2, 3, 4], [1, 0, 3, 0], message="sizes", summarize=1)
    text = str(caught.value)
    assert "sizes\nCondition x == y did not hold." in text
    assert "Indices of first 1 different values:\n[[1]]" in text
    assert "First 1 elements of x:\n[1]" in text


def test_constants_are_compared_while_tracing():
    def function():
        D.assert_less(td.constant([1.0, 5.0]), td.constant([2.0, 4.0]))
        return td.constant(1)

    with pytest.raises(td.errors.InvalidArgumentError, match="x < y"):
        td.function(function).get_concrete_function()


def test_nan_equals_nothing_and_nothing_breaks_no_rule():
    D.assert_equal(td.zeros([0]), td.ones([0]))
    with pytest.raises(td.errors.InvalidArgumentError):
        D.assert_equal(td.constant(np.nan), td.constant(np.nan))
    with pytest.raises(td.errors.InvalidArgumentError, match="dtypes"):
        D.assert_equal(td.constant(1), td.constant(1.0))
    with pytest.raises(td.errors.InvalidArgumentError, match="broadcast"):
        D.assert_equal(td.constant([1, 2]), td.constant([1, 2, 3]))


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (D.assert_positive, 1, 0),
        (D.assert_negative, -1, 0),
        (D.assert_non_negative, 0, -1),
        (D.assert_non_positive, 0, 1),
    ],
)
def test_signs(check, good, bad):
    for run in (check, checked(check)):
        run(td.constant([good, good]))
        run(td.constant(float(good)))
        with pytest.raises(td.errors.InvalidArgumentError):
            run(td.constant([good, bad]))


def test_nearness_has_the_tolerance_of_the_dtype():
    one = td.constant(1.0)
    D.assert_near(one, 1.0 + 1e-7)
    D.assert_near(td.constant(1.0, "bfloat16"), td.constant(1.01, "bfloat16"))
    D.assert_near(td.constant([1 + 2j]), td.constant([1 + 2j]))
    D.assert_near(one, 1.1, rtol=0.2)
    for run in (D.assert_near, checked(D.assert_near)):
        with pytest.raises(td.errors.InvalidArgumentError, match="not equal to tolerance"):
            run(one, td.constant(1.001))


# ---------------------------------------------------------------------- assertions stay where they are


def test_an_assertion_is_kept_in_order_and_in_its_place():
    seen = td.Variable(0)

    @td.function
    def function(x):
        seen.assign_add(1)
        D.assert_positive(x)
        seen.assign_add(10)
        return td.constant(3)

    assert int(function(td.constant(1))) == 3
    assert int(seen) == 11
    with pytest.raises(td.errors.InvalidArgumentError, match="made at"):
        function(td.constant(-1))
    assert int(seen) == 12


def test_a_condition_shows_its_data():
    for run in (D.Assert, checked(lambda c, d: D.Assert(c, d))):
        run(td.constant(True), ["x is", td.constant([1, 2])])
        with pytest.raises(td.errors.InvalidArgumentError, match=r"x is\n\[1 2\]"):
            run(td.constant(False), ["x is", td.constant([1, 2])])
    assert td.Assert is D.Assert


def test_numerics_are_checked_also_where_nobody_reads_the_result():
    x = td.constant([1.0, 2.0])
    for check in (D.check_numerics, D.assert_all_finite):
        np.testing.assert_array_equal(check(x, "m").numpy(), x.numpy())
        with pytest.raises(td.errors.InvalidArgumentError, match="here : Tensor had NaN values"):
            check(td.constant([np.nan]), "here")
        with pytest.raises(td.errors.InvalidArgumentError, match="Inf and NaN"):
            checked(lambda t, check=check: check(t, "here"))(td.constant([np.inf, np.nan]))
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.function(lambda t: D.check_numerics(t, "m") * 2)(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2.0, 2.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = D.check_numerics(x, "m") * np.float32(np.inf)
    with pytest.raises(td.errors.InvalidArgumentError, match=r"gradient\. m"):
        tape.gradient(y, x)


# ---------------------------------------------------------------------- shapes and dtypes


def test_ranks_are_decided_as_early_as_they_are_known():
    x = td.ones([2, 3])
    D.assert_rank(x, 2)
    D.assert_rank_at_least(x, td.constant(1))
    D.assert_rank_in(x, (0, 2))
    for bad in (lambda t: D.assert_rank(t, 1), lambda t: D.assert_rank_at_least(t, 3), lambda t: D.assert_rank_in(t, [0, 1])):
        with pytest.raises(ValueError, match="must have rank"):
            bad(x)
        with pytest.raises(ValueError, match="must have rank"):
            td.function(lambda t, bad=bad: bad(t)).get_concrete_function(td.TensorSpec([2, 3]))
        unknown = td.function(lambda t, bad=bad: (bad(t), t)[1], input_signature=[td.TensorSpec(None)])
        with pytest.raises(td.errors.InvalidArgumentError, match="must have rank"):
            unknown(x)
    with pytest.raises(ValueError, match="scalar"):
        D.assert_rank(x, [2])
    with pytest.raises(ValueError, match="scalar shape"):
        D.assert_scalar(x)
    D.assert_scalar(1)


@pytest.mark.parametrize(
    ("shape", "fits"),
    [
        (("A", "B"), True),
        ("AB", True),
        (("A", "A"), False),
        ((2, 3), True),
        ((2, "3"), True),
        ((2, 4), False),
        ((None, "."), True),
        ((..., 3), True),
        (("*", 2), False),
        (("A",), False),
        (None, True),
    ],
)
def test_shapes_fit_their_description(shape, fits):
    x = td.ones([2, 3])
    runs = [lambda t: D.assert_shapes([(t, shape)]), checked(lambda t: D.assert_shapes([(t, shape)]))]
    unknown = td.function(lambda t: (D.assert_shapes([(t, shape)]), t)[1], input_signature=[td.TensorSpec([None, None])])
    for run in (*runs, unknown):
        if fits:
            run(x)
        else:
            with pytest.raises(ValueError, match=r"must have (size|rank)"):
                run(x)


def test_a_symbol_stands_for_one_size_everywhere():
    pairs = [(td.ones([2, 3]), "NK"), (td.ones([3]), "K"), (td.constant(1.0), ())]
    D.assert_shapes(pairs)
    with pytest.raises(ValueError, match="Specified by a tensor"):
        D.assert_shapes([*pairs, (td.ones([4]), "N")], message="bad")
    with pytest.raises(ValueError, match="first entry"):
        D.assert_shapes([(td.ones([2]), ("A", ...))])


def test_dtypes_and_kinds():
    D.assert_type(td.ones([1]), td.float32)
    D.assert_integer(td.constant(1))
    assert D.assert_same_float_dtype([td.ones([1]), None]) is td.float32
    assert D.assert_same_float_dtype() is td.float32
    assert D.is_numeric_tensor(td.Variable(1.0))
    assert not D.is_numeric_tensor(td.constant(True))
    assert not D.is_numeric_tensor(1.0)
    with pytest.raises(TypeError, match="must be of type int32"):
        D.assert_type(td.ones([1]), td.int32)
    with pytest.raises(TypeError, match="integer"):
        D.assert_integer(1.0)
    with pytest.raises(ValueError, match="does not match"):
        D.assert_same_float_dtype([td.ones([1]), td.ones([1], "float64")])
    D.assert_proper_iterable([1])
    for bad in (td.ones([1]), "ab", 3):
        with pytest.raises(TypeError, match="iterable"):
            D.assert_proper_iterable(bad)


# ---------------------------------------------------------------------- calls of Python


def test_a_numpy_function_sees_arrays_of_its_own():
    def double(a):
        assert isinstance(a, np.ndarray)
        a *= 2
        return a

    x = td.constant([1.0, 2.0])
    for run in (lambda t: td.numpy_function(double, [t], td.float32), td.function(lambda t: td.numpy_function(double, [t], td.float32))):
        np.testing.assert_array_equal(run(x).numpy(), [2.0, 4.0])
        np.testing.assert_array_equal(x.numpy(), [1.0, 2.0])
    both = td.numpy_function(lambda a: (a, len(a)), [x], [td.float32, td.int64])
    assert [t.dtype for t in both] == [td.float32, td.int64]
    assert td.numpy_function(lambda a: None, [x], []) == []
    with pytest.raises(TypeError, match="Tout says float32"):
        td.numpy_function(lambda a: a.astype(np.float64), [x], td.float32)
    with pytest.raises(td.errors.InvalidArgumentError, match="2 results"):
        td.numpy_function(lambda a: (a, a), [x], [td.float32])
    with pytest.raises(TypeError, match="Tout"):
        td.numpy_function(double, [x])


def test_the_users_own_exception_comes_through():
    class OwnError(Exception):
        pass

    def fail(x):
        raise OwnError("mine")

    for run in (lambda t: td.py_function(fail, [t], td.float32), lambda t: td.numpy_function(fail, [t], td.float32)):
        with pytest.raises(OwnError, match="mine"):
            run(td.constant(1.0))
        with pytest.raises(OwnError, match="mine"):
            td.function(run)(td.constant(1.0))


def test_a_decorator_makes_functions_of_tensors():
    @td.py_function(Tout=td.float32)
    def square(x):
        return x * x

    assert float(td.function(square)(td.constant(3.0))) == 9.0


def test_gradients_flow_through_a_python_function_that_is_called_once():
    calls = []

    def power(x, n):
        calls.append(int(n))
        y = x
        for _ in range(int(n) - 1):
            y = y * x
        return y, n

    def cube(x):
        y, n = td.py_function(power, [x, 3], [td.float32, td.int32])
        assert n.dtype is td.int32
        return y * 2

    x = td.constant([1.0, 2.0])
    for run in (cube, td.function(cube)):
        calls.clear()
        with td.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        np.testing.assert_array_equal(y.numpy(), [2.0, 16.0])
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [6.0, 24.0])
        assert calls == [3]

    @td.function
    def inside(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        return tape.gradient(y, x)

    calls.clear()
    np.testing.assert_array_equal(inside(x).numpy(), [6.0, 24.0])
    assert calls == [3]
    del tape, y
    gc.collect()
    assert not python_calls._calls


def test_the_shape_of_a_result_may_be_told():
    @td.function
    def function(x):
        y = td.py_function(lambda t: t + 1, [x], td.TensorSpec([2], td.float32))
        assert y.shape == (2,)
        return y

    np.testing.assert_array_equal(function(td.zeros([2])).numpy(), [1.0, 1.0])


# ---------------------------------------------------------------------- switches


def test_placements_are_written_while_it_is_switched_on(capfd):
    assert not D.get_log_device_placement()
    D.set_log_device_placement(True)
    try:
        assert D.get_log_device_placement()
        td.constant(1) + 1
    finally:
        D.set_log_device_placement(False)
    td.constant(1) + 1
    assert capfd.readouterr().err == "Executing op add in device /CPU:0\n"


def test_traceback_filtering_is_remembered():
    assert D.is_traceback_filtering_enabled()
    D.disable_traceback_filtering()
    assert not D.is_traceback_filtering_enabled()
    D.enable_traceback_filtering()


def test_ops_that_do_nothing():
    assert td.no_op() is None
    assert td.group(td.constant(1), [td.constant(2)], name="g") is None
    with pytest.raises(ValueError, match="Unknown keyword"):
        td.group(colour=1)
