"""``break``, ``continue``, ``return`` anywhere and the ``else`` of loops mean on tensors what they mean on Python values."""

from __future__ import annotations

import contextlib

import pytest

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


@case("int")
def early_return(x):
    if x > 3:
        return x - 3
    return x * 100


@case("int")
def early_returns(x):
    if x > 8:
        return 1
    if x > 5:
        return 2
    if x > 0:
        return 3
    return 4


@case("int", "int")
def returns_in_all_arms(x, y):
    if x > 0:
        if y > 0:
            return x + y
        else:
            return x - y
    elif y > 0:
        return y
    else:
        return 0


@case("int", "int")
def return_in_one_inner_arm(x, y):
    if x > 0:
        if y > 0:
            return x + y
        x = x * 2
    x = x + 1
    return x


@case("int", "int")
def returns_mixed_with_statements(x, y):
    z = 0
    if x > 0:
        z = 1
        if y > 3:
            return 100 + z
        z = z + 1
    else:
        z = 5
        if y > 3:
            z = z + 10
        else:
            return 200 + z
    z = z + 1000
    return z


@case("int")
def return_of_tuples(x):
    if x > 3:
        return x, 1
    return 0, x


@case("int")
def return_without_value(x):
    if x > 100:
        return
    x = x + 1


@case("int")
def return_in_else_only(x):
    if x > 3:
        x = x - 1
    else:
        return -1
    return x


@case("trips", "int")
def return_in_for(n, x):
    for k in range(n):
        if k * k > x:
            return k
    return -1


@case("trips", "int")
def return_in_while(n, x):
    k = 0
    while k < n:
        if k * k > x:
            return k * 10
        k += 1
    return -k


@case("trips", "int")
def return_in_nested_loops(n, x):
    for a in range(n):
        for b in range(n):
            if a * b > x:
                return a * 10 + b
    return -1


@case("vector", "int")
def index_of(xs, x):
    for k, y in enumerate(xs):
        if y == x:
            return k
    return -1


@case("int")
def return_in_python_loop(x):
    for k in [1, 2, 3]:
        if x > 3 * k:
            x = x - 1
        elif x > k:
            return k
    return x


@case("trips")
def break_in_for(n):
    total = 0
    for k in range(10):
        if k >= n:
            break
        total += k
    return total, k


@case("trips", "int")
def break_in_while(n, x):
    k = 0
    while k < n:
        if k > x:
            break
        k += 1
    return k


@case("trips")
def break_in_while_true(n):
    k = 0
    while True:
        if k >= n:
            break
        k += 1
    return k


@case("trips", "int")
def break_before_and_after(n, x):
    a = b = c = 0
    while a < n:
        a += 1
        if a > x:
            break
        b += 1
        if b > 3:
            break
        c += 1
    return a, b, c


@case("trips")
def continue_in_for(n):
    total = 0
    for k in range(n):
        if k % 2 == 0:
            continue
        total += k
    return total


@case("trips")
def continue_in_while(n):
    k = total = 0
    while k < n:
        k += 1
        if k == 3:
            continue
        total += k
    return total


@case("trips", "int")
def break_and_continue(n, x):
    total = 0
    for k in range(n):
        if k == 1:
            continue
        if k > x:
            break
        total += k + 1
    return total


@case("trips", "int")
def conditional_continue_in_an_arm(n, x):
    total = 0
    for k in range(n):
        if k > 1:
            if k > x:
                continue
            total += 10
        total += 1
    return total


@case("trips", "int")
def break_return_and_continue(n, x):
    total = 0
    for k in range(n):
        if k == 0:
            continue
        if total > 6:
            break
        if k == x:
            return -total - 1
        total += k
    return total


@case("trips", "int")
def for_else(n, x):
    for k in range(n):
        if k == x:
            result = k
            break
    else:
        result = -1
    return result


@case("trips", "int")
def while_else(n, x):
    k = 0
    while k < n:
        if k == x:
            break
        k += 1
    else:
        k = k + 100
    return k


@case("trips")
def else_without_break(n):
    total = 0
    for k in range(n):
        total += k
    else:
        total = total * 2 + 1
    return total


@case("trips", "int")
def else_with_return(n, x):
    for k in range(n):
        if k > x:
            break
    else:
        return -1
    return k


@case("trips", "int")
def return_skips_else(n, x):
    y = 0
    for k in range(n):
        if k > x:
            return k
        y += 1
    else:
        y += 100
    return y


@case("trips", "int")
def break_of_the_inner_loop_only(n, x):
    total = 0
    for a in range(n):
        for b in range(n):
            if b > x:
                break
            total += a + b
        total += 100
    return total


@case("trips", "int")
def continue_of_the_outer_loop_after_the_inner(n, x):
    total = 0
    for a in range(n):
        found = False
        for b in range(n):
            if a * b == x:
                found = True
                break
        if found:
            continue
        total += a
    return total


@case("int")
def break_in_a_python_loop(x):
    total = 0
    for k in range(1, 5):
        if total > x:
            break
        total += k
    return total, k


@case("int")
def python_break(x):
    total = 0
    for k in range(1, 5):
        if k == 3:
            break
        total += k * x
    return total, k


@case("int")
def else_of_a_python_loop(x):
    for k in (1, 2, 3):
        if x == k:
            break
    else:
        k = -1
    return k


@case("int")
def continue_in_a_python_loop(x):
    total = 0
    for k in (1, 2, 3):
        if x > k:
            continue
        total += k
    return total


@case("filled")
def first_match_kept(xs):
    for x in xs:
        if x > 3:
            first = x
            break
    return first


@case("trips", "int")
def flag_loop(n, x):
    going, k = True, 0
    while going:
        k += 1
        if k >= n or k > x:
            going = False
    return k


@case("int")
def return_in_with(x):
    with contextlib.nullcontext(3) as k:
        if x > k:
            return x
        x = x + k
    return x


@case("int")
def return_out_of_with(x):
    with contextlib.nullcontext(3) as k:
        y = x * k
        return y + 1


@case("int")
def return_of_one_arm_is_a_with(x):
    if x > 2:
        return 0
    with contextlib.nullcontext(5) as k:
        return k * x


@case("int")
def with_that_swallows(x):
    with contextlib.suppress(KeyError):
        return {}["missing"]
    if x > 2:
        return x
    return -x


@case("int")
def with_that_swallows_in_an_arm(x):
    if x > 5:
        return 1
    with contextlib.suppress(KeyError):
        return {}["missing"] + x
    return x


@case("int")
def return_in_try(x):
    try:
        if x > 2:
            return x * 2
        y = x
    except KeyError:
        y = 0
    return y


@case("int")
def return_in_try_and_handler(x):
    try:
        {}["missing"]
        return x
    except KeyError:
        if x > 2:
            return x + 1
        return -1


@case("int")
def try_else_finally(x):
    log = []
    try:
        if x > 2:
            return 7
        log.append("body")
    except KeyError:
        log.append("handler")
    else:
        log.append("else")
        x = x + 1
    finally:
        log.append("finally")
    return x * len(log)


@case("trips")
def jumps_in_try_in_loop(n):
    total = 0
    for k in range(n):
        try:
            if k == 1:
                continue
            if k == 4:
                break
            total += k
        finally:
            total += 100
    return total


@case("trips")
def return_in_match(n):
    for mode in ("a", "b"):
        match mode:
            case "a":
                if n > 4:
                    return -1
                n = n + 1
            case _:
                return n * 10
    return 0


@case("int")
def unreachable_code(x):
    if x > 2:
        return x
        x = 3
    else:
        return -x
    return y  # noqa: F821  an undefined name is under test


@case("int")
def raise_in_an_arm(x):
    if x < 0:
        raise ValueError("negative")
    if x > 8:
        y = x + 1
        raise KeyError(f"too large: {y}")
    return x * 2


@case("int")
def raise_in_both_arms_of_an_arm(x):
    if x > 2:
        if x > 6:
            raise ValueError("much")
        else:
            raise TypeError("little")
    return x


@case("int")
def raise_in_a_called_function(x):
    return checked(x) + (checked(x - 2) if x > 3 else 0)


def checked(x):
    if x < 0 or x > 10:
        raise ValueError("out of range")
    return x


@case("trips")
def raise_in_a_loop(n):
    total = 0
    for k in range(n):
        if k == 4:
            raise ValueError("four")
        total += k
    return total


@case("int")
def not_implemented_in_an_arm(x):
    if x > 3:
        raise NotImplementedError
    return -x if x > 0 else x


@case("trips", "int")
def loops_that_never_end_normally(n, x):
    for k in range(n):
        if k > x:
            return k
    else:
        return 7
    raise AssertionError("never")


@case("int")
def raise_in_an_arm_of_python(x):
    kind = "int"
    if kind != "int":
        raise TypeError(kind)
    if x > 2:
        return x
    return 0


@case("trips", "int")
def deep_jumps(n, x):
    total = 0
    for a in range(n):
        if a > 1:
            for b in range(a):
                if b == x:
                    total += 1000
                    break
                if a + b > 6:
                    return total
                total += b
            else:
                total += 50
                continue
        total += a
    return total


@case("filled")
def binary_search(xs):
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] == 2:
            return middle
        if xs[middle] < 2:
            low = middle + 1
        else:
            high = middle
    return -1 - low


@case("int")
def greatest_common_divisor(x):
    a, b = abs(x), 12
    while True:
        if b == 0:
            return a
        a, b = b, a % b


@case("trips")
def is_prime(n):
    if n < 2:
        return False
    for k in range(2, n):
        if n % k == 0:
            return False
    return True


@case("trips")
def a_return_after_a_break(n):
    for i in range(n):
        if n > i:
            break
            return 5
    return n


@case("trips")
def a_return_after_a_continue(n):
    for i in range(n):
        if n > i:
            continue
            return 5
        n += 1
    return n


@case("trips")
def a_return_after_a_raise(n):
    for i in range(n):
        if n < i:
            raise ValueError
            return 5
    return n


@case("trips")
def jumps_after_a_branch_that_jumps(n):
    for i in range(n):
        if i > 1:
            break
            for _ in range(3):
                return 3
        else:
            continue
            break
        return 4
    else:
        return 7
    return n


@case("int")
def what_follows_an_endless_loop(x):
    while True:
        x += 1
        if x > 5:
            return x
        else:
            continue
        x = 9
        break
    while x > 0:
        return 4


@case("trips")
def a_return_after_a_return_in_with_and_try(n):
    with contextlib.nullcontext():
        for _ in range(n):
            try:
                continue
                return 1
            finally:
                n += 1
        if n > 2:
            return n
            n = 3
        return n + 1
        return 8
    return n


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)
