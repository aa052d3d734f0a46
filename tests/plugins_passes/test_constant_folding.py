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
