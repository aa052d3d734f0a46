"""What cannot be done is refused with the variable's name, the place, both values and a way out."""

from __future__ import annotations

import warnings

import pytest

import treadle as td


def refused(function, *arguments, kind=(TypeError, ValueError)):
    """The message with which a trace is refused."""
    with pytest.raises(kind) as caught:
        td.function(function)(*arguments)
    return str(caught.value)


# ---------------------------------------------------------------------- branches


def test_none_on_one_way():
    def f(x):
        result = None
        if x > 0:
            result = x
        return result

    message = refused(f, td.constant(1))
    assert message.startswith("'result' is a tensor of shape () and dtype int32 if the condition at ")
    assert "None if not" in message


def test_a_return_value_that_is_missing_on_one_way():
    def f(x):
        if x > 0:
            return x

    message = refused(f, td.constant(1))
    assert message.startswith("the return value is a tensor")
    assert "None if not" in message


def test_dtypes_that_differ():
    def f(x):
        if x > 0:
            y = td.cast(x, td.float32)
        else:
            y = x
        return y

    message = refused(f, td.constant(1), kind=TypeError)
    assert "'y' is a tensor of shape () and dtype float32" in message
    assert "dtype int32 if not" in message
    assert "td.cast" in message


def test_structures_that_differ():
    def f(x):
        pair = (x, x)
        if x > 0:
            pair = (x, x, x)
        return pair

    message = refused(f, td.constant(1))
    assert "'pair' is a tuple of 3 items" in message
    assert "a tuple of 2 items if not" in message


def test_python_values_that_differ():
    def f(x):
        mode = "down"
        if x > 0:
            mode = "up"
        return mode

    assert "'mode' is 'up' if the condition" in refused(f, td.constant(1))


def test_a_python_number_that_the_dtype_cannot_hold():
    def f(x):
        if x > 0:
            x = 2.5
        return x

    message = refused(f, td.constant(1), kind=TypeError)
    assert "'x' is the Python value 2.5" in message
    assert "float32 and int32" in message


def test_values_of_a_ternary_that_differ():
    message = refused(lambda x: x if x > 0 else None, td.constant(1))
    assert message.startswith("the value of the ternary is a tensor")


def test_attributes_that_only_one_way_sets():
    class Box:
        pass

    def f(x):
        box = Box()
        if x > 0:
            box.value = x
        return box.value

    message = refused(f, td.constant(1))
    assert "'box.value'" in message
    assert "undefined if not" in message


def test_a_vector_as_a_condition():
    def f(x):
        if x > 0:
            return x
        return -x

    assert "ambiguous" in refused(f, td.constant([1, 2]), kind=ValueError)
    assert "ambiguous" in refused(lambda x: 0 < x < 2, td.constant([1, 2]), kind=ValueError)


# ---------------------------------------------------------------------- undefined variables


def test_a_variable_that_one_way_leaves_undefined_is_refused_when_it_is_read():
    @td.function
    def f(x):
        if x > 0:
            y = x * 2
        x = x + 1
        return y

    assert int(f(td.constant(2))) == 4
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'") as caught:
        f(td.constant(-2))
    assert isinstance(caught.value, td.errors.InvalidArgumentError)
    assert "`return y`" in str(caught.value)
    assert f"{__file__}:" in str(caught.value)


def test_a_variable_that_is_set_later_only_is_refused_where_it_is_read():
    @td.function
    def f(x):
        if x > 0:
            y = q  # noqa: F821  no value yet
        else:
            y = 1
        q = 3
        return y + q

    assert int(f(td.constant(-1))) == 4
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'q' where it is not associated with a value") as caught:
        f(td.constant(1))
    assert "`y = q " in caught.value.__notes__[0]
    assert "`y = q " in str(caught.value)


def test_a_variable_of_the_turn_before_is_refused_in_the_first_turn():
    @td.function
    def f(n, first):
        total = 0
        for i in td.range(n):
            if i >= first:
                total += before  # noqa: F821  no value yet
            before = i  # noqa: F841
        return total

    assert [int(f(td.constant(n), td.constant(1))) for n in (0, 1, 4)] == [0, 0, 3]
    assert int(f(td.constant(0), td.constant(0))) == 0
    with pytest.raises(UnboundLocalError, match=r"variable 'before' .* the branch or loop at .*test_refusals\.py:\d+ did not set it"):
        f(td.constant(1), td.constant(0))


def test_a_variable_that_no_way_defines_is_refused_while_tracing():
    def f(x):
        if x > 0:
            y = x
            del y
        return y

    with pytest.raises(UnboundLocalError, match="'y'"):
        td.function(f)(td.constant(1))


def test_the_variable_of_a_loop_that_never_ran():
    @td.function
    def f(n):
        for k in td.range(n):
            pass
        return k

    assert int(f(td.constant(3))) == 2
    with pytest.raises(UnboundLocalError, match="'k'"):
        f(td.constant(0))


def test_a_loop_that_is_known_not_to_run_leaves_its_variable_undefined():
    def f():
        for k in td.range(0):
            pass
        return k

    with pytest.raises(UnboundLocalError, match="'k'"):
        td.function(f)()


def test_a_variable_that_is_not_read_costs_nothing():
    def f(x):
        for k in td.range(x):
            y = k
            z = y + 1
            x = x + z
        return x

    graph = td.function(f).get_concrete_function(td.TensorSpec([], td.int32)).graph
    assert not [node for node in graph.nodes if node.op.name == "autograph.assert_defined"]
    (loop,) = [node for node in graph.nodes if node.op.name.startswith("while")]
    assert loop.attrs["carried"] == 2


# ---------------------------------------------------------------------- loops


def test_a_loop_variable_that_changes_its_dtype():
    def f(n):
        x = td.constant(1)
        for _ in td.range(n):
            x = td.cast(x, td.float32)
        return x

    message = refused(f, td.constant(3), kind=TypeError)
    assert "'x' is a tensor of shape () and dtype int32 before the loop at" in message
    assert "a tensor of shape () and dtype float32 after a turn" in message


def test_a_loop_variable_that_leaves_the_shape_it_was_given():
    def f(n):
        x = td.constant([1, 2])
        for _ in td.range(n):
            td.autograph.experimental.set_loop_options(shape_invariants=[(x, td.TensorShape([2]))])
            x = td.concat([x, x], 0)
        return x

    message = refused(f, td.constant(3), kind=ValueError)
    assert "'x' is a tensor of shape (2,) and dtype int32 at" in message
    assert "a tensor of shape (4,) and dtype int32 after a turn" in message
    assert "set_loop_options" in message


def test_shape_invariants_allow_it():
    @td.function
    def f(n):
        x = td.constant([1])
        for k in td.range(n):
            td.autograph.experimental.set_loop_options(shape_invariants=[(x, td.TensorShape([None]))])
            x = td.concat([x, [k]], 0)
        return x

    assert f(td.constant(3)).numpy().tolist() == [1, 0, 1, 2]
    assert f(td.constant(0)).numpy().tolist() == [1]


def test_maximum_iterations_end_a_loop():
    @td.function
    def f(n):
        k = 0
        while k < n:
            td.autograph.experimental.set_loop_options(maximum_iterations=4)
            k += 1
        return k

    assert [int(f(td.constant(n))) for n in (3, 9)] == [3, 4]


def test_a_loop_variable_that_was_none():
    def f(n):
        best = None
        for k in td.range(n):
            best = k
        return best

    message = refused(f, td.constant(3))
    assert "'best' is None before the loop at" in message
    assert "a tensor of shape () and dtype int32 after a turn" in message


def test_a_loop_variable_whose_structure_grows():
    def f(n):
        items = []
        for k in td.range(n):
            items = [*items, k]
        return items

    message = refused(f, td.constant(3))
    assert "'items' is a list of 0 items before the loop at" in message
    assert "a list of 1 items after a turn" in message


def test_a_python_number_that_the_body_cannot_keep():
    def f(xs):
        count = True
        for x in xs:
            count = count + x
        return count

    message = refused(f, td.constant([1, 2]))
    assert "bool" in message


@pytest.mark.parametrize("container", ["list", "dict", "set", "attribute"])
def test_containers_that_a_loop_fills(container):
    class Box:
        items = []  # noqa: RUF012  a class attribute is under test

    box = Box()

    def of_list(x):
        doubled = []
        for v in x:
            doubled.append(v * 2.0)
        return doubled

    def of_dict(x):
        doubled = {}
        for v in x:
            doubled.update(last=v)
        return doubled

    def of_set(x):
        doubled = set()
        while x[0] > 0:
            doubled.add(x.ref())
            doubled.add(x)
            x = x - 1
        return doubled

    def of_attribute(x):
        for v in x:
            box.items.append(v)
        return box.items

    function = {"list": of_list, "dict": of_dict, "set": of_set, "attribute": of_attribute}[container]
    message = refused(function, td.constant([1.0, 2.0]))
    assert ("'box.items'" if container == "attribute" else "'doubled'") in message
    assert "td.TensorArray" in message
    assert not box.items


def test_a_container_of_the_loop_itself_may_be_filled():
    @td.function
    def f(x):
        total = 0.0
        names = []
        for v in x:
            names.append("a turn, while tracing")
            row = []
            for k in range(3):
                row.append(v * k)
                if v > 1:
                    both = [v]
                    both.append(v)
                    total = total + td.add_n(both)
            total = total + td.add_n(row)
        return total, len(names)

    total, count = f(td.constant([1.0, 2.0]))
    assert (float(total), int(count)) == (21.0, 1)


def test_a_tensor_that_leaks_out_of_a_branch_is_traced_back():
    kept = {}

    def keep(x):
        kept["t"] = x + 1

    def f(x):
        if x > 0:
            keep(x)
        return kept["t"]

    assert 'kept["t"] = x + 1' in refused(f, td.constant(1))


def test_a_loop_over_a_scalar():
    def f(x):
        for v in x:
            x = v
        return x

    message = refused(f, td.constant(1), kind=TypeError)
    assert "iterate over a scalar tensor" in message
    assert "td.range" in message


# ---------------------------------------------------------------------- what only Python decides


def test_a_comprehension_over_a_tensor_of_unknown_size():
    f = td.function(lambda x: [v * 2 for v in x], input_signature=[td.TensorSpec([None], td.int32)])
    with pytest.raises(TypeError, match=r"comprehension.*td\.map_fn"):
        f(td.constant([1, 2]))
    assert [int(v) for v in td.function(lambda x: [v * 2 for v in x])(td.constant([1, 2]))] == [2, 4]


def test_a_comprehension_filtered_by_a_tensor():
    message = refused(lambda x: [k for k in range(3) if x > k], td.constant(1))
    assert "comprehension" in message
    assert "td.boolean_mask" in message


def test_a_case_guarded_by_a_tensor():
    def f(x):
        match "a":
            case "a" if x > 0:
                return x
            case _:
                return -x

    assert "guard" in refused(f, td.constant(1))


def test_a_walrus_of_a_lambda_that_may_not_run():
    def f(x):
        return (lambda v: v > 0 and (y := v) < 3)(x)  # noqa: F841  the walrus is under test

    assert ":=" in refused(f, td.constant(1))


def test_a_recursion_that_a_tensor_would_have_to_end():
    def down(x):
        if x < 1:
            return x
        return down(x - 1)

    assert "calls itself" in refused(down, td.constant(3), kind=RecursionError)


def test_a_python_iterator_without_end_whose_break_is_a_tensor():
    import itertools

    def f(x):
        for k in itertools.count():
            if x < k:
                break
        return k

    from treadle_autograph import loops

    most, loops._MOST_TURNS = loops._MOST_TURNS, 20
    try:
        assert "unrolled" in refused(f, td.constant(3))
    finally:
        loops._MOST_TURNS = most


# ---------------------------------------------------------------------- exceptions


class WrongError(ValueError):
    def __init__(self, what, number):
        super().__init__(what, number)
        self.number = number


def test_what_an_arm_raises_is_raised_when_the_graph_gets_there(capfd):
    @td.function
    def f(x):
        if x < 0:
            td.print("negative")
            raise WrongError("no", 3)
        return x

    assert int(f(td.constant(1))) == 1
    with pytest.raises(WrongError) as caught:
        f(td.constant(-1))
    assert caught.value.number == 3
    assert caught.value.__notes__[0].endswith('`raise WrongError("no", 3)`')
    assert capfd.readouterr().err == "negative\n"


def test_what_every_way_raises_is_raised_while_tracing():
    def f(x):
        if x < 0:
            raise ValueError("negative")
        raise ValueError("not negative")

    assert "negative" in refused(f, td.constant(1))


def test_what_an_op_refuses_is_refused_while_tracing():
    def f(x):
        if x[0] > 0:
            x = td.reshape(x, [5])
        return x

    assert "reshape" in refused(f, td.constant([-1.0, 2.0]))


# ---------------------------------------------------------------------- without source


def made_by_exec(text, name="f"):
    space = {"td": td}
    exec(text, space)
    return space[name]


def test_a_function_without_source_runs_as_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = made_by_exec("def f(x):\n    return x + 1 if x is not None else 0\n")
        assert float(td.function(f)(td.constant(1.0))) == 2.0


def test_a_tensor_condition_without_source_says_why():
    f = made_by_exec("def f(x):\n    if x > 0:\n        return x\n    return -x\n")
    assert "source" in refused(f, td.constant(1))
    with pytest.raises(ValueError, match="source of 'f' is not available"):
        td.autograph.to_code(f)


def test_a_function_whose_file_has_changed_runs_as_it_is(tmp_path):
    import importlib.util
    import linecache

    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x + 1\n")
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text("def g(y, z):\n    return y - z\n")
    linecache.checkcache(str(path))
    assert float(td.function(module.f)(td.constant(1.0))) == 2.0
    with pytest.raises(ValueError, match="changed"):
        td.autograph.to_code(module.f)


def test_a_jump_out_of_finally_leaves_the_function_as_it_is():
    def f(x):
        for _ in range(2):
            try:
                raise KeyError
            finally:
                break
        return x

    assert int(td.function(f)(td.constant(1))) == 1
    with pytest.raises(ValueError, match="finally"):
        td.autograph.to_code(f)


def test_a_mistake_of_the_converter_is_one_warning(monkeypatch):
    from treadle_autograph import convert

    def broken(code, module):
        raise LookupError("no such thing")

    monkeypatch.setattr(convert, "convert_code", broken)

    def f(x):
        return x + 1

    with pytest.warns(convert.AutographWarning, match=r"could not convert .*f'.*LookupError: no such thing") as caught:
        assert [float(td.function(f)(td.constant(v))) for v in (1.0, 2.0)] == [2.0, 3.0]
    assert len(caught) == 1


class Box:
    def __init__(self, v):
        self.v = v

    @property
    def size(self):
        return 1 if self.v > 3 else 0

    def __add__(self, other):
        if self.v > other:
            return self.v
        return other


@pytest.mark.parametrize(("function", "name"), [(lambda x: Box(x).size, "size"), (lambda x: Box(x) + 1, "__add__")], ids=["property", "operator"])
def test_what_python_calls_by_itself_runs_as_it_is_and_says_so(function, name):
    with pytest.raises(TypeError, match="Python bool") as caught:
        td.function(function)(td.constant(1))
    (note,) = caught.value.__notes__
    assert note.startswith(f"'Box.{name}' ({__file__}:")
    assert "not called by converted code" in note


def test_a_function_without_source_is_named_with_the_reason():
    f = made_by_exec("def f(x):\n    if [k for k in range(2) if x > k]:\n        return x\n    return -x\n")
    with pytest.raises(TypeError, match="Python bool") as caught:
        td.function(lambda x: f(x))(td.constant(1))
    assert caught.value.__notes__ == [
        "'f' (<string>:1) runs as it is written, not converted by AutoGraph: the source of 'f' is not available: there is no file '<string>'"
    ]


def test_a_condition_of_a_generator_says_why():
    def rows(x):
        for k in range(3):
            if x > k:
                yield k

    with pytest.raises(TypeError, match="Python bool") as caught:
        td.function(lambda x: list(rows(x)))(td.constant(1))
    assert caught.value.__notes__[0].endswith("it is a generator or coroutine")


def test_a_match_on_a_tensor_says_that_it_is_pythons():
    def f(x):
        match x:
            case 1:
                return x
        return -x

    with pytest.raises(TypeError, match="Python bool") as caught:
        td.function(f)(td.constant(1))
    assert "what a `case` matches" in caught.value.__notes__[0]
