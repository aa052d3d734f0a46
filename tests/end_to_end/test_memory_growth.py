"""Long runs leave nothing behind: traces of functions that are thrown away, and calls."""

from __future__ import annotations

import gc
import resource

import numpy as np

import treadle as td

PAGE = 1024
"""Bytes of a unit of ``ru_maxrss``."""


def throw_away(count):
    """Trace and differentiate so many functions, each with a Variable of its own, and let them go."""
    x = td.constant([1.0, 2.0])
    for i in range(count):
        v = td.Variable(float(i))
        f = td.function(lambda x, v=v: td.reduce_sum(x * v), autograph=False)
        f(x)
        if i % 10 == 0:
            with td.GradientTape() as tape:
                y = f(x)
            tape.gradient(y, v)


def alive():
    """Python objects besides the log of traces, which is bounded, and the highest use of memory so far in bytes."""
    gc.collect()
    return len(gc.get_objects()) - len(td.debug.trace_log()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PAGE


def test_ten_thousand_traces_leave_nothing():
    throw_away(300)
    objects, memory = alive()
    throw_away(10_000)
    more, most = alive()
    assert more - objects < 500
    assert most - memory < 30e6  # what gc lets stand before it collects


def test_a_hundred_thousand_calls_leave_nothing():
    f = td.function(lambda d, k: d["x"] * 2.0 + d["y"])
    d = {"x": td.constant(np.ones(8, np.float32)), "y": td.constant(np.ones(8, np.float32))}

    def call(count):
        for _ in range(count):
            f(d, 3)
            td.add(d["x"], d["y"])

    call(2000)
    objects, memory = alive()
    call(100_000)
    more, most = alive()
    assert more - objects < 100
    assert most - memory < 5e6
