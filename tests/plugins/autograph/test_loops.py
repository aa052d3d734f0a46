"""``while`` and ``for`` mean on tensors what they mean on Python values."""

from __future__ import annotations

import pytest

import treadle as td

CASES = []
i = "a global that no loop variable may be taken for"


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


@case("trips")
def count_up(n):
    k = 0
    while k < n:
        k = k + 1
    return k


@case("trips")
def augmented_in_while(n):
    k, total = 0, 0
    while k < n:
        k += 1
        total += k * k
    return k, total


@case("int")
def collatz(n):
    steps = 0
    n = abs(n) + 1
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case("trips", "int")
def two_conditions(n, x):
    k = 0
    while k < n and x > 0:
        x = x - k
        k += 1
    return k, x


@case("trips", "int")
def either_condition(n, x):
    k = 0
    while k < n or x > 3:
        x -= 1
        k += 1
    return k, x


@case("trips")
def chained_condition(n):
    k = 0
    while 0 <= k < n:
        k += 2
    return k


@case("trips")
def body_only_names_in_while(n):
    k, total = 0, 0
    while k < n:
        square = k * k
        double = square * 2
        total = total + double
        k += 1
    return total


@case("trips")
def defined_in_while_and_read(n):
    k = 0
    while k < n:
        last = k * 10
        k += 1
    return last


@case("trips")
def defined_in_while_and_read_if_it_ran(n):
    k = 0
    while k < n:
        last = k * 10
        k += 1
    if n > 0:
        return last
    return -1


@case("trips")
def nested_whiles(n):
    total, a = 0, 0
    while a < n:
        b = 0
        while b < a:
            total += a * b
            b += 1
        a += 1
    return total, a


@case("trips")
def walrus_in_while(n):
    total = 0
    while (n := n - 1) > 0:
        total += n
    return total, n


@case("trips", "int")
def swap_in_while(n, x):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a + x, b


@case("trips")
def python_while(n):
    k = 0
    while k < 3:
        n = n + k
        k += 1
    return n, k


@case("trips")
def python_while_that_becomes_symbolic(n):
    k = 0
    while k < 4:
        if n > 2:
            k = k + 2
        else:
            k = k + 1
    return k


@case("trips")
def tensor_while_in_python_while(n):
    total, k = 0, 0
    while k < 2:
        j = 0
        while j < n:
            total += j + k
            j += 1
        k += 1
    return total


@case("trips")
def carried_tuple(n):
    state = (0, 1)
    k = 0
    while k < n:
        a, b = state
        state = (b, a + b)
        k += 1
    return state


@case("trips")
def carried_dict(n):
    state = {"sum": 0, "product": 1}
    for k in range(n):
        state = {"sum": state["sum"] + k, "product": state["product"] * (k + 1)}
    return state["sum"], state["product"]


@case("trips")
def numbers_become_floats(n):
    total = 0
    for k in range(n):
        total = total + 0.5
    return total


@case("trips")
def numbers_change_their_kind(n):
    x = 1
    for k in range(n):
        x = 2.5
    return x


@case("trips")
def unchanged_python_value(n):
    scale, mode, total = 3, "up", 0
    for k in range(n):
        scale = scale
        if mode == "up":
            total += scale * k
    return total * scale


@case("trips")
def for_range(n):
    total = 0
    for k in range(n):
        total += k
    return total


@case("int", "int")
def for_range_from_to(a, b):
    total = 0
    for k in range(a, b):
        total = total * 2 + k
    return total


@case("int", "int")
def for_range_steps(a, b):
    total, count = 0, 0
    for k in range(a, b, 3):
        total += k
        count += 1
    return total, count


@case("int", "int")
def for_range_backwards(a, b):
    total = 0
    for k in range(a, b, -2):
        total = total * 3 + k
    return total


@case("trips")
def loop_variable_afterwards(n):
    for i in range(n):
        pass
    return i


@case("trips")
def loop_variable_assigned_in_the_body(n):
    k, total = 100, 0
    for k in range(n):
        total += k
        k = k * 2
    return k, total


@case("trips")
def loop_variable_defined_before(n):
    k = -1
    for k in range(n):
        pass
    return k


@case("vector")
def for_vector(xs):
    total = 0
    for x in xs:
        total = total * 2 + x
    return total


@case("filled")
def extremes(xs):
    low, high = xs[0], xs[0]
    for x in xs:
        if x < low:
            low = x
        if x > high:
            high = x
    return low, high


@case("vector")
def for_len(xs):
    total = 0
    for k in range(len(xs)):
        total += k * xs[k]
    return total


@case("vector")
def for_enumerate(xs):
    total = 0
    for k, x in enumerate(xs):
        total += k * x
    return total


@case("vector", "int")
def for_enumerate_from(xs, start):
    total = 0
    for k, x in enumerate(xs, start):
        total += k * x
    return total


@case("vector", "vector")
def for_zip(xs, ys):
    total = 0
    for x, y in zip(xs, ys):  # noqa: B905  zip without strict is under test
        total += x * y
    return total


@case("vector")
def for_enumerate_zip(xs):
    total = 0
    for k, (x, y) in enumerate(zip(xs, xs)):  # noqa: B905  zip without strict is under test
        total += k + x * y
    return total


@case("vector", "trips")
def nested_fors(xs, n):
    total = 0
    for x in xs:
        for k in range(n):
            total += x * k
    return total


@case("trips")
def triangle(n):
    total = 0
    for a in range(n):
        for b in range(a):
            total += a * b
    return total


@case("trips")
def for_in_while(n):
    total, k = 0, n
    while k > 0:
        for j in range(k):
            total += j
        k -= 1
    return total


@case("trips")
def while_in_for(n):
    total = 0
    for a in range(n):
        b = a
        while b > 0:
            total += b
            b -= 1
    return total


@case("trips")
def branch_in_for(n):
    even, odd = 0, 0
    for k in range(n):
        if k % 2 == 0:
            even += k
        else:
            odd += k
    return even, odd


@case("int")
def for_in_branch(x):
    total = 0
    if x > 2:
        for k in range(x):
            total += k
    else:
        total = -1
    return total


@case("int")
def python_list(x):
    total = 0
    for k in [1, 2, 3]:
        total += k * x
    return total, k


@case("int")
def python_dict_items(x):
    total = 0
    for name, weight in {"a": 1, "b": 2}.items():
        if name == "a" or x > 2:
            total += weight * x
    return total


@case("int")
def python_loop_with_tensor_branch(x):
    count = 0
    for k in range(5):
        if x > k:
            count += 1
    return count


@case("trips")
def defined_in_for_and_read(n):
    for k in range(n):
        y = k + 1
    return y


@case("trips")
def defined_in_a_branch_in_a_loop(n):
    for k in range(n):
        if k == 2:
            found = k * 7
    return found


@case("trips")
def kept_from_the_turn_before(n):
    previous = 0
    jumps = 0
    for k in range(n):
        value = k * k % 5
        if value < previous:
            jumps += 1
        previous = value
    return jumps, previous


@case("trips", "trips")
def two_loops(n, m):
    total = 0
    for k in range(n):
        total += k
    for k in range(m):
        total -= k
    return total, n + m


@case("trips")
def loop_variable_is_a_pair(n):
    a = b = 0
    for a, b in [(1, 2), (3, 4)]:
        if n > a:
            n = n - b
    return n, a, b


@case("vector")
def sum_of_squares_of_odd(xs):
    total = 0
    for x in xs:
        total += x * x if x % 2 == 1 else 0
    return total


@case("filled")
def builtin_reductions(xs):
    return sum(xs), max(xs), min(xs), len(xs)


@case("int")
def sum_of_python_list(x):
    return sum([x, x + 1, 3]), sum(x * k for k in range(3))


@case("trips")
def float_accumulation(n):
    total = 0.0
    for k in range(n):
        total += 0.25
    return total


@case("trips", "float")
def horner(n, x):
    total = 0.0 * x
    for k in range(n):
        total = total * x + 1.0
    return total


@case("trips")
def bools_carried(n):
    flag = False
    for k in range(n):
        flag = not flag
    return flag


@case("trips", "flag")
def loop_in_a_condition_of_a_flag(n, flag):
    total = 1
    while flag and total < n:
        total = total * 2
    return total


@case("int")
def bubble_sort_of_three(x):
    a, b, c = x, 3, 5 - x
    for _ in range(2):
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
    return a, b, c


@case("trips")
def what_the_turn_before_set(n):
    total = 0
    for i in td.range(n):
        if i > 0:
            total += before  # noqa: F821  no value yet
        before = i  # noqa: F841
    return total


class Private:
    def run(self, n):
        total = 0
        for i in td.range(n):
            if i > 0:
                total += __before  # noqa: F821  no value yet
            __before = i
        return total


@case("trips")
def what_the_turn_before_set_in_a_private_name(n):
    return Private().run(n)


@case("trips")
def structures_that_the_turn_before_set(n):
    total = 0
    for i in td.range(n):
        for j in td.range(n):
            if j > 0:
                total += pair[0] * 2 + pair[1]["a"] * last  # noqa: F821  no value yet
            pair = (i + 1, {"a": j})  # noqa: F841
            if i >= 0:
                last = 3  # noqa: F841
    return total


@case("trips")
def a_while_that_reads_what_the_turn_before_set(n):
    k = 0
    while k < n:
        if k > 1 and before > 0:  # noqa: F821  no value yet
            k += before  # noqa: F821  no value yet
        before = k  # noqa: F841
        k += 1
    return k


@case("trips")
def a_sum_that_the_first_turn_begins(n):
    k = 0
    for i in td.range(n):
        if i > 0:
            total += i  # noqa: F821  no value yet
        else:
            total = 5
        k = total
    return k


@case("trips")
def a_variable_that_is_read_before_any_turn_sets_it(n):
    total = 0
    for i in td.range(n):
        total += before  # noqa: F821  no value yet
        before = i  # noqa: F841
    return total


@case("int")
def a_missing_variable_that_is_caught(x):
    if x > 0:
        try:
            y = q
        except NameError:
            y = 5
    else:
        y = 2
    q = 3
    return y + q


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)


# ---------------------------------------------------------------------- TensorArrays


def sum_of_squares(n):
    array = td.TensorArray(td.int32, size=0, dynamic_size=True, element_shape=[])
    for k in td.range(n):
        array = array.write(k, k * k)
    total = 0
    for square in array:
        if square > 20:
            break
        total += square
    else:
        total = -total
    return total


def test_a_loop_over_a_tensor_array():
    traced = td.function(sum_of_squares, input_signature=[td.TensorSpec([], td.int32)])
    for n in (0, 1, 4, 8):
        want = sum_of_squares(td.constant(n))
        assert int(traced(td.constant(n))) == int(td.autograph.to_graph(sum_of_squares)(td.constant(n))) == int(want)
    assert sum(node.op.name == "while" for node in traced.get_concrete_function().graph.nodes) == 2


def test_enumerate_zip_and_comprehensions_over_tensor_arrays():
    def f(x):
        array = td.TensorArray(td.float32, size=3, clear_after_read=False).unstack(x)
        doubled = td.TensorArray(td.float32, size=3)
        total = 0.0
        for k, row in enumerate(array):
            doubled = doubled.write(k, row * 2)
        for a, b in zip(array, doubled, strict=False):
            total += td.reduce_sum(a * b)
        return total, [row + 1 for row in array]

    x = td.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for result in (f(x), td.function(f)(x)):
        assert float(result[0]) == 182.0
        assert [row.numpy().tolist() for row in result[1]] == [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]


def test_zip_that_is_told_not_to_be_strict_stays_one_loop():
    @td.function
    def f(x):
        total = 0
        for a, b in zip(x, x, strict=False):
            total += a * b
        return total

    assert int(f(td.constant([1, 2, 3]))) == 14
    assert [node.op.name for node in f.get_concrete_function(td.TensorSpec([3], td.int32)).graph.nodes].count("while") == 1


def test_gradients_flow_through_a_loop_over_a_tensor_array():
    @td.function
    def f(x):
        total = 0.0
        for row in td.TensorArray(td.float32, size=2).unstack(x):
            total += td.reduce_sum(row * row)
        return total

    x = td.constant([[1.0, 2.0], [3.0, 4.0]])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_a_comprehension_over_a_tensor_array_of_unknown_size_is_refused():
    def f(n):
        return [x + 1 for x in td.TensorArray(td.int32, size=n, element_shape=[])]

    with pytest.raises(TypeError, match="how many tensors it has is not known"):
        td.function(f)(td.constant(3))
    assert len(f(3)) == 3
