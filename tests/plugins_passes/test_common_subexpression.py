"""Common subexpressions: equal nodes merge, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from treadle_passes.common_subexpression import CommonSubexpression


def pair(a, b, spec="float32[2, 2]", head="x: float32[2, 2]"):
    return f"graph f({head}) {{\n%a = {a} : {spec}\n%b = {b} : {spec}\nreturn %a, %b\n}}"


def test_equal_nodes_merge_in_chains(rewrite):
    text = """graph f(x: float32[4]) {
        %a = exp(%x) : float32[4]
        %b = exp(%x) : float32[4]
        %c = negative(%a) : float32[4]
        %d = negative(%b) : float32[4]
        %r = add(%c, %d) : float32[4]
        return %r
    }"""
    done = rewrite(CommonSubexpression(), text).check(np.array([1, 2, np.nan, -0.0], np.float32))
    assert done.ops == ["exp", "negative", "add"]
    assert done.rules == {"merge": 2}


@pytest.mark.parametrize(
    ("a", "b", "spec"),
    [
        ("reduce_sum(%x; axis=(0,), keepdims=False)", "reduce_sum(%x; axis=(1,), keepdims=False)", "float32[2]"),
        ("cast(%x; dtype=int32)", "cast(%x; dtype=float32)", None),
        ("random_key(; seed=None)", "random_key(; seed=None)", "uint64[2]"),
        ('const(; value=array("float32", (), [0.0]))', 'const(; value=array("float32", (), [-0.0]))', "float32[]"),
        ('const(; value=array("float32", (), [1.0]))', 'const(; value=array("int32", (), [1]))', None),
        ('const(; value=array("float32", (1,), [1.0]))', 'const(; value=array("float32", (1, 1), [1.0]))', None),
        ("subtract(%x, %y)", "subtract(%y, %x)", "float32[2, 2]"),
    ],
)
def test_nodes_that_differ_stay_apart(rewrite, a, b, spec):
    specs = (spec, spec) if spec else (_spec(a), _spec(b))
    text = f"graph f(x: float32[2, 2], y: float32[2, 2]) {{\n%a = {a} : {specs[0]}\n%b = {b} : {specs[1]}\nreturn %a, %b\n}}"
    assert not rewrite(CommonSubexpression(), text).changed


def _spec(call):
    if "dtype=int32" in call:
        return "int32[2, 2]"
    if call.startswith("cast"):
        return "float32[2, 2]"
    dtype = "int32" if '"int32"' in call else "float32"
    dims = "1, 1" if "(1, 1)" in call else "1" if "(1,)" in call else ""
    return f"{dtype}[{dims}]"


def test_equal_constants_merge_even_when_they_are_nan(rewrite):
    text = pair('const(; value=array("float32", (), [nan]))', 'const(; value=array("float32", (), [nan]))', "float32[]")
    assert rewrite(CommonSubexpression(), text).changed


def test_reads_merge_until_something_is_assigned(rewrite):
    text = """graph f(v: float32&[2], x: float32[2]) {
        %a = read(%v) : float32[2]
        %b = read(%v) : float32[2]
        %w = assign(%v, %x)
        %c = read(%v) : float32[2]
        return %a, %b, %c
    }"""
    done = rewrite(CommonSubexpression(), text)
    assert done.rules == {"merge": 1}
