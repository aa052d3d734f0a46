"""Converted functions on whole tensors: arrays of tensors, gradients, effects, sizes that are not known."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


def test_a_tensor_array_is_filled_in_a_loop():
    def squares(n):
        array = td.TensorArray(td.int32, n)
        for k in td.range(n):
            if k % 2 == 0:
                array = array.write(k, k * k)
            else:
                array = array.write(k, -k)
        return array.stack()

    want = [0, -1, 4, -3, 16]
    assert td.autograph.to_graph(squares)(td.constant(5)).numpy().tolist() == want
    assert td.function(squares)(td.constant(5)).numpy().tolist() == want


def test_a_tensor_array_in_a_branch_and_a_while():
    @td.function
    def f(x):
        array = td.TensorArray(td.float32, 0, dynamic_size=True)
        k = 0
        while td.reduce_sum(x) > 1.0:
            array = array.write(k, x)
            x = x / 2.0
            k += 1
        if k == 0:
            array = array.write(0, x)
        return array.stack(), k

    rows, count = f(td.constant([4.0, 2.0]))
    assert rows.numpy().tolist() == [[4.0, 2.0], [2.0, 1.0], [1.0, 0.5]]
    assert int(count) == 3
    rows, count = f(td.constant([0.5, 0.25]))
    assert rows.numpy().tolist() == [[0.5, 0.25]]


def test_a_loop_over_rows_of_a_matrix():
    def f(x):
        total = td.zeros([2])
        for row in x:
            if td.reduce_sum(row) > 3:
                total = total + row
        return total

    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    want = f(x).numpy().tolist()
    assert td.function(f)(td.constant(x)).numpy().tolist() == want
    assert td.function(f, input_signature=[td.TensorSpec([None, 2])])(td.constant(x)).numpy().tolist() == want


def test_gradients_flow_through_branches_and_loops():
    def f(x, n):
        y = x
        for k in range(n):
            if y < 10.0:
                y = y * x
            elif k > 5:
                break
            else:
                y = y + x
        while y > 50.0:
            y = y / 3.0
        return y if y > 0 else -y

    def slope(function, x, n):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = function(x, n)
        return float(y), float(tape.gradient(y, x))

    traced = td.function(f)
    for x in (-3.0, 0.5, 1.5, 3.0, 7.0):
        for n in (0, 1, 4, 9):
            want = slope(f, td.constant(x, td.float64), n)
            assert slope(traced, td.constant(x, td.float64), td.constant(n)) == pytest.approx(want, rel=1e-12)


def test_a_tape_inside_a_traced_function_sees_branches():
    @td.function
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            if x > 2.0:
                y = x * x
            else:
                y = x * 3.0
            for _ in td.range(2):
                y = y * x
        return tape.gradient(y, x)

    assert float(f(td.constant(3.0))) == 108.0
    assert float(f(td.constant(1.0))) == 9.0


def test_a_tape_inside_a_branch():
    @td.function
    def f(x):
        if x > 0.0:
            with td.GradientTape() as tape:
                tape.watch(x)
                y = x**3
            g = tape.gradient(y, x)
        else:
            g = x
        return g

    assert [float(f(td.constant(v))) for v in (2.0, -2.0)] == [12.0, -2.0]


def test_gradients_of_eager_tensors_that_a_branch_captures():
    w = td.constant(3.0)

    @td.function
    def f(x):
        y = x
        if x > 0.0:
            y = x * w
        return y

    with td.GradientTape() as tape:
        tape.watch(w)
        y = f(td.constant(2.0))
    assert float(tape.gradient(y, w)) == 2.0


def test_effects_happen_in_order_and_as_often_as_in_python(capfd):
    v = td.Variable(0)

    @td.function
    def f(n):
        k = 0
        while _noted(v, k) < n:
            if k % 2 == 0:
                td.print("even", k)
            k += 1
        return k

    assert int(f(td.constant(3))) == 3
    assert int(v.numpy()) == 4
    assert capfd.readouterr().err.splitlines() == ["even 0", "even 2"]
    assert int(f(td.constant(0))) == 0
    assert int(v.numpy()) == 5


def _noted(v, k):
    v.assign_add(1)
    return k


def test_an_operand_that_is_not_wanted_has_no_effect():
    v = td.Variable(0)

    def touched():
        v.assign_add(1)
        return True

    @td.function
    def f(x):
        return (x > 2 and touched()), (x < 0 or touched())

    for x, count in ((3, 2), (1, 1), (-1, 0)):
        v.assign(0)
        f(td.constant(x))
        assert int(v.numpy()) == count


def test_python_runs_each_body_once_while_tracing():
    seen = []

    @td.function
    def f(x):
        if x > 0:
            seen.append("if")
            if x > 5:
                seen.append("inner")
                y = x
            else:
                seen.append("inner else")
                y = x + 1
        else:
            seen.append("else")
            y = -x
        for _ in td.range(x):
            seen.append("for")
            y = y + 1
        while y < 10:
            seen.append("while")
            y = y + 1
        return y

    f(td.constant(1))
    assert seen == ["if", "inner", "inner else", "else", "for", "while"]


def test_random_draws_differ_from_turn_to_turn():
    td.random.set_seed(3)

    @td.function
    def f(n):
        total, last = 0.0, -1.0
        for _ in td.range(n):
            draw = td.random.uniform([])
            total += 1.0 if draw != last else 0.0
            last = draw
        return total

    assert float(f(td.constant(5))) == 5.0


def test_sizes_that_are_not_known_stay_so():
    @td.function(input_signature=[td.TensorSpec([None, 3])])
    def f(x):
        y = x
        if td.reduce_sum(x) > 0:
            y = x * 2
        for _ in td.range(2):
            y = y + x
        return y, td.shape(y)

    for n in (1, 4):
        y, shape = f(td.ones([n, 3]))
        assert y.numpy().tolist() == (np.ones([n, 3]) * 4).tolist()
        assert shape.numpy().tolist() == [n, 3]


def test_zero_rows():
    @td.function(input_signature=[td.TensorSpec([None])])
    def f(x):
        total = 1.0
        for v in x:
            total = total * v
        return total

    assert float(f(td.zeros([0]))) == 1.0
    assert float(f(td.constant([2.0, 3.0]))) == 6.0


def test_python_numbers_take_the_dtype_that_python_would_have_let_them_have():
    @td.function
    def f(xs):
        total, product, count, most = 0, 1.0, 0, -1
        for x in xs:
            total += x
            product = product * x
            count += 1
            if x > most:
                most = x
        return total, product, count, most

    total, product, count, most = f(td.constant([2.0, 3.0], td.float64))
    assert [float(total), float(product), int(count), float(most)] == [5.0, 6.0, 2, 3.0]
    assert [t.dtype for t in (total, product, count, most)] == [td.float64, td.float64, td.int32, td.float64]


def test_large_ranges_are_not_made():
    @td.function
    def f(n):
        for k in td.range(n):
            if k > 3:
                break
        return k

    assert int(f(td.constant(2_000_000_000))) == 4


def test_a_leaked_python_value_is_one_of_the_trace():
    @td.function
    def f(x):
        names = [name for name, size in zip(["a", "b"], x.shape, strict=True) if size == 2]
        return len(names)

    assert int(f(td.zeros([2, 3]))) == 1


def test_run_functions_eagerly_runs_python():
    seen = []

    @td.function
    def f(x):
        while x > 0:
            seen.append(int(x))
            x = x - 1
        return x

    td.config.run_functions_eagerly(True)
    try:
        assert int(f(td.constant(3))) == 0
    finally:
        td.config.run_functions_eagerly(False)
    assert seen == [3, 2, 1]


def test_threads_trace_converted_functions():
    import threading

    def f(x):
        for k in td.range(4):
            if k > x:
                x = x + k
        return x

    results = []
    traced = td.function(f)

    def work(v):
        results.append((v, int(traced(td.constant(v))), int(td.function(f)(td.constant(v)))))

    threads = [threading.Thread(target=work, args=(v,)) for v in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(results) == [(v, want, want) for v, want in ((v, _plain(v)) for v in range(8))]


def _plain(x):
    for k in range(4):
        if k > x:
            x = x + k
    return x


# ---------------------------------------------------------------------- shapes that change from turn to turn


def test_loop_variables_may_change_their_sizes():
    @td.function
    def doubled(k):
        y, i = td.constant([1.0]), td.constant(0)
        while i < k:
            y = td.concat([y, y], 0)
            i += 1
        return y

    @td.function
    def appended(k, y):
        for i in td.range(k):
            y = td.concat([y, [td.cast(i, td.float32)]], 0)
            if i > 3:
                break
        return y

    assert [len(doubled(td.constant(k)).numpy()) for k in (0, 1, 3)] == [1, 2, 8]
    for k, want in ((0, [5]), (3, [5, 0, 1, 2]), (9, [5, 0, 1, 2, 3, 4])):
        x = td.constant([5.0])
        with td.GradientTape() as tape:
            tape.watch(x)
            y = appended(td.constant(k), x)
            loss = td.reduce_sum(y * y)
        assert y.numpy().tolist() == want
        assert tape.gradient(loss, x).numpy().tolist() == [10.0]


def test_loop_variables_may_change_their_rank():
    @td.function
    def f(k):
        y = td.constant([1.0, 2.0])
        for _ in td.range(k):
            y = td.expand_dims(y, 0)
        return td.rank(y)

    assert [int(f(td.constant(k))) for k in (0, 1, 4)] == [1, 2, 5]


def test_the_message_of_an_assertion_shows_the_values_of_its_tensors():
    @td.function
    def f(x):
        for i in td.range(3):
            assert td.reduce_sum(x) < 5 - i, f"{x!r} sums to {td.reduce_sum(x):.3f} at {i}, {3:>4}"
        return x

    assert f(td.constant([1, 1])).numpy().tolist() == [1, 1]
    with pytest.raises(td.errors.InvalidArgumentError, match=r"(?s)\[1 3\]\s+ sums to \s+4\s+ at \s+1\s+,\s+3"):
        f(td.constant([1, 3]))


def test_the_message_of_an_assertion_on_python_values_is_pythons():
    @td.function
    def f(x, n):
        assert n < 3, f"n is {n:>5} {'a'!r}"
        return x

    with pytest.raises(AssertionError, match=r"^n is     7 'a'$"):
        f(td.constant(1), 7)
