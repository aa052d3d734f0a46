"""Tracebacks through converted functions show the user's files, lines and names as plain Python does, and nothing of ours."""

from __future__ import annotations

import traceback

import pytest

import treadle as td

CASES = []


def case(*arguments):
    def note(function):
        CASES.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return note


def inverse(x):
    if x > -100:
        return 6 // x
    return x


class Thing:
    def method(self, x):
        for k in [x]:
            x = inverse(k)
        return x


@case(0)
def in_an_arm(x):
    if x < 3:
        y = 1 // x
    return y


@case(0)
def in_nested_calls(x):
    y = 0
    for _ in range(2):
        while y < 5:
            y = y + (inverse(x) if x < 9 else 0)
    return y


@case(0)
def in_a_condition(x):
    if 1 // x > 2:
        return x
    return 0


@case(0)
def in_a_loop_condition(x):
    k = 0
    while k < 3 and 1 // x > k:
        k += 1
    return k


@case(0)
def in_an_iterable(x):
    for k in range(3 // x):
        x = k
    return x


@case(0)
def in_a_lambda(x):
    return (lambda y: 1 // y if y < 2 else y)(x)


@case(0)
def in_a_comprehension(x):
    return [
        k // x
        for k in range(3)
        if k > 0
    ]  # fmt: skip


@case(0)
def in_a_method(x):
    thing = Thing()
    return thing.method(
        x,
    )


@case(0)
def in_an_inner_function(x):
    def inner(y):
        if y < 3:
            return 1 // y
        return y

    try:
        return inner(x)
    finally:
        x = 3


@case("text")
def in_an_operand(x):
    return (x + "a" > "b") and (x + 1 > 2)


@case(0)
def raised_again(x):
    try:
        return inverse(x)
    except ZeroDivisionError as error:
        raise ValueError("no inverse") from error


@case(3)
def with_a_wrong_call(x):
    if x > 2:
        return inverse(x, 4)
    return 0


def users_entries(function, arguments):
    """What a traceback shows below the caller: line, name, text and columns."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  any error's traceback is under test
        function(*arguments)
    chain, error = [], caught.value
    while error is not None:
        entries = traceback.extract_tb(error.__traceback__)
        chain.append([(e.filename, e.lineno, e.name, e.line, e.colno, e.end_colno) for e in entries if e.name != "users_entries"])
        error = error.__cause__
    return chain


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_on_python_values_it_is_that_of_plain_python(function, arguments):
    plain = users_entries(function, arguments)
    assert plain[0]
    assert users_entries(td.autograph.to_graph(function), arguments) == plain


def test_an_assertion_too():
    def f(x):
        y = x
        assert y > 3, "too small"

    (entry,) = users_entries(td.autograph.to_graph(f), [0])[0]
    assert entry[2:4] == ("f", 'assert y > 3, "too small"')


def of_a_trace(function, *arguments):
    """What a traceback shows below the traced function."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  any error's traceback is under test
        td.function(function)(*arguments)
    entries = traceback.extract_tb(caught.value.__traceback__)
    shown = "".join(traceback.format_exception(caught.value))
    assert "ag__" not in shown
    assert "treadle_autograph/" not in shown
    below = entries[next(i for i, e in enumerate(entries) if e.name == function.__name__ and e.filename == __file__) :]
    return [(e.filename == __file__, e.name, e.line) for e in below], shown


def reshaped(x):
    return td.reshape(x, [5])


def test_in_a_staged_branch_it_shows_the_line_of_the_op():
    def f(x):
        if x[0] > 0:
            y = x
            for _ in td.range(3):
                if x[1] > 2:
                    y = reshaped(x)
        else:
            y = x
        return y

    entries, _ = of_a_trace(f, td.constant([1.0, 2.0]))
    assert entries == [(True, "f", "y = reshaped(x)"), (True, "reshaped", "return td.reshape(x, [5])")]


def test_in_a_staged_loop_and_a_ternary_too():
    def f(x):
        while td.reduce_sum(x) < 10:
            x = x if x[0] > 3 else reshaped(x)
        return x

    entries, _ = of_a_trace(f, td.constant([1.0, 2.0]))
    assert entries == [(True, "f", "x = x if x[0] > 3 else reshaped(x)"), (True, "reshaped", "return td.reshape(x, [5])")]


def test_what_the_operators_refuse_shows_the_line_of_the_branch():
    def f(x):
        y = None
        if x > 0:
            y = x
        return y

    entries, shown = of_a_trace(f, td.constant(1))
    assert entries == [(True, "f", "if x > 0:")]
    assert "'y' is a tensor of shape () and dtype int32 if the condition at" in shown
    assert f"{__file__}:{f.__code__.co_firstlineno + 2} holds, and None if not" in shown


def test_a_return_in_a_loop_that_does_not_fit_is_shown():
    def after(x):
        for i in td.range(x):
            if i > 3:
                return (
                    2.5
                )  # fmt: skip
            x += 1
        return x

    def inside(x):
        while x > 0:
            if x > 3:
                x -= 1
                return None
            x -= 1
        else:
            x = 3
        return x

    for function, line, text in ((after, 3, "return ("), (inside, 4, "return None")):
        entries, shown = of_a_trace(function, td.constant(5))
        assert entries == [(True, function.__name__, text)]
        assert "the return value is " in shown
        assert f"{__file__}:{function.__code__.co_firstlineno + line} holds" in shown


def test_a_recursion_without_an_end_shows_none_of_ours():
    def down(x):
        if x < 1:
            return x
        return down(x - 1)

    lines, error = seen(td.function(down), td.constant(3))
    assert isinstance(error, RecursionError)
    assert lines[-2:] == ["return down(x - 1)", "if x < 1:"]


def test_a_condition_over_several_lines_shows_its_first():
    def f(x):
        y = None
        if (
            x > 0
            and x < 5
        ):  # fmt: skip
            y = x
        return y

    entries, _ = of_a_trace(f, td.constant(1))
    assert entries == [(True, "f", "x > 0")]


def test_nodes_know_the_users_line():
    def f(x):
        if x > 0:
            y = td.exp(x)
        else:
            y = -x
        return y

    graph = td.function(f).get_concrete_function(td.TensorSpec([], td.float32)).graph
    cond = next(node for node in graph.nodes if node.op.name == "cond")
    inner = [node for branch in cond.attrs["branches"] for node in td_nodes(branch.graph) if node.op.name in ("exp", "negative")]
    assert [node.source.text for node in inner] == ["y = td.exp(x)", "y = -x"]
    assert {node.source.function for node in inner} == {"f"}
    assert cond.source.text == "if x > 0:"


def td_nodes(graph):
    for node in graph.nodes:
        if node.op.name == "call":
            yield from td_nodes(node.attrs["function"].graph)
        else:
            yield node


def test_filtering_can_be_switched_off():
    def f(x):
        if x[0] > 0:
            return reshaped(x)
        return x

    td.debugging.disable_traceback_filtering()
    try:
        with pytest.raises(ValueError, match="reshape") as caught:
            td.function(f)(td.constant([1.0, 2.0]))
    finally:
        td.debugging.enable_traceback_filtering()
    files = [e.filename for e in traceback.extract_tb(caught.value.__traceback__)]
    assert any("treadle_autograph" in name for name in files)


def test_a_caught_exception_is_clean_too():
    seen = []

    def f(x):
        try:
            return g(x)
        except ValueError as error:
            seen.append([e.line for e in traceback.extract_tb(error.__traceback__)])
            return x

    def g(x):
        if x[0] > 0:
            return reshaped(x)
        return x

    td.function(f)(td.constant([1.0, 2.0]))
    assert seen == [["return g(x)", "return reshaped(x)", "return td.reshape(x, [5])"]]


# ---------------------------------------------------------------------- from a traced function outwards


class Model(td.Module):
    @td.function
    def rows(self, x):
        return td.map_fn(lambda row: reshaped(row), x)


def seen(function, *arguments):
    """The lines of a traceback from this file, if there are no others; and the error."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  any error's traceback is under test
        function(*arguments)
    entries = traceback.extract_tb(caught.value.__traceback__)
    assert {e.filename for e in entries} == {__file__}
    return [e.line for e in entries][1:], caught.value


def test_what_tracing_raises_shows_the_users_lines_only():
    lines, _ = seen(td.function(reshaped), td.constant([1.0]))
    assert lines == ["return td.reshape(x, [5])"]
    lines, _ = seen(td.function(reshaped).get_concrete_function, td.TensorSpec([2]))
    assert lines == ["return td.reshape(x, [5])"]


def test_a_traced_method_and_a_function_handed_to_an_op():
    lines, _ = seen(Model().rows, td.constant([[1.0, 2.0]]))
    assert lines == ["return td.map_fn(lambda row: reshaped(row), x)"] * 2 + ["return td.reshape(x, [5])"]


def test_without_conversion_too():
    lines, _ = seen(td.function(reshaped, autograph=False), td.constant([1.0]))
    assert lines == ["return td.reshape(x, [5])"]


def test_an_error_of_the_graph_names_the_users_line_and_shows_none_of_ours():
    @td.function
    def f(x, k):
        if k > 0:
            x = td.gather(x, k)
        return x[0]

    for calls in range(3):
        lines, error = seen(f, td.constant([[1.0], [2.0]]), td.constant(5))
        assert lines == [], calls
        assert f"{__file__}:{f.python_function.__code__.co_firstlineno + 3} `x = td.gather(x, k)`" in str(error)
    concrete = f.get_concrete_function(td.TensorSpec([2, 1]), td.TensorSpec([], td.int32))
    assert seen(concrete, td.constant([[1.0], [2.0]]), td.constant(5))[0] == []


def test_a_wrong_call_shows_none_of_ours():
    assert seen(td.function(reshaped))[0] == []


def test_what_python_functions_in_a_graph_raise_shows_their_lines():
    def inside(x):
        return 1 // int(x)

    @td.function
    def f(x):
        return td.numpy_function(inside, [x], td.int64)

    assert seen(f, td.constant(0))[0] == ["return 1 // int(x)"]


def test_causes_contexts_and_notes_stay():
    def f(x):
        try:
            return reshaped(x)
        except ValueError as error:
            error.add_note("seen")
            raise KeyError("wrong shape") from error

    def g(x):
        try:
            return reshaped(x)
        except ValueError:
            raise KeyError("wrong shape")  # noqa: B904  a context is under test

    _, error = seen(td.function(f), td.constant([1.0]))
    assert error.__cause__.__notes__ == ["seen"]
    assert [e.line for e in traceback.extract_tb(error.__cause__.__traceback__)] == ["return reshaped(x)", "return td.reshape(x, [5])"]
    _, error = seen(td.function(g), td.constant([1.0]))
    assert isinstance(error.__context__, ValueError)
    assert [e.line for e in traceback.extract_tb(error.__context__.__traceback__)] == ["return reshaped(x)", "return td.reshape(x, [5])"]


def test_a_group_is_filtered_with_what_is_in_it():
    def f(x):
        found = []
        for _ in range(2):
            try:
                reshaped(x)
            except ValueError as error:
                found.append(error)
        raise ExceptionGroup("both", found)

    _, error = seen(td.function(f), td.constant([1.0]))
    for inner in error.exceptions:
        assert {e.filename for e in traceback.extract_tb(inner.__traceback__)} == {__file__}


def test_an_interrupt_keeps_its_whole_traceback():
    def f(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        td.function(f, autograph=False)(td.constant(1))
    assert any("polymorphic" in e.filename for e in traceback.extract_tb(caught.value.__traceback__))


def test_the_switch_says_how_it_stands():
    assert td.debugging.is_traceback_filtering_enabled()
    td.debugging.disable_traceback_filtering()
    try:
        assert not td.debugging.is_traceback_filtering_enabled()
        with pytest.raises(ValueError, match="reshape") as caught:
            td.function(reshaped, autograph=False)(td.constant([1.0]))
    finally:
        td.debugging.enable_traceback_filtering()
    assert any("polymorphic" in e.filename for e in traceback.extract_tb(caught.value.__traceback__))
