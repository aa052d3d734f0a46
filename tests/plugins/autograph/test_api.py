"""``td.autograph``: text of conversions, findings, logs; and what conversion costs."""

from __future__ import annotations

import ast
import logging
import time

import pytest

import treadle as td
from treadle_autograph.compilation import convert_code


def sample(x, xs, n):
    total = 0
    for k in range(n):
        if k % 2 == 0 and k > 3:
            total += k * x
        elif k == x:
            continue
        else:
            total -= 1
        while total > 100:
            total = total // 2
            if total < 7:
                break
    best = [y if y > x else x for y in xs]
    result = max(best) + total
    return result if result > 0 else -result


def test_to_code_gives_python():
    text = td.autograph.to_code(sample)
    (function,) = ast.parse(text).body
    assert function.name == "sample"
    assert "ag__.for_stmt(" in text
    assert "total += k * x" in text
    assert td.autograph.to_code(td.function(sample)) == text


def test_to_code_of_what_is_not_converted_says_why():
    import json

    for thing, why in ((json.dumps, "library"), (td.add, "treadle"), (len, "no function written in Python")):
        with pytest.raises(ValueError, match=why):
            td.autograph.to_code(thing)

    def numbers():
        yield 1

    with pytest.raises(ValueError, match="generator"):
        td.autograph.to_graph(numbers)


def test_to_graph_gives_a_function_that_runs_eagerly_too():
    converted = td.autograph.to_graph(sample)
    assert converted(3, [1, 5], 9) == sample(3, [1, 5], 9)
    assert converted is not sample


def test_to_graph_of_a_method_is_bound():
    class Thing:
        limit = 3

        def clip(self, x):
            return x if x < self.limit else self.limit

    assert td.autograph.to_graph(Thing().clip)(5) == 3
    assert td.autograph.to_graph(Thing.clip)(Thing(), 5) == 3
    assert td.autograph.to_graph(td.function(sample))(3, [1], 2) == sample(3, [1], 2)


def test_check_lists_what_does_not_work_by_line():
    def f(x, xs):
        items = []
        for v in xs:
            items.append(v)
        try:
            match x:
                case 1:
                    pass
        finally:
            x = 0
        return [k for k in xs if k > x], lambda x: x > 0 and (y := x) > 2  # noqa: F841  the walrus is under test

    findings = td.autograph.check(f)
    first = f.__code__.co_firstlineno
    assert [(finding.line - first, finding.construct) for finding in findings] == [
        (3, "`items.append` in a loop"),
        (4, "`try`"),
        (5, "`match`"),
        (10, "`:=` in an operand that may not be computed, in a lambda"),
        (10, "a comprehension"),
    ]
    assert str(findings[0]).startswith(f"line {first + 3}: `items.append` in a loop: ")


def test_check_names_what_takes_out_of_a_container_in_a_loop():
    def f(x, stack):
        while x < 3:
            x += stack.pop()
        return x

    assert [finding.construct for finding in td.autograph.check(f)] == ["`stack.pop` in a loop"]


def test_check_knows_functions_of_modules_and_lists_made_in_a_turn():
    import math as numbers

    def f(xs, t, items):
        import operator

        for x in xs:
            y = td.sort(td.stack([x, t]))[0] + td.math.add(x, t) + numbers.remove(operator.add(x, 1))
            rows = []
            for k in range(-3, 3):
                rows.append(k * x)
            for k in (1, 2):
                if k > x:
                    break
                rows.append(k)
            for _ in td.range(3):
                rows.append(y)
            for k in [1, 2]:
                items.append(k)
        return y

    findings = [(finding.line - f.__code__.co_firstlineno, finding.construct) for finding in td.autograph.check(f)]
    assert findings == [(11, "`rows.append` in a loop"), (13, "`rows.append` in a loop"), (15, "`items.append` in a loop")]


def test_check_names_changes_of_what_is_outside():
    def f(x, items, d, boxes, k):
        if x > 0:
            d["k"] = items[k] = x
            items[1:] = [x]
            items[k + 1] = 2
            del d["k"]
            items.append(1)
            boxes[0].rows += [3]
            made = []
            made.append(3)
            made[x] = 4
            made += [5]
            del boxes[0].value
        if x is None:
            d.update(k=1)
            items[k + 2] = 3
        for box in boxes:
            box.value = 2
            if x > 3:
                box.value = 3
            inner = {"a": 1}
            inner[box] = 3
        x > 3 and items.pop()
        return list(filter(None, items))

    first = f.__code__.co_firstlineno
    assert [(finding.line - first, finding.construct) for finding in td.autograph.check(f)] == [
        (3, "`items[1:] = ...` in a branch"),
        (4, "`items[k + 1] = ...` in a branch"),
        (5, "`del d['k']` in a branch"),
        (6, "`items.append` in a branch"),
        (7, "`boxes[0].rows += [3]` in a branch"),
        (12, "`del boxes[0].value` in a branch"),
        (17, "`box.value = ...` in a loop"),
        (19, "`box.value = ...` in a branch"),
        (22, "`items.pop` in a branch"),
        (23, "`filter`"),
    ]


def test_check_names_a_list_that_grows_in_place():
    def f(x, items):
        if x > 0:
            items += [3]
        return items

    assert [finding.construct for finding in td.autograph.check(f)] == ["`items += [3]` in a branch"]


def test_check_finds_nothing_in_plain_code():
    assert td.autograph.check(sample) == [finding for finding in td.autograph.check(sample) if finding.construct == "a comprehension"]
    assert td.autograph.check(lambda x: x if x > 0 else -x) == []


def test_check_of_what_is_not_converted():
    def numbers():
        yield 1

    for thing, why in ((numbers, "generator"), (td.add, "belongs to treadle"), (len, "no function written in Python")):
        (finding,) = td.autograph.check(thing)
        assert why in finding.reason

    def jumps():
        try:
            pass
        finally:
            return 1

    assert any("finally" in finding.construct for finding in td.autograph.check(jumps))


class Shape:
    def __init__(self, sides):
        self.sides = sides if sides > 2 else 3

    @property
    def is_round(self):
        return True if self.sides > 100 else False

    @property
    def plain(self):
        return self.sides

    def __mul__(self, k):
        return Shape(self.sides * k) if k > 0 else self

    def grown(self, k):
        return self.sides + k if self.is_round and self.plain else 0


def test_check_of_a_class_and_a_method_names_what_python_calls_by_itself():
    assert [finding.construct for finding in td.autograph.check(Shape)] == [
        "the property 'is_round'",
        "the special method '__mul__'",
        "the property `self.is_round`",
    ]
    (finding,) = td.autograph.check(Shape(3).grown)
    assert finding.construct == "the property `self.is_round`"
    assert "runs as it is written" in finding.reason
    (finding,) = td.autograph.check(Shape.__mul__)
    assert finding.construct == "the special method '__mul__'"


def test_trace_prints_while_tracing(capsys):
    @td.function
    def f(x):
        td.autograph.trace("tracing", x.dtype.name)
        return x

    f(td.constant(1))
    f(td.constant(2))
    assert capsys.readouterr().out == "tracing int32\n"


def test_verbosity_logs_what_is_converted(caplog, capsys):
    td.autograph.set_verbosity(1, alsologtostdout=True)
    try:
        with caplog.at_level(logging.INFO, "treadle.autograph"):

            def f(x):
                return x if x > 0 else -x

            td.function(f)(td.constant(1))
    finally:
        td.autograph.set_verbosity(0)
    assert any("converted" in r.getMessage() and ".f (" in r.getMessage() for r in caplog.records)
    assert "converted" in capsys.readouterr().out
    assert not logging.getLogger("treadle.autograph").handlers


def test_autograph_can_be_switched_off():
    f = td.function(lambda x: x if x > 0 else -x, autograph=False)
    with pytest.raises(TypeError, match="bool"):
        f(td.constant(1))


# ---------------------------------------------------------------------- cost


def fastest(function, times=15):
    """The shortest of several runs, in seconds of this thread, whatever else the machine does."""
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        function()
        best = min(best, time.thread_time() - start)
    return best


def test_converting_fifteen_lines_takes_less_than_fifteen_milliseconds():
    assert fastest(lambda: convert_code(sample.__code__, globals())) < 0.015


def test_a_second_conversion_takes_no_time():
    td.autograph.to_graph(sample)
    assert fastest(lambda: td.autograph.to_graph(sample)) < 0.0002


def python_loop(n):
    total = 0
    for k in range(n):
        if k % 3 == 0:
            total += k
        elif k % 5 == 0 and total > 10:
            total -= 1
        else:
            total = total if total > k else k
    return total


def python_while(n):
    k = 0
    while k < n:
        k += 1
        if k == n + 5:
            break
    return k


def python_if(n):
    total = 0
    for k in range(n):
        if k % 3 == 0:
            total += k
    return total


@pytest.mark.parametrize("function", [python_loop, python_while, python_if], ids=lambda f: f.__name__)
def test_python_control_flow_on_python_values_keeps_nearly_its_speed(function):
    converted = td.autograph.to_graph(function)
    assert converted(1000) == function(1000)
    ratio = fastest(lambda: converted(10_000)) / fastest(lambda: function(10_000))
    assert ratio < 1.8, f"{ratio:.1f} times as long"
