"""How long tracing and optimising take, and how they grow with the graph."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from measure import Row
from workloads import chain

import treadle as td
from treadle import devices, plugins
from treadle.contracts.spec import Spec
from treadle.graph.graph import Graph
from treadle.grappler.item import GrapplerItem
from treadle.grappler.meta import MetaOptimizer
from treadle.grappler.schedule import in_force
from treadle.registry import registry


def first_call() -> Row:
    """The 300-op function: trace, optimise, compile and run for the first time, in a warm process."""
    x = td.constant(np.zeros(64, np.float32))
    chain()(x)
    taken = []
    for _ in range(7):
        f = chain()
        start = time.perf_counter()
        f(x)
        taken.append((time.perf_counter() - start) * 1e3)
    taken.sort()
    return Row("first trace and optimise, 300 ops", taken[3], 60.0, "ms", f"{taken[0]:.1f} to {taken[-1]:.1f} ms")


def large_graph(nodes: int) -> Graph:
    """A graph of so many nodes with work for every pass: chains, common parts, constants and dead ends."""
    plugins.host.load_ops()
    graph = Graph("large")
    spec = Spec((16,), td.float32)
    value: Any = graph.placeholder(spec, "x")
    start = value
    add, multiply, negative = (registry.op(n) for n in ("add", "multiply", "negative"))
    one = graph.constant(np.float32(1))
    half = graph.constant(np.float32(0.5))
    while len(graph) < nodes:
        kept = graph.apply(add, value, half)
        graph.apply(multiply, kept, kept)
        same = graph.apply(add, value, half)
        once = graph.apply(multiply, same, one)
        twice = graph.apply(negative, graph.apply(negative, once))
        folded = graph.apply(multiply, half, half)
        value = graph.apply(add, graph.apply(multiply, kept, twice), folded)
    graph.outputs = [value, start]
    return graph


def optimise(nodes: int) -> float:
    """Seconds of the default schedule on a large graph."""
    graph = large_graph(nodes)
    item = GrapplerItem("large", graph, devices.default(), again=lambda: large_graph(nodes))
    optimizer = MetaOptimizer(in_force())
    start = time.perf_counter()
    reports = optimizer.optimize(item)
    taken = time.perf_counter() - start
    assert {r.name for r in reports if r.changed} >= {"constant-folding", "arithmetic", "common-subexpression", "prune"}, reports
    assert len(item.graph) < nodes / 2
    return taken


def schedule() -> list[Row]:
    """Ten and a hundred thousand nodes."""
    optimise(1000)
    pairs = [(optimise(10_000), optimise(100_000)) for _ in range(5)]
    small, large = (min(column) for column in zip(*pairs, strict=True))
    return [
        Row("default schedule, 10,000 nodes", small, 2.0, "s", ""),
        Row("the same, 100,000 nodes, against 10,000", large / small, 12.0, "x", f"{large:.2f} s"),
    ]
