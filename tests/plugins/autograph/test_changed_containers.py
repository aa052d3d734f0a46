"""Containers with two names, lists that get shorter, classes with items and setters of their own, in branches and loops that depend on tensors."""

from __future__ import annotations

from collections import ChainMap, UserDict

import pytest

import treadle as td
from treadle_autograph.errors import ChangedContainerError

XS = td.constant([1.0, 2.0])


def refused(function, *arguments, kind=ChangedContainerError):
    with pytest.raises(kind) as caught:
        td.function(function)(*arguments)
    return str(caught.value)


# ---------------------------------------------------------------------- two names


def a_variable(xs):
    a = [0.0, 0.0]
    b = a
    for x in xs:
        b[0] += x
        a = [a[0], a[1] + 1]
    return a, b


def an_item(xs):
    d = {"x": 0.0}
    hist = [{"x": 0.0}, {"x": 0.0}]
    for x in xs:
        d["x"] += x
        hist[0] = hist[1]
        hist[1] = d
    return hist


def the_best(xs):
    st = {"loss": 100.0, "step": 0}
    best = st
    for x in xs:
        st["loss"] = x
        st["step"] += 1
        if st["loss"] < best["loss"]:
            best = st
    return best


def inside_a_copy(xs):
    d = {"x": 0.0, "l": [0.0]}
    best = dict(d)
    for x in xs:
        d["l"][0] = d["x"]
        if x < 0:
            best = dict(d)
    return best


def after_a_turn(xs):
    d, last = {"x": 0.0}, {"x": 0.0}
    for x in xs:
        d["x"] += x
        last = d
    return last


SHARED = [
    (a_variable, "list", "'b' and as 'a'", "list(b)"),
    (an_item, "dict", "'d' and as 'hist[1]'", "dict(d)"),
    (the_best, "dict", "'st' and as 'best'", "dict(st)"),
    (inside_a_copy, "list", "\"d['l']\" and as 'best'", "list(d['l'])"),
    (after_a_turn, "dict", "'d' and as 'last'", "dict(d)"),
]


@pytest.mark.parametrize(("function", "kind", "names", "copy"), SHARED, ids=[row[0].__name__ for row in SHARED])
def test_a_container_whose_items_a_loop_sets_has_one_name_there(function, kind, names, copy):
    message = refused(function, XS)
    assert message.startswith(f"the Python {kind} whose items the loop at {__file__}:")
    assert f"is reached as {names}" in message
    assert f"Make a copy: {copy}" in message


def test_copies_are_different_containers():
    @td.function
    def f(xs):
        st = {"loss": td.constant(100.0), "step": 0}
        best = dict(st)
        for x in xs:
            st["loss"] = x
            st["step"] += 1
            if st["loss"] < best["loss"]:
                best = dict(st)
        return best

    assert int(f(td.constant([3.0, 1.0, 2.0]))["step"]) == 2


def test_two_names_are_free_to_read():
    @td.function
    def f(xs):
        a = [1.0, 2.0]
        b, total = a, 0.0
        for x in xs:
            total += a[0] * x + b[1]
            a = [a[0] + 1, a[1]]
        return total, a, b

    total, a, b = f(XS)
    assert float(total) == 9.0
    assert [float(v) for v in (*a, *b)] == [3.0, 2.0, 1.0, 2.0]


def test_a_branch_that_chooses_a_container_gives_a_new_one():
    @td.function
    def f(x):
        a, b = [1.0], [2.0]
        c = a if x > 0 else b
        if x > 0:
            c[0] += x
        return a, b, c

    assert [float(v[0]) for v in f(td.constant(3.0))] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("limit", [0.0, 2.0, 9.0])
def test_a_container_may_be_given_back_from_the_loop_that_sets_its_items(limit):
    def always(xs, limit):
        d = {"x": 0.0}
        for x in xs:
            d["x"] += x
            return d
        return d

    def sometimes(xs, limit):
        d = {"x": 0.0}
        for x in xs:
            d["x"] += x
            if d["x"] > limit:
                return d
        return d

    for function in (always, sometimes):
        traced = td.function(function, input_signature=[td.TensorSpec([None]), td.TensorSpec([])])
        assert float(traced(XS, td.constant(limit))["x"]) == float(function(XS, limit)["x"])


def test_an_item_of_what_an_attribute_holds_may_be_set_with_it():
    class Box:
        def __init__(self):
            self.rows = [0.0]

    @td.function
    def f(xs):
        box = Box()
        for x in xs:
            box.rows = [box.rows[0], x]
            box.rows[0] += x
            box.rows = [box.rows[0]]
        return box.rows

    assert float(f(XS)[0]) == 3.0


# ---------------------------------------------------------------------- lists


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_list_that_gets_shorter_where_its_items_are_set(x):
    def last(x):
        s = [1.0, 2.0, 3.0]
        if x > 0:
            s[-1] = x
            y = s.pop()
        else:
            y = x
        return y

    def first(x):
        s = [1.0, 2.0, 3.0]
        if x > 0:
            s[0] = x
            y = s.pop(0)
            s.append(4.0)
        else:
            y = x
        return y

    for function in (last, first):
        message = refused(function, td.constant(x))
        assert "sets items of the list 's', and moves or takes others" in message
        assert "Make a new list" in message


def test_a_list_is_as_before_after_a_refusal():
    s = [1.0, 2.0, 3.0]

    def f(x):
        if x > 0:
            s[0] = x
            del_one()
        return x

    def del_one():
        s.pop()

    refused(f, td.constant(1.0))
    assert s == [1.0, 2.0, 3.0]


def test_a_list_may_grow_where_its_items_are_set():
    @td.function
    def f(x):
        s = [1.0, 2.0]
        if x > 0:
            s[0] = x
        else:
            s.append(7.0)
        return s

    assert float(f(td.constant(5.0))[0]) == 5.0


def test_a_wrong_kind_of_key_is_pythons_error():
    def of_a_list(x):
        items = [1]
        if x > 0:
            items["a"] = x
        return items

    def of_a_dict(x):
        items = {}
        if x > 0:
            items[[]] = x
        return items

    assert "list indices must be integers or slices, not str" in refused(of_a_list, XS[0], kind=TypeError)
    assert "unhashable type: 'list'" in refused(of_a_dict, XS[0], kind=TypeError)


# ---------------------------------------------------------------------- classes


class Table:
    def __init__(self):
        self.rows = {"a": 0.0}

    def __getitem__(self, key):
        return self.rows[key]

    def __setitem__(self, key, value):
        self.rows[key] = value


@pytest.mark.parametrize("make", [Table, lambda: UserDict(a=0.0), lambda: ChainMap({"a": 0.0})], ids=["own", "UserDict", "ChainMap"])
def test_tensors_in_items_of_other_classes(make):
    def f(x):
        table = make()
        if x > 0:
            table["a"] = x
        return table["a"]

    message = refused(f, XS[0])
    assert message.startswith("table['a'] = ... changes 'table', an object of class")


def test_what_is_made_inside_and_python_values_are_free():
    @td.function
    def f(x):
        seen, y = UserDict(), x
        if x > 0:
            table = Table()
            table["a"] = x * 2
            y = table["a"]
            seen["branch"] = True
        return y, seen["branch"]

    y, seen = f(td.constant(2.0))
    assert (float(y), seen) == (4.0, True)


class Counting:
    def __init__(self):
        self.sets = 0
        self._v = 0.0

    @property
    def v(self):
        raise RuntimeError("not to be read")

    @v.setter
    def v(self, value):
        self.sets += 1
        self._v = value


def test_setters_run_as_often_as_they_are_written():
    one = Counting()

    @td.function
    def f(x):
        if x > 0:
            one.v = 1.0
        for _ in td.range(3):
            one.v = 2.0
        return x

    f(XS[0])
    assert (one.sets, one._v) == (2, 2.0)


def test_members_of_slots_are_variables():
    class Slotted:
        __slots__ = ("total",)

    @td.function
    def f(xs):
        s = Slotted()
        s.total = 0.0
        for x in xs:
            s.total += x
        return s.total

    assert float(f(XS)) == 3.0
