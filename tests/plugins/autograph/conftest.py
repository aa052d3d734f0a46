"""Ways to run a function whose control flow depends on its arguments; all must give what Python gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treadle as td

INT = td.TensorSpec([], td.int32)
FLOAT = td.TensorSpec([], td.float64)
KINDS = {
    "int": (st.integers(-7, 12), INT),
    "trips": (st.integers(0, 6), INT),
    "flag": (st.booleans(), td.TensorSpec([], td.bool)),
    "float": (st.sampled_from([-2.5, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0, 7.5]), FLOAT),
    "vector": (st.lists(st.integers(-5, 9), max_size=6), td.TensorSpec([None], td.int32)),
    "filled": (st.lists(st.integers(-5, 9), min_size=1, max_size=6), td.TensorSpec([None], td.int32)),
}
"""Kind of argument to what it may be and what a trace is told of it."""


def plain(result):
    """A result in Python's own values."""
    if isinstance(result, dict):
        return {key: plain(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [plain(item) for item in result]
    return result.numpy().tolist() if hasattr(result, "numpy") else result


def outcome(function, arguments):
    """What a call gives, or that it raises."""
    try:
        return plain(function(*arguments))
    except Exception as error:
        return f"raises {error!r}"


def same(got, want):
    """Equal in value; a failure is like every other."""
    if isinstance(want, str) and want.startswith("raises "):
        return isinstance(got, str) and got.startswith("raises ")
    return got == want


@pytest.fixture
def agree():
    """Run a function on Python values, converted on eager tensors, and traced for one size and for all."""

    def run(function, kinds, examples=12):
        converted = td.autograph.to_graph(function)
        ways = {
            "converted": converted,
            "traced": td.function(function),
            "traced for all sizes": td.function(function, input_signature=[KINDS[kind][1] for kind in kinds]),
        }

        worked = []

        @settings(max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
        @given(st.tuples(*(KINDS[kind][0] for kind in kinds)))
        def check(values):
            want = outcome(function, values)
            worked.append(not str(want).startswith("raises "))
            tensors = [td.constant(np.asarray(v, KINDS[kind][1].dtype.numpy)) for v, kind in zip(values, kinds, strict=True)]
            assert same(outcome(converted, values), want), "converted, on Python values"
            for way, f in ways.items():
                got = outcome(f, tensors)
                assert same(got, want), f"{way}: {got} instead of {want}"

        check()
        assert any(worked), "Python itself raises every time"

    return run
