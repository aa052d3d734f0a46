"""Attributes and items that a branch or loop makes, whose values may outlive the graph: they are made once, while tracing."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

ANY = [td.TensorSpec([None])]
XS = [1.0, 2.0]


class Helper:
    def __init__(self, factor=3):
        self.factor = factor


class Model:
    def __init__(self):
        self.lookup = {}

    def an_object(self, xs):
        total = 0.0
        for x in xs:
            self.helper = Helper()
            total += x * self.helper.factor
        return total

    def a_function(self, xs):
        total = 0.0
        for x in xs:
            self.double = lambda v: v * 2
            total += self.double(x)
        return total

    def a_text_and_sizes(self, xs):
        total = 0.0
        for x in xs:
            self.mode = "loop"
            self.dims = tuple(xs.shape)
            total += x
        return total

    def keys_that_a_loop_takes(self, xs):
        total = 0
        for x in xs:
            for name in ("a", "b"):
                self.lookup[name] = 1
                self.lookup[name + "'"] = Helper()
            total += x
        return total

    def constants(self, xs):
        total = 0
        for x in xs:
            for name in ("a", "b"):
                if name not in self.lookup:
                    self.lookup[name] = td.constant(2.0)
            total += x * self.lookup["b"]
        return total

    def a_list(self, xs):
        for x in xs:
            self.rows = []
            self.rows.append(3)
            for _ in xs:
                self.lookup["rows"] = [x.dtype]
        return xs

    def what_inner_loops_make(self, xs):
        total = 0
        for x in xs:
            for y in xs:
                self.lookup["f"] = lambda v: v * 2
                self.lookup["w"] = td.constant(3.0)
                total += self.lookup["f"](x) * y * self.lookup["w"]
        return total

    def what_a_branch_makes(self, xs):
        total = 0
        for x in xs:
            if x > 0:
                self.lookup["helper"] = Helper()
                self.lookup["weight"] = td.constant([2.0])
            total += x * self.lookup["weight"][0]
        return total


WAYS = [value for name, value in vars(Model).items() if not name.startswith("__")]


@pytest.mark.parametrize("signature", [ANY, None], ids=["any size", "one size"])
@pytest.mark.parametrize("method", WAYS, ids=[way.__name__ for way in WAYS])
def test_a_loop_makes_what_does_not_depend_on_tensors(method, signature):
    eager, traced = Model(), Model()
    want = method(eager, td.constant(XS))
    run = td.function(lambda xs: method(traced, xs), input_signature=signature)
    np.testing.assert_array_equal(run(td.constant(XS)), want)
    np.testing.assert_array_equal(run(td.constant(XS)), want)
    assert traced.lookup.keys() == eager.lookup.keys()
    assert vars(traced).keys() == vars(eager).keys()
    assert [type(value) for value in traced.lookup.values()] == [type(value) for value in eager.lookup.values()]


def test_a_cache_is_filled_with_a_tensor_that_another_trace_can_use():
    cache, key = {}, "w"

    def scale(x):
        if key not in cache:
            cache[key] = td.constant(2.0)
        return x * cache[key]

    @td.function
    def branch(x):
        if x > 0:
            if key not in cache:
                cache[key] = td.constant(2.0)
            x = x * cache[key]
        return x

    @td.function(input_signature=ANY)
    def loop(xs):
        total = 0.0
        for x in xs:
            total += scale(x)
            if key not in cache:
                cache[key] = td.constant(2.0)
        return total

    assert float(branch(td.constant(3.0))) == 6.0
    assert cache[key].numpy() == 2.0
    assert float(branch(td.constant([3.0])[0])) == 6.0
    assert float(branch(td.constant(-3.0))) == -3.0
    assert float(loop(td.constant(XS))) == 6.0


def test_a_number_that_stays_what_it_is_stays_pythons():
    d = {"n": 1}

    @td.function
    def f(xs):
        total = 0.0
        for x in xs:
            d["n"] = 1
            total += x
        return total

    for size in (2, 3):
        f(td.ones([size]))
        assert d["n"] == 1
        assert type(d["n"]) is int


def refused(function, *arguments):
    with pytest.raises(TypeError) as caught:
        td.function(function, input_signature=ANY)(*arguments)
    return str(caught.value)


def test_what_turns_count_or_compute_is_refused():
    def count(xs):
        d = {}
        for _ in xs:
            d["n"] = d.get("n", 0) + 1
        return d

    def tensor(xs):
        d = {}
        for x in xs:
            d["n"] = x
        return d

    def function(xs):
        d = {}
        for x in xs:
            d["n"] = lambda x=x: x
        return d

    def thing(xs):
        d = {}
        for x in xs:
            d["n"] = Helper([x + 1])
        return d

    for refusable in (count, tensor, function, thing):
        assert "\"d['n']\" is undefined before the loop at" in refused(refusable, td.constant(XS))


def test_an_object_that_a_turn_makes_and_an_inner_branch_or_loop_replaces_is_refused():
    def branch(xs):
        d = {}
        for x in xs:
            d["h"] = Helper(1)
            if x > 0:
                d["h"] = Helper(2)
        return xs

    def loop(xs):
        d = {}
        for _ in xs:
            d["h"] = Helper(1)
            for _ in xs:
                d["h"] = Helper(2)
        return xs

    for refusable in (branch, loop):
        assert "\"d['h']\" is a Helper" in refused(refusable, td.constant(XS))


def test_a_key_that_a_loop_takes_is_refused_for_tensors_and_for_what_is_there():
    def tensors(xs):
        d = {}
        for x in xs:
            for name in ("a", "b"):
                d[name] = x
        return d

    def numbers(xs):
        d = {"a": 0, "b": 0}
        for x in xs:
            for name in ("a", "b"):
                d[name] = 1
        return d

    for refusable in (tensors, numbers):
        assert "d[name] = ... changes 'd', a Python dict from outside" in refused(refusable, td.constant(XS))
