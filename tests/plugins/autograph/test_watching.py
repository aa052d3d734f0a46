"""Tests run as Python runs them; which operand of which test was a tensor is found out from the exception, and nothing else is taken for it."""

from __future__ import annotations

import subprocess
import sys
import traceback

import pytest

import treadle as td

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


@case("int", "int")
def operands_of_a_test(x, y):
    r = 0
    if (x > y and not (y > 2 or x == 0)) or (x < y and y < 5):
        r += 1
    if not (x > y):
        r += 10
    if not x > y and (z := x + y) > 1:
        r += z * 100
    return r


@case("int", "int", "int")
def chains(a, b, c):
    r = 0
    if 0 < a < b < 6 < c + 2:
        r = 1
    if not a < b < c:
        r += 4
    while 0 < a < b < 50:
        b, a = b * 2, a + 1
    return r, a < b < c < 9, a, b


@case("int", "int")
def an_operand_of_a_chain_runs_only_if_wanted(x, y):
    seen = 0

    def note(v):
        nonlocal seen
        seen += 1
        return v

    r = 0
    if 0 < x < 5 <= note(y):
        r += 1
    if 10 > note(x) >= y > 1:
        r += 10
    if 1 < 0 < note(x):
        r += 100
    return r, seen


@case("int", "int")
def conditions_of_while(x, y):
    turns = 0
    while not (turns > 9 or x > 20) and (y < 8 or x < 3):
        x += 4
        y += 1
        turns += 1
    return x, y, turns


@case("int", "int")
def ternaries_as_tests(x, y):
    r = 0
    if (x if y > 0 else y) > 3:
        r += 7
    if (x > 1) == (y > 1):
        r += 3
    if x > 1 if y > 1 else x < 1:
        r += 1
    return r


@case("int")
def chains_of_elif(x):
    if x < -5:
        r = 1
    elif x < -2:
        r = 2
        if x == -4:
            r = 20
    elif x < 0:
        r = 3
    elif x == 0 or x == 7:
        r = 4
        if x:
            r = 40
        r += 1
    else:
        r = 5 if x > 3 else 6
    return r


@case("int")
def walrus_in_a_condition(n):
    total = 0
    while (n := n - 3) > 0 and (m := n * 2) > 4:
        total += m
    if (q := total + 1) > 3:
        return q
    return -q


@case("int")
def operands_over_several_lines(x):
    thing = Thing(x)
    if (
        thing
        .grown(1)
        .grown(2)
        .value > 3
        and thing.grown(
            4,
        ).value
        < 12
    ):  # fmt: skip
        return 1
    return 0


class Thing:
    def __init__(self, value):
        self.value = value

    def grown(self, by):
        return Thing(self.value + by)


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds, examples=20)


def test_more_blocks_than_python_nests_are_asked_instead():
    lines = ["def f(x):", "    r = 0"]
    for depth in range(14):
        lines += [f"{'    ' * (depth + 1)}for k{depth} in range(1):", f"{'    ' * (depth + 2)}r += 1 if x > {depth} else 0"]
        lines += [f"{'    ' * (depth + 2)}if x > {depth}:", f"{'    ' * (depth + 3)}r += 1"]
    lines.append("    return r")
    f = of_text("\n".join(lines))
    assert f(9) == int(td.function(f)(td.constant(9))) == td.autograph.to_graph(f)(9) == 18


def of_text(text, folder=[]):  # noqa: B006  one folder for all
    import importlib.util
    import tempfile
    from pathlib import Path

    if not folder:
        folder.append(tempfile.TemporaryDirectory())
    path = Path(folder[0].name) / f"text_{abs(hash(text))}.py"
    path.write_text(text + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def test_without_columns_in_byte_code_tests_are_asked_instead(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import treadle as td\n@td.function\ndef f(x, y):\n    if x > 1 and y > 1: return x\n    while y < 9: y += x\n    return y\n"
        "print(int(f(td.constant(2), td.constant(3))), int(f(td.constant(1), td.constant(3))))\n"
    )
    done = subprocess.run([sys.executable, "-X", "no_debug_ranges", str(program)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "9"]


# ---------------------------------------------------------------------- what is not the test


@pytest.mark.parametrize("holder", [list, tuple])
def test_a_comparison_of_containers_is_no_condition_of_the_graph(holder):
    def f(x, y):
        if holder([x, y]) == holder([y, x]):
            return x
        return y

    with pytest.raises(td.errors.InvalidArgumentError, match="Python bool"):
        td.function(f)(td.constant(1), td.constant(2))


def test_what_an_arm_asks_is_not_the_test():
    @td.autograph.experimental.do_not_convert
    def asks(x):
        return 1 if x > 0 else 2

    def f(x, n):
        if n > 0:
            return asks(x)
        return x

    with pytest.raises(td.errors.InvalidArgumentError, match="Python bool") as caught:
        td.function(f)(td.constant(1), 3)
    assert [e.line for e in traceback.extract_tb(caught.value.__traceback__)][-2:] == ["return asks(x)", "return 1 if x > 0 else 2"]


def test_a_truth_of_the_users_own_that_asks_a_tensor_is_not_the_test():
    class Big:
        def __init__(self, x):
            self.x = x

        def __bool__(self):
            return bool(self.x > 3)

    def f(x):
        if Big(x):
            return x
        return -x

    with pytest.raises(td.errors.InvalidArgumentError, match="Python bool"):
        td.function(f)(td.constant(1))


def test_the_exception_that_told_is_gone_when_the_arm_runs():
    contexts = []

    def f(x):
        if x > 0:
            try:
                raise KeyError("of the arm")
            except KeyError as error:
                contexts.append((error.__context__, sys.exc_info()[1] is error))
            contexts.append(sys.exc_info()[1])
        return x

    td.function(f)(td.constant(1))
    assert contexts == [(None, True), None]
