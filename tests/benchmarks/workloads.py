"""The workloads: each in treadle and by hand in NumPy, on the same numbers, with results that are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import treadle as td


class Workload(NamedTuple):
    """One thing done two ways.

    Attributes:
        name: what it is.
        ours: in treadle.
        theirs: in NumPy by hand.
        results: gives the results of both, to compare.
        limit: of the ratio.
        calls: a round.
    """

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    results: Callable[[], tuple[list[Any], list[Any]]]
    limit: float
    calls: int


def arrays_of(tensors: Any) -> list[Any]:
    """Tensors as arrays."""
    return [np.asarray(t) for t in td.nest.flatten(tensors)]


def eager_add() -> Workload:
    """``td.add`` of two (4,) float32."""
    x = np.array([1, 2, 3, 4], np.float32)
    t = td.constant(x)
    return Workload("eager td.add, (4,)", lambda: td.add(t, t), lambda: np.add(x, x), lambda: (arrays_of(td.add(t, t)), [np.add(x, x)]), 3.0, 20_000)


class Mlp:
    """Weights and a batch for (32, 784) -> 128 relu -> 10."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((32, 784)).astype(np.float32)
        self.y = rng.integers(0, 10, 32)
        shapes = ((784, 128), (128,), (128, 10), (10,))
        self.p = [(rng.standard_normal(s) * 0.05).astype(np.float32) for s in shapes]
        self.tx, self.ty = td.constant(self.x), td.constant(self.y)
        self.v = [td.Variable(p) for p in self.p]
        self.rows = np.arange(32)

    def logits(self, x: Any) -> Any:
        """In treadle."""
        w1, b1, w2, b2 = self.v
        return td.nn.relu(x @ w1 + b1) @ w2 + b2

    def loss(self, x: Any, y: Any) -> Any:
        """In treadle."""
        return td.reduce_mean(td.nn.sparse_softmax_cross_entropy_with_logits(y, self.logits(x)))

    def gradients(self) -> Any:
        """In treadle."""
        with td.GradientTape() as tape:
            loss = self.loss(self.tx, self.ty)
        return [loss, *tape.gradient(loss, self.v)]

    def forward_by_hand(self) -> Any:
        """Softmax of the logits, in NumPy."""
        w1, b1, w2, b2 = self.p
        h = np.maximum(self.x @ w1 + b1, 0)
        z = h @ w2 + b2
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def gradients_by_hand(self) -> list[Any]:
        """Loss and the four gradients, in NumPy."""
        w1, b1, w2, b2 = self.p
        a = self.x @ w1 + b1
        h = np.maximum(a, 0)
        z = h @ w2 + b2
        z = z - z.max(axis=1, keepdims=True)
        e = np.exp(z)
        s = e.sum(axis=1, keepdims=True)
        loss = (np.log(s[:, 0]) - z[self.rows, self.y]).mean()
        d = e / s
        d[self.rows, self.y] -= 1
        d /= np.float32(32)
        dh = d @ w2.T
        da = dh * (a > 0)
        return [loss, self.x.T @ da, da.sum(axis=0), h.T @ d, d.sum(axis=0)]

    def step_by_hand(self, rate: Any) -> Any:
        """A training step as one would write it for speed: in place wherever that is possible."""
        w1, b1, w2, b2 = self.p
        a = self.x @ w1
        a += b1
        h = np.maximum(a, 0)
        z = h @ w2
        z += b2
        z -= z.max(axis=1, keepdims=True)
        picked = z[self.rows, self.y]
        e = np.exp(z, out=z)
        s = e.sum(axis=1, keepdims=True)
        loss = (np.log(s[:, 0]) - picked).mean()
        e /= s
        e[self.rows, self.y] -= 1
        e *= np.float32(1 / 32)
        dw2, db2 = h.T @ e, e.sum(axis=0)
        dh = e @ w2.T
        dh *= a > 0
        dw1, db1 = self.x.T @ dh, dh.sum(axis=0)
        for p, g in zip(self.p, (dw1, db1, dw2, db2), strict=True):
            g *= rate
            p -= g
        return loss


def eager_forward() -> Workload:
    """The MLP's forward pass."""
    m = Mlp()
    return Workload(
        "eager MLP forward",
        lambda: td.nn.softmax(m.logits(m.tx)),
        m.forward_by_hand,
        lambda: (arrays_of(td.nn.softmax(m.logits(m.tx))), [m.forward_by_hand()]),
        1.3,
        500,
    )


def eager_gradients() -> Workload:
    """The MLP's loss and the gradients of its four parameters."""
    m = Mlp()
    return Workload(
        "eager MLP loss and gradients", m.gradients, m.gradients_by_hand, lambda: (arrays_of(m.gradients()), m.gradients_by_hand()), 2.0, 300
    )


def traced_call() -> Workload:
    """``x * 2 + 3`` on (4,), against one ``np.add``."""
    x = np.array([1, 2, 3, 4], np.float32)
    t = td.constant(x)
    f = td.function(lambda x: x * 2 + 3)
    return Workload("traced call of x*2+3, (4,)", lambda: f(t), lambda: np.add(x, x), lambda: (arrays_of(f(t)), [x * 2 + 3]), 4.5, 20_000)


def chain() -> Any:
    """The 300-op function."""

    @td.function
    def f(x: Any) -> Any:
        for _ in range(100):
            x = td.tanh(x * 1.01 + 0.1)
        return x

    return f


def traced_chain() -> Workload:
    """100 times tanh(x * 1.01 + 0.1) on (64,), against NumPy with ``out=``."""
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    t, f = td.constant(x), chain()
    scale, shift, out = np.float32(1.01), np.float32(0.1), np.empty_like(x)

    def by_hand() -> Any:
        np.copyto(out, x)
        for _ in range(100):
            np.multiply(out, scale, out=out)
            np.add(out, shift, out=out)
            np.tanh(out, out=out)
        return out

    return Workload("300 chained small ops, traced", lambda: f(t), by_hand, lambda: (arrays_of(f(t)), [by_hand()]), 1.3, 300)


def traced_step() -> Workload:
    """The MLP's training step with SGD."""
    m = Mlp()
    rate = np.float32(0.01)

    @td.function
    def step(x: Any, y: Any) -> Any:
        with td.GradientTape() as tape:
            loss = m.loss(x, y)
        for v, g in zip(m.v, tape.gradient(loss, m.v), strict=True):
            v.assign_sub(g * 0.01)
        return loss

    def results() -> tuple[list[Any], list[Any]]:
        ours, theirs = step(m.tx, m.ty), m.step_by_hand(rate)
        return [*arrays_of(ours), *(v.numpy() for v in m.v)], [theirs, *m.p]

    return Workload("traced MLP training step, batch 32", lambda: step(m.tx, m.ty), lambda: m.step_by_hand(rate), results, 1.15, 300)


def dict_call() -> Workload:
    """A traced call with ten (4,) tensors in a dict, against one ``np.add``."""
    x = np.array([1, 2, 3, 4], np.float32)
    tensors = {f"t{i}": td.constant(x + i) for i in range(10)}
    f = td.function(lambda d: d["t0"] + d["t9"])
    return Workload(
        "traced call with 10 tensors in a dict", lambda: f(tensors), lambda: np.add(x, x), lambda: (arrays_of(f(tensors)), [2 * x + 9]), 12.0, 5000
    )


def scalar_loop() -> Workload:
    """10,000 steps of a traced ``while_loop`` on scalars, against the same loop in Python with NumPy's ufuncs on rank-0 arrays."""
    steps = 10_000

    @td.function
    def f(n: Any, start: Any) -> Any:
        return td.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, x * 0.5 + 1.0), (td.constant(0), start))[1]

    n, start = td.constant(steps), td.constant(0.0)
    limit, zero, one = np.array(steps, np.int32), np.array(0, np.int32), np.array(1, np.int32)
    first, half, whole = np.array(0, np.float32), np.array(0.5, np.float32), np.array(1, np.float32)

    def by_hand() -> Any:
        i, x = np.array(zero), np.array(first)
        while np.less(i, limit):
            i, x = np.asarray(np.add(i, one)), np.asarray(np.add(np.asarray(np.multiply(x, half)), whole))
        return x

    return Workload("while loop of 10,000 scalar steps", lambda: f(n, start), by_hand, lambda: (arrays_of(f(n, start)), [by_hand()]), 1.3, 3)


def traced_backward() -> Workload:
    """Forward and backward through the 300-op function, against its forward call."""
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    t, f = td.constant(x), chain()

    def both() -> Any:
        with td.GradientTape() as tape:
            tape.watch(t)
            y = f(t)
        return tape.gradient(y, t)

    def derivative() -> Any:
        y, slope = x, np.ones_like(x)
        for _ in range(100):
            y = np.tanh(y * np.float32(1.01) + np.float32(0.1))
            slope = slope * (1 - y * y) * np.float32(1.01)
        return slope

    return Workload("300 ops, forward and backward, against forward", both, lambda: f(t), lambda: (arrays_of(both()), [derivative()]), 3.2, 200)


ALL = (eager_add, eager_forward, eager_gradients, traced_call, traced_chain, traced_step, dict_call, scalar_loop, traced_backward)
