"""Lists and dicts among the arguments of traced functions: one in several places, and changes to them."""

from __future__ import annotations

import collections
from typing import NamedTuple

import pytest

from treadle.functions.argument_aliases import aliases, with_aliases


def test_one_list_in_two_places_is_another_signature_and_one_list_inside(tf, toy):
    traced = []

    @tf.function
    def f(a, b):
        traced.append((a is b, len(a)))
        return toy.add(a[0], b[0])

    x, y = tf.constant(1.0), tf.constant(2.0)
    one, other = [x], [y]
    for _ in range(3):
        assert [float(f(one, other)), float(f(one, one)), float(f(other, other)), float(f(other, one))] == [3, 2, 4, 3]
    assert traced == [(False, 1), (True, 1)]
    assert "one list or dict is given in other places" in f.explain()


def test_aliases_are_kept_at_any_depth(tf, toy):
    @tf.function
    def f(d, rest):
        return tf.constant(1 if d["x"] is rest[0]["y"] and d is rest[1] else 0)

    inner = {"k": tf.constant(1.0)}
    outer = {"x": inner, "z": 3}
    assert int(f(outer, ({"y": inner}, outer))) == 1
    assert int(f(outer, ({"y": dict(inner)}, outer))) == 0


def without_aliases(structure):
    """An equal structure in which every list and dict is one of its own."""
    if isinstance(structure, dict):
        return {key: without_aliases(value) for key, value in structure.items()}
    return type(structure)(map(without_aliases, structure)) if isinstance(structure, list | tuple) else structure


def test_structures_with_aliases_come_back_as_they_were():
    a, b = [1], {"k": [2]}
    for structure in ([(a, 5), (a, 6), ((a,), [b, (b,)])], {"x": (a,), "y": [a, b["k"], b]}, ((a, True), (a, False), ([a], a))):
        pairs = aliases(structure)
        assert pairs
        apart = without_aliases(structure)
        assert not aliases(apart)
        assert with_aliases(apart, pairs) == structure
        assert aliases(with_aliases(without_aliases(structure), pairs)) == pairs


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda d: d.update(n=d["n"] + 1), "dict of 2"),
        (lambda d: d["items"].append(1), "list of 1"),
        (lambda d: d["items"].clear(), "list of 1"),
        (lambda d: d.pop("n"), "dict of 2"),
    ],
)
def test_a_function_that_changes_an_argument_is_refused_instead_of_forgetting_it(tf, change, kind):
    @tf.function
    def f(d):
        change(d)
        return tf.constant(1)

    given = {"n": 1, "items": [tf.constant(1.0)]}
    with pytest.raises(ValueError, match=f"'f' should not modify its Python input arguments: a {kind} that it was given is changed"):
        f(given)
    assert (given["n"], len(given["items"])) == (1, 1)


def test_copies_of_arguments_may_be_changed(tf, toy):
    @tf.function
    def f(d):
        d = {**d, "n": 5}
        items = list(d["items"])
        items.append(d["n"])
        return toy.mul(items[0], float(items[-1]))

    assert float(f({"n": 1, "items": [tf.constant(2.0)]})) == 10.0


@pytest.mark.parametrize("by_keyword", [False, True])
def test_the_order_of_a_dicts_keys_does_not_matter(tf, toy, by_keyword):
    def parts(d):
        return d["a"][0], d["b"][0], d["c"][0]

    f = tf.function(lambda **d: parts(d)) if by_keyword else tf.function(parts)
    one, other = [tf.constant(1.0)], [tf.constant(5.0)]
    for d in ({"a": one, "b": other, "c": one}, {"b": one, "a": other, "c": one}, {"c": other, "b": other, "a": one}, {"b": one, "c": one, "a": one}):
        assert [float(x) for x in (f(**d) if by_keyword else f(d))] == [float(x) for x in parts(d)]


def test_lists_in_any_nested_structure_are_seen(tf, toy):
    class Pair(NamedTuple):
        a: list
        b: list

    f = tf.function(lambda p: tf.constant(int(p.a is p.b)))
    one = [tf.constant(1.0)]
    assert [int(f(Pair(one, list(one)))), int(f(Pair(one, one)))] == [0, 1]
    g = tf.function(lambda d: tf.constant(int(d["a"] is d["b"])))
    for kind in (collections.OrderedDict, lambda d: collections.defaultdict(list, d)):
        assert [int(g(kind({"a": one, "b": list(one)}))), int(g(kind({"a": one, "b": one})))] == [0, 1]
    h = tf.function(lambda p: p.a.append(tf.constant(1.0)))
    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        h(Pair([tf.constant(1.0)], 1))
