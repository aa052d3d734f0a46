"""``if``, ternaries and logic mean on tensors what they mean on Python values."""

from __future__ import annotations

import pytest

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


@case("int")
def truths_of_other_things_than_tensors(x):
    xs, d, nothing, r = [1], {}, None, 0
    if xs and x > 0:
        r += 1
    if d or x > 1:
        r += 2
    if not xs or x > 0:
        r += 4
    if nothing is not None and x > 0:
        r += 8
    if (nothing is None and x > 0) or "":
        r += 16
    if x > 0 and "text":
        r += 32
    if x > 0 or []:
        r += 64
    if "k" in d or (x > 0 and d.get("k", 1)):
        r += 128
    if not d and not x > 0:
        r += 256
    while x < 12 and xs:
        x += 3
    return r, x


@case("int")
def one_arm(x):
    if x > 3:
        x = x * 2
    return x


@case("int")
def two_arms(x):
    if x > 3:
        y = x * 2
    else:
        y = x - 1
    return y


@case("int")
def elif_chain(x):
    if x < 0:
        y = -1
    elif x == 0:
        y = 0
    elif x < 5:
        y = 1
    else:
        y = 2
    return y + x


@case("int", "int")
def nested(x, y):
    z = 0
    if x > 0:
        if y > 0:
            z = x + y
        else:
            z = x - y
    elif y > 0:
        z = y
    return z, x


@case("int", "flag")
def bool_argument(x, flag):
    if flag:
        x = x + 1
    return x


@case("int")
def truth_of_a_number(x):
    if x:
        y = 1
    else:
        y = 2
    return y


@case("int")
def not_of_a_number(x):
    if not x:
        x = 10
    return x


@case("float")
def truth_of_a_float(x):
    return 1 if x else 0


@case("int", "int")
def several_variables(a, b):
    if a < b:
        a, b = b, a
        swapped = True
    else:
        swapped = False
    return a, b, swapped


@case("int")
def body_only_names(x):
    if x > 2:
        t = x * 3
        u = t + 1
        x = u
    return x


@case("int")
def defined_in_one_arm_and_read(x):
    if x > 2:
        y = x
    return y


@case("int")
def defined_in_one_arm_and_read_where_it_is(x):
    if x > 2:
        y = x
    if x > 2:
        return y
    return 0


@case("int", "int")
def defined_in_inner_arms(x, y):
    if x > 2:
        if y > 2:
            z = x + y
    return z


@case("int")
def redefined_after(x):
    if x > 2:
        y = x
    y = 3
    return y + x


@case("int")
def deleted_in_both(x):
    t = x + 1
    if x > 2:
        y = t
        del t
    else:
        y = -t
        del t
    return y


@case("int")
def annotated(x):
    y: int
    z: int = 0
    if x > 0:
        y: int = 5
        z: int = x
    else:
        y = 2
    return y + z


@case("int")
def same_python_value(x):
    if x > 2:
        mode, y = "a", 1
    else:
        mode, y = "a", 2
    return (y, 1) if mode == "a" else (y, 2)


@case("int")
def ints_and_floats(x):
    y = 1
    if x > 2:
        y = 2.5
    return y


@case("int")
def tuples(x):
    pair = (x, 1)
    if x > 2:
        pair = (x + 1, 2)
    a, b = pair
    return a * b


@case("int")
def lists_and_dicts(x):
    d = {"a": x, "b": [1, x]}
    if x > 2:
        d = {"a": x + 1, "b": [2, x]}
    return d["a"] + d["b"][0] * d["b"][1]


@case("int")
def augmented(x):
    y = 2
    if x > 0:
        y += x
        y *= 2
    y -= 1
    return y


@case("int")
def python_inside_tensor(x):
    y = x
    for k in [1, 2, 3]:
        if k == 2:
            if x > k:
                y = y + k
    return y


@case("int")
def tensor_inside_python(x):
    mode = "double"
    if mode == "double":
        if x > 1:
            x = x * 2
    elif mode == "triple":
        x = x * 3
    return x


@case("int")
def is_none(x):
    y = None
    if y is None:
        y = x
    if y is not None and x > 2:
        y = y + 1
    return y


@case("int", "int")
def and_(x, y):
    return 1 if x > 0 and y > 0 else 0


@case("int", "int")
def or_(x, y):
    return 1 if x > 0 or y > 0 else 0


@case("int", "int")
def and_or_not(x, y):
    return 1 if not (x > 0 and not y > 2) or x == y else 0


@case("int", "int", "int")
def three_operands(x, y, z):
    a = x > 0 and y > 0 and z > 0
    b = x > 0 or y > 0 or z > 0
    return a, b


@case("int", "int")
def value_of_and(x, y):
    return x and y


@case("int", "int")
def value_of_or(x, y):
    return x or y


@case("int", "int")
def value_of_and_or(x, y):
    return (x and y) or 7


@case("int", "int")
def short_circuit_guards(x, y):
    return y != 0 and x // y > 1


@case("int", "int")
def short_circuit_of_or(x, y):
    return y == 0 or x // y > 1


@case("filled", "int")
def short_circuit_guards_an_index(xs, k):
    return k >= 0 and k < len(xs) and xs[k] > 2


@case("int")
def python_and_tensor(x):
    on, off = True, False
    return (on and x > 2), (off and x > 2), (on or x > 2), (off or x > 2), (x > 2 and on), (x > 2 or off)


@case("int")
def not_(x):
    y = not x > 2
    return y, not y


@case("int")
def chained(x):
    return 1 if 0 < x <= 5 else 0


@case("int", "int", "int")
def chained_three(x, y, z):
    return x < y < z, 0 <= x <= y <= z, x < y > z


@case("int")
def chained_equal(x):
    return 2 == x == 2, 1 != x != 3


@case("int")
def ternary(x):
    return x if x > 0 else -x


@case("int")
def nested_ternaries(x):
    return 1 if x > 5 else 2 if x > 0 else 3 if x > -3 else 4


@case("int", "int")
def ternary_of_ternaries(x, y):
    return (x if x > y else y) + (1 if (x > 0 if y > 0 else x < 0) else 2)


@case("int")
def ternary_of_tuples(x):
    a, b = (x, 1) if x > 0 else (1, -x)
    return a * b


@case("int")
def ternary_and_not(x):
    return 1 if not x > 2 else 0


@case("int")
def ternary_in_arguments(x):
    def add(a, b=0):
        return a + 2 * b

    return add(x if x > 0 else 0, b=1 if x > 3 else 2)


@case("int", "int")
def condition_in_a_variable(x, y):
    is_big = x > 5
    is_small = not is_big and y < 3
    if is_small or x == y:
        return 1
    return 0


@case("int")
def assignments_in_conditions(x):
    if (y := x * 2) > 6:
        z = y
    else:
        z = y + 100
    return z + y


@case("int")
def walrus_in_a_ternary_test(x):
    return y + 1 if (y := x + 1) > 2 else y - 1


@case("int")
def walrus_in_both_branches(x):
    if x > 2:
        y = (z := x) + 1
    else:
        y = (z := -x) + 2
    return y, z


@case("int")
def walrus_that_may_not_run(x):
    if x > 0 and (y := x * 2) < 10:
        return y
    return -x


@case("int")
def walrus_that_may_not_run_and_is_read(x):
    found = x > 3 and (y := x * 2) < 30
    z = (w := x) + 1 if x > 0 else 3
    return found, y, z, w


@case("int", "int")
def walrus_in_the_third_operand(a, b):
    y = 0
    if a > 0 and b > 0 and (y := a + b) > 3 and y < 12:
        y = y * 10
    return y


@case("int", "int")
def min_max_abs(x, y):
    return min(x, y), max(x, y, 3), abs(x), max([x, y])


@case("int")
def any_all(x):
    return any([x > 5, x < 0]), all([x > 0, x < 9]), any([]), all([])


@case("int")
def int_and_float(x):
    return int(x) + 1, float(x) / 2.0, bool(x)


@case("int")
def match_on_python_values(x):
    result = 0
    for mode in ("a", ("b", 2), {"c": 3}, 5):
        match mode:
            case "a":
                result = result + 1 if x > 0 else result
            case ("b", n):
                if x > n:
                    result = result + n
            case {"c": n}:
                result = result + n
            case _:
                result = result * 2
    return result


@case("int")
def assertion_that_holds(x):
    assert x > -100, "too small"
    return x


@case("int")
def assertion_that_may_fail(x):
    assert x > 2, f"too small: {x}"
    return x


@case("int")
def assertion_in_a_branch(x):
    if x > 5:
        assert x < 10
        x = x + 1
    return x


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)
