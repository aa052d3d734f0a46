"""Pruning: dead nodes go, effects stay."""

from __future__ import annotations

import numpy as np

from treadle_passes.prune import Prune


def test_dead_chains_go_in_one_sweep(rewrite):
    text = """graph f(x: float32[4]) {
        %c = const(; value=array("float32", (), [2.0])) : float32[]
        %a = exp(%x) : float32[4]
        %b = multiply(%a, %c) : float32[4]
        %r = negative(%x) : float32[4]
        return %r
    }"""
    done = rewrite(Prune(), text).check(np.zeros(4, np.float32))
    assert done.rules == {"dead": 3}
    assert [n.op.name for n in done.after.nodes] == ["placeholder", "negative"]


def test_a_dead_node_goes_though_it_could_fail(rewrite):
    text = "graph f(x: int32[4], y: int32[4]) {\n%a = floordiv(%x, %y) : int32[4]\nreturn %x\n}"
    assert rewrite(Prune(), text).changed


def test_effects_and_inputs_stay(rewrite):
    text = """graph f(v: float32&[2], x: float32[2], unused: int32[]) {
        %k = random_key(; seed=None) : uint64[2]
        %w = assign(%v, %x)
        return %x
    }"""
    assert not rewrite(Prune(), text).changed


def test_a_read_that_nobody_uses_goes(rewrite):
    assert rewrite(Prune(), "graph f(v: float32&[2]) {\n%a = read(%v) : float32[2]\nreturn\n}").changed


def test_one_live_output_of_several_keeps_the_node(rewrite):
    text = """graph f(x: float32[4]) {
        %n = const(; value=array("int32", (2,), [2, 2])) : int32[2]
        %s = split(%x, %n; axis=0) : float32[2], float32[2]
        return %s:1
    }"""
    assert not rewrite(Prune(), text).changed
