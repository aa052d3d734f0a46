"""Constant folding: what it folds, what it must not, and that it folds to the kernel's own bits."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle_passes.constant_folding import ConstantFolding

CHAIN = """graph f(x: float32[3]) {
    %a = const(; value=array("float32", (3,), [1.0, nan, -0.0])) : float32[3]
    %b = const(; value=array("float32", (), [3.0])) : float32[]
    %c = multiply(%a, %b) : float32[3]
    %d = exp(%c) : float32[3]
    %r = add(%d, %x) : float32[3]
    return %r
}"""


def test_a_chain_of_constants_is_one(rewrite):
    done = rewrite(ConstantFolding(), CHAIN).check(np.array([1, 2, np.inf], np.float32))
    assert done.ops == ["add"]
    assert done.rules == {"fold": 2}


def test_what_reads_an_input_stays(rewrite):
    assert not rewrite(ConstantFolding(), "graph f(x: float32[3]) {\n%r = exp(%x) : float32[3]\nreturn %r\n}").changed


def test_large_results_stay_computed(rewrite):
    text = """graph f() {
        %s = const(; value=array("int32", (2,), [1000, 1000])) : int32[2]
        %r = ones(%s; dtype=float32) : float32[1000, 1000]
        return %r
    }"""
    assert not rewrite(ConstantFolding(), text).changed
    assert rewrite(ConstantFolding(max_bytes=8_000_000), text).changed


def test_what_fails_is_left_to_fail_when_it_runs(rewrite):
    text = """graph f() {
        %a = const(; value=array("int32", (), [1])) : int32[]
        %b = const(; value=array("int32", (), [0])) : int32[]
        %r = floordiv(%a, %b) : int32[]
        return %r
    }"""
    assert not rewrite(ConstantFolding(), text).changed


def test_random_draws_are_not_folded(rewrite):
    assert not rewrite(ConstantFolding(), "graph f() {\n%r = random_key(; seed=None) : uint64[2]\nreturn %r\n}").changed


def test_shape_arithmetic_of_known_sizes_is_folded(rewrite):
    text = "graph f(x: float32[3, n]) {\n%s = shape(%x; out_type=int32) : int32[2]\nreturn %s\n}"
    assert not rewrite(ConstantFolding(), text).changed
    assert rewrite(ConstantFolding(), text.replace("n]", "4]")).changed


def test_a_dead_node_is_not_worth_folding(rewrite):
    text = """graph f(x: float32[3]) {
        %a = const(; value=array("float32", (3,), [1.0, 2.0, 3.0])) : float32[3]
        %b = exp(%a) : float32[3]
        return %x
    }"""
    assert not rewrite(ConstantFolding(), text).changed


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3.4e38])
@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt", "math.log", "negative", "square", "sigmoid", "nn.relu"])
def test_folded_bits_are_the_eager_ones(name, value):
    function = td
    for part in name.split("."):
        function = getattr(function, part)
    x = td.constant(np.float32(value))
    folded = td.function(lambda: function(x))()
    traced = td.function(function)(x)
    assert folded.numpy().tobytes() == function(x).numpy().tobytes() == traced.numpy().tobytes()


# ---------------------------------------------------------------------- branches on constants


def ops_of(function, *specs):
    graph = function.get_concrete_function(*specs).optimized_graph
    return [node.op.name for node in graph.nodes if node.op.name not in ("const", "placeholder")]


def test_a_branch_whose_predicate_inlining_makes_known_gives_way_to_its_arm():
    inner = td.function(lambda x, flag: td.cond(flag, lambda: td.cast(x, "float32"), lambda: x * 0.5))
    spec = td.TensorSpec([2], "float32")
    assert ops_of(td.function(lambda x: inner(x, td.constant(True))), spec) == []
    assert ops_of(td.function(lambda x: inner(x, td.constant(False))), spec) == ["multiply"]
    assert "cond" in ops_of(inner, spec, td.TensorSpec([], "bool"))


def test_effects_of_the_arm_that_is_taken_stay_in_order_and_those_of_the_other_go():
    v = td.Variable(1.0)

    @td.function
    def f(x):
        td.cond(td.constant(True), lambda: v.assign(v * 10.0), lambda: v.assign(v * 0.0))
        read = v + 0.0
        td.cond(td.constant(False), lambda: v.assign(v * 0.0), lambda: v.assign(v + x))
        return read

    for want in ((10.0, 12.0), (120.0, 122.0)):
        assert (float(f(td.constant(2.0))), float(v)) == want
    assert not [name for name in ops_of(f, td.TensorSpec([], "float32")) if name.startswith("cond")]


def test_nested_branches_and_gradients_through_them_are_right():
    @td.function
    def f(x):
        return td.cond(td.constant(True), lambda: td.cond(x > 0.0, lambda: x * x, lambda: -x), lambda: x * 100.0)

    for value, want in ((3.0, (9.0, 6.0)), (-3.0, (3.0, -1.0))):
        x = td.constant(value)
        with td.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert (float(y), float(tape.gradient(y, x))) == want
