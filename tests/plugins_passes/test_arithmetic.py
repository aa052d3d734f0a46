"""The exact identities: each fires, leaves its near-miss alone, and changes no bit."""

from __future__ import annotations

import numpy as np
import pytest

from treadle_passes.arithmetic import RULES, Arithmetic

SPECIAL = np.array([0.0, -0.0, 1.5, -3.0, np.inf, -np.inf, np.nan, 1e-40], np.float32)
WHOLE = np.array([0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 12], np.int32)


def graph(line, dtype="float32", constant=None, dims="8"):
    const = f'%c = const(; value=array("{dtype}", (), [{constant}])) : {dtype}[]\n' if constant is not None else ""
    return f"graph f(x: {dtype}[{dims}], y: {dtype}[{dims}]) {{\n{const}{line}\nreturn %r\n}}"


FIRES = {
    "x * 1 -> x": graph("%r = multiply(%x, %c) : float32[8]", constant=1.0),
    "x / 1 -> x": graph("%r = divide(%x, %c) : float32[8]", constant=1.0),
    "x // 1 -> x, integers": graph("%r = floordiv(%x, %c) : int32[8]", "int32", 1),
    "x - 0 -> x": graph("%r = subtract(%x, %c) : float32[8]", constant=0.0),
    "x + -0.0 -> x": graph("%r = add(%c, %x) : float32[8]", constant=-0.0),
    "x + 0 -> x, integers": graph("%r = add(%x, %c) : int32[8]", "int32", 0),
    "x ** 1 -> x": graph("%r = pow(%x, %c) : float32[8]", constant=1.0),
    "-(-x) -> x": graph("%n = negative(%x) : float32[8]\n%r = negative(%n) : float32[8]"),
    "x + -y -> x - y, integers": graph("%n = negative(%y) : int32[8]\n%r = add(%n, %x) : int32[8]", "int32"),
    "x - -y -> x + y, integers": graph("%n = negative(%y) : int32[8]\n%r = subtract(%x, %n) : int32[8]", "int32"),
    "abs(abs(x)) -> abs(x)": graph("%n = abs(%x) : float32[8]\n%r = abs(%n) : float32[8]"),
    "abs(-x) -> abs(x)": graph("%n = negative(%x) : float32[8]\n%r = abs(%n) : float32[8]"),
    "square(-x) -> square(x), integers": graph("%n = negative(%x) : int32[8]\n%r = square(%n) : int32[8]", "int32"),
    "relu(relu(x)) -> relu(x)": graph("%n = relu(%x) : float32[8]\n%r = relu(%n) : float32[8]"),
    "not(not(x)) -> x": graph("%n = logical_not(%x) : bool[8]\n%r = logical_not(%n) : bool[8]", "bool"),
    "max(x, x) -> x": graph("%r = maximum(%x, %x) : float32[8]"),
    "min(x, x) -> x": graph("%r = minimum(%x, %x) : float32[8]"),
    "x and x -> x": graph("%r = logical_and(%x, %x) : bool[8]", "bool"),
    "x or x -> x": graph("%r = logical_or(%x, %x) : bool[8]", "bool"),
    "identity(x) -> x": graph("%r = identity(%x) : float32[8]"),
    "stop_gradient(x) -> x": graph("%r = stop_gradient(%x) : float32[8]"),
    "cast to own dtype": graph("%r = cast(%x; dtype=float32) : float32[8]"),
    "exact cast and back": graph("%n = cast(%x; dtype=float64) : float64[8]\n%r = cast(%n; dtype=float32) : float32[8]"),
    "transpose of transpose": graph(
        "%n = transpose(%x; perm=(1, 2, 0)) : float32[2, 2, 2]\n%r = transpose(%n; perm=(1, 0, 2)) : float32[2, 2, 2]", dims="2, 2, 2"
    ),
    "transpose to own order": graph("%r = transpose(%x; perm=(0, 1, 2)) : float32[2, 2, 2]", dims="2, 2, 2"),
    "reshape of reshape": """graph f(x: float32[8], y: float32[8]) {
        %a = const(; value=array("int32", (2,), [2, 4])) : int32[2]
        %b = const(; value=array("int32", (2,), [4, 2])) : int32[2]
        %n = reshape(%x, %a) : float32[2, 4]
        %r = reshape(%n, %b) : float32[4, 2]
        return %r
    }""",
    "reshape to own shape": """graph f(x: float32[8], y: float32[8]) {
        %a = const(; value=array("int32", (1,), [8])) : int32[1]
        %r = reshape(%x, %a) : float32[8]
        return %r
    }""",
    "broadcast to own shape": """graph f(x: float32[8], y: float32[8]) {
        %a = const(; value=array("int32", (1,), [8])) : int32[1]
        %r = broadcast_to(%x, %a) : float32[8]
        return %r
    }""",
    "sum to own shape": """graph f(x: float32[8], y: float32[8]) {
        %a = const(; value=array("int32", (1,), [8])) : int32[1]
        %r = sum_to_shape(%x, %a) : float32[8]
        return %r
    }""",
}


def inputs(text):
    head = text.splitlines()[0]
    values = WHOLE if "int32[" in head else WHOLE % 2 == 1 if "bool[" in head else SPECIAL
    x, y = values, values[::-1].copy()
    return (x.reshape(2, 2, 2), y.reshape(2, 2, 2)) if "2, 2, 2" in head else (x, y)


def test_every_rule_is_tested():
    assert {rule.name for rule in RULES} == set(FIRES)


@pytest.mark.parametrize("rule", FIRES)
def test_it_fires_and_keeps_every_bit(rewrite, rule):
    done = rewrite(Arithmetic(), FIRES[rule])
    assert done.changed
    assert rule in done.rules
    done.check(*inputs(FIRES[rule]))


NEAR = {
    "square(-x) has a NaN of another sign": graph("%n = negative(%x) : float32[8]\n%r = square(%n) : float32[8]"),
    "x + -y has a NaN of another sign": graph("%n = negative(%y) : float32[8]\n%r = add(%n, %x) : float32[8]"),
    "x + 0.0 turns -0.0 into 0.0": graph("%r = add(%x, %c) : float32[8]", constant=0.0),
    "x - -0.0 turns -0.0 into 0.0": graph("%r = subtract(%x, %c) : float32[8]", constant=-0.0),
    "x * 0 keeps NaN": graph("%r = multiply(%x, %c) : float32[8]", constant=0.0),
    "1 - x is no x - 1": graph("%r = subtract(%c, %x) : float32[8]", constant=0.0),
    "a complex x * 1 adds 0 * x": graph("%r = multiply(%x, %c) : complex64[8]", "complex64", constant=1.0),
    "a complex x / 1 divides both parts": graph("%r = divide(%x, %c) : complex64[8]", "complex64", constant=1.0),
    "a complex x ** 1 goes by the logarithm": graph("%r = pow(%x, %c) : complex64[8]", "complex64", constant=1.0),
    "1 / x": graph("%r = divide(%c, %x) : float32[8]", constant=1.0),
    "x // 1.0 rounds down": graph("%r = floordiv(%x, %c) : float32[8]", constant=1.0),
    "x - x is NaN for infinity": graph("%r = subtract(%x, %x) : float32[8]"),
    "x / x is NaN for zero": graph("%r = divide(%x, %x) : float32[8]"),
    "a cast that rounds": graph("%n = cast(%x; dtype=float16) : float16[8]\n%r = cast(%n; dtype=float32) : float32[8]"),
    "a cast that wraps": graph("%n = cast(%x; dtype=int8) : int8[8]\n%r = cast(%n; dtype=int32) : int32[8]", "int32"),
    "int32 through float32 rounds": graph("%n = cast(%x; dtype=float32) : float32[8]\n%r = cast(%n; dtype=int32) : int32[8]", "int32"),
    "log(exp(x)) overflows": graph("%n = exp(%x) : float32[8]\n%r = log(%n) : float32[8]"),
    "a larger neutral operand broadcasts": """graph f(x: float32[8], y: float32[8]) {
        %c = const(; value=array("float32", (2, 1), [1.0, 1.0])) : float32[2, 1]
        %r = multiply(%x, %c) : float32[2, 8]
        return %r
    }""",
    "an unknown size may be 1": """graph f(x: float32[n], y: float32[8]) {
        %a = const(; value=array("int32", (1,), [8])) : int32[1]
        %r = broadcast_to(%x, %a) : float32[8]
        return %r
    }""",
}


@pytest.mark.parametrize("why", NEAR)
def test_it_leaves_alone(rewrite, why):
    done = rewrite(Arithmetic(), NEAR[why])
    assert not done.changed, done.rules
