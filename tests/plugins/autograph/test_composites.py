"""Attributes and items that a branch or loop sets are its variables; other changes of what was there before are refused."""

from __future__ import annotations

from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import treadle as td

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


class Box:
    def __init__(self, value=0):
        self.value = value
        self.counts = {"n": 0}
        self.rows = [1, 2]


@case("int")
def an_item_that_both_arms_make(x):
    d = {}
    if x > 0:
        d["b"] = 1
        d["a"] = x
    else:
        d["b"] = 3
        d["a"] = 4
    return d["a"], list(d)


@case("int")
def an_item_that_one_arm_sets(x):
    d = {"k": 5}
    if x > 0:
        d["k"] = x
    return d


@case("trips")
def an_item_that_counts(n):
    d = {"n": 0}
    for _ in td.range(n):
        d["n"] += 1
    return d["n"]


@case("trips")
def items_of_a_list(n):
    items = [0, 5]
    for i in td.range(n):
        items[0] += i
        if i > 1:
            items[-1] = i
    return items


@case("trips")
def keys_in_variables(n):
    d, k, last = {"n": 0}, "n", -1
    items = [0, 0]
    for i in td.range(n):
        d[k] += i
        items[last] = d[k]
    return d, items


@case("int")
def keys_of_all_kinds(x):
    d = {(1, 2): 0, -1: 3, None: 2, 2.5: 4, True: 1, b"b": 6}
    if x > 0:
        d[1, 2] = x
        d[-1] = x + 1
        d[None] -= x
        d[2.5] += x
        d[True] = 0
        d[b"b"] = 7
    return d[1, 2], d[-1], d[None], d[2.5], d[True], d[b"b"]


@case("trips")
def items_of_attributes_and_attributes_of_items(n):
    box, boxes = Box(), [Box(), Box(7)]
    for i in td.range(n):
        box.counts["n"] += i
        for j in td.range(i):
            box.counts["n"] += j
            box.rows[1] = box.rows[0] + j
        boxes[1].value += box.rows[1]
    return box.counts, box.rows, boxes[0].value, boxes[1].value


@case("trips")
def items_of_items(n):
    d = {"a": {"b": 1}, "c": [[0], 1]}
    while n > 0:
        d["a"]["b"] *= 2
        d["c"][0][0] += n
        n -= 1
    return d


@case("int")
def items_that_are_swapped(x):
    items = [1, 2, 3]
    rows = [[1], [2]]
    if x > 0:
        items[0], items[-1] = items[-1], items[0]
        rows[0], rows[1] = rows[1], rows[0]
    return items, rows


@case("trips")
def items_that_turn_round(n):
    items = [1, 2, 3]
    for _ in td.range(n):
        items[0], items[1], items[2] = items[1], items[2], items[0]
    return items


@case("trips")
def structures_in_items(n):
    d = {"s": (1, [2, 3]), "pair": (0, 1)}
    for i in td.range(n):
        d["s"] = (d["s"][0] + i, [d["s"][1][1], i])
        a, b = d["pair"]
        d["pair"] = b, a + b
    return d


@case("trips")
def two_names_of_one_container(n):
    d = {"k": 0}
    e, both = d, [d, d]
    for i in td.range(n):
        d["k"] += i
        e["k"] += 1
        both[1]["k"] += 1
    return d, e


@case("trips")
def a_container_that_is_given_back(n):
    d = {"k": 1}
    if n > 3:
        d["k"] = n
        return d
    d["k"] = 7
    return d


@case("trips")
def a_container_that_a_variable_takes(n):
    d, other = {"k": 1}, {"k": 3}
    items, pair = [1, 2], (0, 0)
    if n > 3:
        d["k"] = n
        other = d
    for i in td.range(n):
        items[0] += i
        pair = (items[0], items[1])
    return d, other, items, pair


@case("trips")
def a_container_made_inside(n):
    total = 0
    for i in td.range(n):
        d = {}
        d["a"] = i
        row = [0, 0]
        for k in range(2):
            row[k] = i * k
        row[k - 1] += 1
        row[1:] = [row[1]]
        row += [i]
        del d["a"]
        total += len(d) + row[0] + row[1] + row[2]
    return total


@case("int")
def a_container_made_inside_and_attached(x):
    box = Box()
    if x > 0:
        box.counts = {}
        box.counts["x"] = x
    else:
        box.counts = {}
        box.counts["x"] = 4
    return box.counts


@case("int")
def a_container_that_is_bound_anew(x):
    d = {"x": 0}
    if x > 1:
        d = {"x": 3}
        d["x"] += x
    return d


@case("trips")
def a_break_by_an_item(n):
    d = {"best": -1, "at": 0}
    for i in td.range(n):
        v = (i * 7) % 5
        if v > d["best"]:
            d["best"] = v
            d["at"] = i
            if v == 4:
                break
        else:
            continue
        d["at"] += 1
    return d


@case("trips")
def a_loop_while_an_item_is_small(n):
    d = {"n": 0}
    while d["n"] < n:
        d["n"] += 1
    return d


@case("int")
def a_python_loop_that_a_tensor_ends(x):
    d = {"c": 0}
    for k in [1, 2, 3, 4]:
        if k > x:
            break
        d["c"] += k * x
    else:
        d["c"] = -1
    return d


@case("trips")
def an_item_as_the_target_of_a_loop(n):
    items = [9]
    for items[0] in td.range(n):
        pass
    return items


@case("int")
def a_function_inside_sets_an_item(x):
    d = {"c": 0}

    def add(v):
        if v > 0:
            d["c"] += v

    add(x)
    add(-x)
    return d


@case("int")
def kinds_of_dicts(x):
    counts, ordered = defaultdict(int, a=1), OrderedDict(a=1)
    if x > 1:
        counts["a"] += x
        ordered["a"] = x
    return counts["a"], ordered["a"]


@case("int")
def an_arm_that_raises(x):
    d = {"k": 1}
    if x > 5:
        d["k"] = 2
        raise ValueError(d)
    if x > 2:
        d["k"] = 3
    return d


@case("trips")
def an_item_that_the_first_turn_makes(n):
    kept = {}
    for i in td.range(4):
        kept["n"] = kept.get("n", 0) + i
        if i == n:
            break
    else:
        kept["n"] = -1
    return kept


class Private:
    def __init__(self):
        self.__counts = {"k": 0}
        self.__total = 0

    def run(self, n):
        __k = "k"
        for i in td.range(n):
            self.__counts["k"] += i
            self.__counts[__k] += 1
            self.__total += 2
        return self.__counts["k"], self.__total


@case("trips")
def private_names(n):
    return Private().run(n)


KEPT = {"k": 0}


@case("trips")
def an_item_of_a_global(n):
    KEPT["k"] = 0
    if n > 1:
        KEPT["k"] = 5
    for _ in td.range(n):
        KEPT["k"] += 1
    return KEPT["k"]


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)


def test_gradients_flow_through_items():
    @td.function
    def f(x, n):
        d = {"y": x}
        for i in td.range(n):
            if i % 2 == 0:
                d["y"] = d["y"] * x
        return d["y"]

    x = td.constant(3.0)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = f(x, td.constant(3))
    assert (float(y), float(tape.gradient(y, x))) == (27.0, 27.0)


def test_a_container_from_outside_the_function_is_as_before_while_an_arm_is_traced():
    kept = {"k": 1}
    seen = []

    @td.function
    def f(x):
        if x > 0:
            kept["k"] = 2
        else:
            seen.append(kept["k"])
            kept["k"] = 3
        return kept["k"]

    assert [int(f(td.constant(v))) for v in (1, -1)] == [2, 3]
    assert seen == [1]


def test_variables_and_tensor_arrays_change_as_they_do():
    v = td.Variable([1, 2])

    @td.function
    def f(x):
        d = {"array": td.TensorArray(td.int32, 3)}
        for i in td.range(3):
            d["array"] = d["array"].write(i, x + i)
        if x > 0:
            v[0].assign(x)
        return d["array"].stack()

    assert f(td.constant(4)).numpy().tolist() == [4, 5, 6]
    assert v.numpy().tolist() == [4, 2]


# ---------------------------------------------------------------------- refusals


def refused(function, *arguments, kind=TypeError):
    with pytest.raises(kind) as caught:
        td.function(function)(*arguments)
    return str(caught.value)


def of_a_slice(x):
    items = [1, 2, 3]
    if x > 0:
        items[1:] = [x]
    return items


def of_a_deletion(x):
    items = {"a": 1}
    if x > 0:
        del items["a"]
    return len(items)


def of_a_computed_key(x):
    items = [1, 2, 3]
    k = 1
    if x > 0:
        items[k + 1] = x
    return items


def of_a_key_set_inside(x):
    items = [1, 2, 3]
    if x > 0:
        for k in range(3):
            items[k] = x
    return items


def of_another_name(x):
    items = {"k": 1}
    if x > 1:
        other = items
        other["k"] = 2
    return items


def of_a_container_set_inside(x):
    items = [1, 2]
    if x > 1:
        items = [3, 4]
    else:
        items[0] = 2
    return items


def of_what_only_the_inner_branch_leaves_alone(x):
    items = [1, 2]
    if x > 0:
        other = items
        if x > 1:
            other[0] = x
    return items


REFUSED = [
    (of_a_slice, "items[1:] = ... changes 'items', a Python list"),
    (of_a_deletion, "del items['a'] changes 'items', a Python dict"),
    (of_a_computed_key, "items[k + 1] = ... changes 'items', a Python list"),
    (of_a_key_set_inside, "items[k] = ... changes 'items', a Python list"),
    (of_another_name, "other['k'] = ... changes 'other', a Python dict"),
    (of_a_container_set_inside, "items[0] = ... changes 'items', a Python list"),
    (of_what_only_the_inner_branch_leaves_alone, "other[0] = ... changes 'other', a Python list"),
]


@pytest.mark.parametrize(("function", "start"), REFUSED, ids=[function.__name__ for function, _ in REFUSED])
def test_changes_that_would_happen_once(function, start):
    message = refused(function, td.constant(2))
    assert message.startswith(f"{start} from outside the branch or loop at {__file__}:")
    assert "would happen once, while tracing" in message
    assert "td.TensorArray" in message


def test_a_key_that_is_a_tensor():
    def f(n):
        items = [1, 2, 3]
        for i in td.range(n):
            items[i] = i
        return items

    message = refused(f, td.constant(2))
    assert "items[i] = ... changes 'items', a Python list" in message
    assert "by a key that is a tensor of shape () and dtype int32" in message


def test_items_of_an_array():
    def f(x):
        a = np.zeros(3)
        if x > 1:
            a[0] = 4
        return a[0]

    message = refused(f, td.constant(2))
    assert "a[0] = ... changes 'a', a NumPy array" in message
    assert "td.where" in message


def test_attributes_of_objects_that_a_loop_takes():
    def f(x):
        boxes = [Box(), Box()]
        if x > 1:
            for box in boxes:
                box.value = x
        return boxes[0].value

    message = refused(f, td.constant(2))
    assert "box.value = ... changes 'box', an object of class Box from outside the branch or loop at" in message


def test_an_attribute_that_is_deleted():
    def f(x):
        box = Box()
        if x > 1:
            del box.value
        return box

    assert "del box.value changes 'box'" in refused(f, td.constant(2))


def test_an_item_that_one_way_leaves_undefined():
    def f(x):
        d = {}
        if x > 0:
            d["k"] = x
        return d["k"]

    message = refused(f, td.constant(1))
    assert "d['k']" in message
    assert "undefined if not" in message


def test_an_item_that_was_not_there_before_a_loop():
    def f(n):
        d = {}
        for i in td.range(n):
            d["k"] = i
        return d

    assert "\"d['k']\" is undefined before the loop at" in refused(f, td.constant(3))


def test_an_item_whose_dtype_changes():
    def branch(x):
        d = {"k": td.constant(1)}
        if x > 1:
            d["k"] = 2.5
        return d

    def loop(n):
        d = {"k": td.constant(1)}
        for _ in td.range(n):
            d["k"] = td.cast(d["k"], td.float32)
        return d

    for function in (branch, loop):
        message = refused(function, td.constant(2))
        assert "d['k']" in message
        assert "float32" in message


def test_a_list_that_is_too_short():
    def f(x):
        items = []
        if x > 1:
            items[0] = x
        return items

    refused(f, td.constant(1), kind=IndexError)


def test_a_list_that_grows_in_place():
    def branch(x):
        items = [1]
        if x > 0:
            items += [x]
        return items

    def attribute(n):
        box = Box()
        for i in td.range(n):
            box.rows += [i]
        return box.rows

    def rows(n):
        items = [1]
        if n > 0:
            items += td.range(n)
        return items

    for function, name in ((branch, "items"), (attribute, "box.rows"), (rows, "items")):
        assert f"{name} += ... puts a tensor into '{name}', a Python list" in refused(function, td.constant(2))


def test_a_global_container():
    def f(x):
        if x > 1:
            for k in ("k",):
                KEPT[k] = x
        return KEPT

    before = KEPT["k"]
    assert "KEPT[k] = ... changes 'KEPT'" in refused(f, td.constant(2))
    assert KEPT["k"] == before
