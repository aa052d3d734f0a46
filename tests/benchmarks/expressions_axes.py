"""The best plain expressions of ops that work along axes: reductions, running results, softmax, sorting and counting."""

from __future__ import annotations

from typing import Any

import numpy as np
from expressions import SIDE, Array, Line, b, f, g, i, line, lines

import treadle as td

AXES: tuple[Any, ...] = ((1,), (0,), None)


def named(axis: Any) -> str:
    """An axis in words."""
    return "all" if axis is None else f"axis {axis[0]}"


def mean_of_squares(x: Array, axis: Any) -> Array:
    """The variance, the mean subtracted first."""
    d = x - x.mean(axis, keepdims=True)
    d *= d
    return d.mean(axis)


def logsumexp(x: Array, axis: Any) -> Array:
    """By hand, as SciPy's does more than is needed here."""
    most = x.max(axis, keepdims=True)
    d = x - most
    return np.log(np.exp(d, d).sum(axis)) + np.squeeze(most, axis)


def pairwise(x: Array, axis: Any) -> Array:
    """NumPy's sum, which adds in pairs along the last axis only, and row by row with a growing error along another."""
    return x.T.copy().sum(1) if x.ndim == 2 and axis == (0,) else x.sum(axis)


REDUCTIONS: dict[str, Any] = {
    "reduce_sum": lambda x, axis: pairwise(x, axis),
    "reduce_mean": lambda x, axis: pairwise(x, axis) / np.float32(x.size if axis is None else x.shape[axis[0]]),
    "reduce_prod": lambda x, axis: x.prod(axis),
    "reduce_max": lambda x, axis: x.max(axis),
    "reduce_min": lambda x, axis: x.min(axis),
    "reduce_logsumexp": logsumexp,
    "reduce_euclidean_norm": lambda x, axis: np.sqrt(np.square(x).sum(axis)),
    "euclidean_norm": lambda x, axis: np.sqrt(np.square(x).sum(axis)),
    "reduce_variance": mean_of_squares,
    "moments": lambda x, axis: (x.mean(axis), mean_of_squares(x, axis)),
}


@lines(*REDUCTIONS)
def _(name: str) -> list[Line]:
    compute = REDUCTIONS[name]
    x = f(low=0.9, high=1.1) if name == "reduce_prod" else f()
    found = [line(x, numpy=lambda x, a=a: compute(x, a), what=named(a), axis=a, keepdims=False) for a in AXES]
    if name in ("reduce_sum", "reduce_max"):
        cube = f(64, 128, 128)
        found.append(line(cube, numpy=lambda x: compute(x, 1), what="the middle of three", axis=(1,), keepdims=False))
        found.append(line(cube, numpy=lambda x: compute(x, (0, 2)), what="the first and last of three", axis=(0, 2), keepdims=False))
        narrow = f(131_072, 8)
        found.append(line(narrow, numpy=lambda x: compute(x, 1), what="rows of 8", axis=(1,), keepdims=False))
    return found


@lines("reduce_all", "reduce_any")
def _(name: str) -> list[Line]:
    x = np.full((SIDE, SIDE), name == "reduce_all")
    return [line(x, numpy=lambda x, a=a: getattr(x, name[7:])(a), what=named(a), axis=a, keepdims=False) for a in AXES]


@lines("count_nonzero")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=lambda x, a=a: np.count_nonzero(x, a), what=named(a), axis=a, keepdims=False, dtype=td.int64) for a in AXES]


@lines("argmax", "argmin")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=lambda x, a=a: getattr(x, name)(a), what=f"axis {a}", axis=a, output_type=td.int64) for a in (1, 0)]


@lines("share_among_ties", "mean_of_ties")
def _(name: str) -> list[Line]:
    x = f()

    def share(g: Array, x: Array, y: Array) -> Array:
        ties = x == y[:, None]
        return ties * (g / np.count_nonzero(ties, 1).astype(np.float32))[:, None]

    def mean(g: Array, x: Array, y: Array) -> Array:
        ties = x == y[:, None]
        return (ties * g).sum(1) / np.count_nonzero(ties, 1).astype(np.float32)

    whole = name == "mean_of_ties"
    return [line(g() if whole else g(SIDE), x, x.max(1), numpy=mean if whole else share, axis=(1,), keepdims=False)]


@lines("cumsum", "cumprod")
def _(name: str) -> list[Line]:
    x = f(low=0.9, high=1.1)
    of = getattr(np, name)
    first = 0 if name == "cumsum" else 1

    def exclusive(x: Array) -> Array:
        result = np.empty_like(x)
        result[:, 0] = first
        of(x[:, :-1], 1, out=result[:, 1:])
        return result

    found = [line(x, numpy=lambda x, a=a: of(x, a), what=f"axis {a}", axis=a, exclusive=False, reverse=False) for a in (1, 0)]
    found.append(line(x, numpy=lambda x: np.ascontiguousarray(of(x[:, ::-1], 1)[:, ::-1]), what="backward", axis=1, exclusive=False, reverse=True))
    return [*found, line(x, numpy=exclusive, what="exclusive", axis=1, exclusive=True, reverse=False)]


@lines("cumulative_logsumexp")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=lambda x, a=a: np.logaddexp.accumulate(x, a), what=f"axis {a}", axis=a, reverse=False) for a in (1, 0)]


@lines("shift")
def _(name: str) -> list[Line]:
    def by(x: Array) -> Array:
        result = np.empty_like(x)
        result[:, :2] = 0
        result[:, 2:] = x[:, :-2]
        return result

    return [line(f(), numpy=by, axis=1, fill=0.0, by=2)]


@lines("linear_recurrence")
def _(name: str) -> list[Line]:
    def by(a: Array, x: Array) -> Array:
        s = x.copy()
        for k in range(1, len(x)):
            s[k] += a[k] * s[k - 1]
        return s

    return [line(f(high=0.9, low=-0.9), g(), numpy=by, axis=0, reverse=False)]


def softmax(x: Array, axis: int) -> Array:
    """In place but for one array."""
    e = x - x.max(axis, keepdims=True)
    np.exp(e, e)
    e /= e.sum(axis, keepdims=True)
    return e


def log_softmax(x: Array, axis: int) -> Array:
    """In place but for two arrays."""
    d = x - x.max(axis, keepdims=True)
    d -= np.log(np.exp(d).sum(axis, keepdims=True))
    return d


def softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """As it is derived."""
    d = g - (g * y).sum(axis, keepdims=True)
    d *= y
    return d


def log_softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """As it is derived."""
    return g - np.exp(y) * g.sum(axis, keepdims=True)


@lines("softmax", "log_softmax", "softmax_grad", "log_softmax_grad")
def _(name: str) -> list[Line]:
    compute = globals()[name]
    found = []
    for shape, axis, what in (((SIDE, SIDE), -1, "last axis"), ((SIDE, SIDE), 0, "first axis"), ((65_536, 10), -1, "rows of 10")):
        inputs = [g(*shape), log_softmax(f(*shape), axis) if name == "log_softmax_grad" else softmax(f(*shape), axis)]
        arrays = inputs if name.endswith("grad") else [f(*shape)]
        found.append(line(*arrays, numpy=lambda *arrays, a=axis: compute(*arrays, a), what=what, axis=axis))
    return found


def cross_entropy(labels: Array, logits: Array) -> tuple[Array, Array]:
    """The loss and what its gradient is made of."""
    d = logits - logits.max(1, keepdims=True)
    e = np.exp(d)
    s = e.sum(1, keepdims=True)
    d -= np.log(s)
    loss = -(labels * d).sum(1)
    e /= s
    e -= labels
    return loss, e


@lines("softmax_cross_entropy")
def _(name: str) -> list[Line]:
    return [line(softmax(f(), -1), g(), numpy=cross_entropy), line(softmax(f(65_536, 10), -1), g(65_536, 10), numpy=cross_entropy, what="rows of 10")]


@lines("sparse_softmax_cross_entropy")
def _(name: str) -> list[Line]:
    def by(labels: Array, logits: Array) -> tuple[Array, Array]:
        rows = np.arange(len(labels))
        d = logits - logits.max(1, keepdims=True)
        e = np.exp(d)
        s = e.sum(1, keepdims=True)
        loss = np.log(s[:, 0]) - d[rows, labels]
        e /= s
        e[rows, labels] -= 1
        return loss, e

    return [line(i(n, low=0, high=w), g(n, w), numpy=by, what=f"rows of {w}") for n, w in ((SIDE, SIDE), (65_536, 10))]


@lines("softmax_cross_entropy_grad", "sparse_softmax_cross_entropy_grad")
def _(name: str) -> list[Line]:
    rest = [f(seed=2), f(seed=3)] if name.startswith("softmax") else [f(seed=3)]
    return [line(g(SIDE), f(), *rest, numpy=lambda g, backprop, *rest: g[:, None] * backprop)]


@lines("sort", "argsort")
def _(name: str) -> list[Line]:
    x = f()

    def by(x: Array, axis: int) -> Array:
        return np.sort(x, axis) if name == "sort" else np.argsort(x, axis, kind="stable").astype(np.int32)

    return [line(x, numpy=lambda x, a=a: by(x, a), what=f"axis {a}", axis=a, descending=False) for a in (-1, 0)]


@lines("top_k")
def _(name: str) -> list[Line]:
    def by(x: Array, k: int) -> tuple[Array, Array]:
        places = np.argpartition(x, -k, 1)[:, -k:]
        found = np.take_along_axis(x, places, 1)
        order = np.argsort(-found, 1)
        return np.take_along_axis(found, order, 1), np.take_along_axis(places, order, 1).astype(np.int32)

    return [line(np.random.default_rng(0).permutation(SIDE * SIDE).reshape(SIDE, SIDE).astype(np.float32), 10, numpy=by, index_type=td.int32)]


@lines("in_top_k")
def _(name: str) -> list[Line]:
    def by(targets: Array, x: Array, k: int) -> Array:
        return (x > x[np.arange(len(x)), targets][:, None]).sum(1) < k

    return [line(i(SIDE, low=0, high=SIDE), f(), 10, numpy=by)]


@lines("searchsorted")
def _(name: str) -> list[Line]:
    return [
        line(np.sort(f(SIDE)), g(SIDE * 100), numpy=lambda s, v: np.searchsorted(s, v).astype(np.int32), what="one", side="left", out_type=td.int32),
        line(
            np.sort(f(64, SIDE)),
            g(64, SIDE),
            numpy=lambda s, v: np.stack([np.searchsorted(a, b) for a, b in zip(s, v, strict=True)]).astype(np.int32),
            what="many",
            side="left",
            out_type=td.int32,
        ),
    ]


@lines("unique", "unique_with_counts")
def _(name: str) -> list[Line]:
    def by(x: Array) -> tuple[Array, ...]:
        values, first, inverse, counts = np.unique(x, True, True, True)
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        found = values[order], place[inverse].astype(np.int32), counts[order].astype(np.int32)
        return found if name.endswith("counts") else found[:2]

    return [line(i(SIDE * SIDE // 4, low=0, high=1000), numpy=by, out_idx=td.int32)]


@lines("bincount")
def _(name: str) -> list[Line]:
    x = i(SIDE * SIDE, low=0, high=1000)
    attrs = {"rows": False, "binary": False}
    return [
        line(x, [], (-1, -1), numpy=lambda x, w, n: np.bincount(x).astype(np.int32), dtype=td.int32, **attrs),
        line(
            x,
            [f(SIDE * SIDE)],
            (-1, -1),
            numpy=lambda x, w, n: np.bincount(x, w[0]).astype(np.float32),
            what="weighted",
            rtol=1e-3,
            dtype=td.float32,
            **attrs,
        ),
    ]


@lines("confusion_places")
def _(name: str) -> list[Line]:
    def by(x: Array, y: Array, n: int) -> Array:
        assert x.min() >= 0 and y.min() >= 0 and x.max() < n and y.max() < n
        return x * n + y

    return [line(i(SIDE * SIDE, low=0, high=9, dtype=np.int64), i(SIDE * SIDE, low=0, high=9, dtype=np.int64, seed=1), 10, numpy=by)]


@lines("class_count")
def _(name: str) -> list[Line]:
    x, y = (i(SIDE * SIDE, low=0, high=9, dtype=np.int64, seed=s) for s in (0, 1))
    return [line(x, y, numpy=lambda x, y: np.int64(max(x.max(), y.max()) + 1))]


@lines("known_places")
def _(name: str) -> list[Line]:
    return [line(i(SIDE * SIDE, low=0, high=9), np.zeros(5, np.int64), numpy=lambda x, counts: np.where(x < 5, x.astype(np.int64), -1))]


@lines("invert_permutation", "inverse_orders")
def _(name: str) -> list[Line]:
    def one(x: Array) -> Array:
        result = np.empty_like(x)
        result[x] = np.arange(len(x), dtype=x.dtype)
        return result

    def many(x: Array) -> Array:
        result = np.empty_like(x)
        np.put_along_axis(result, x, np.arange(x.shape[1], dtype=x.dtype), 1)
        return result

    if name == "invert_permutation":
        return [line(np.random.default_rng(0).permutation(SIDE * 256).astype(np.int32), numpy=one)]
    return [line(np.argsort(f(64, SIDE), 1).astype(np.int32), numpy=many)]


@lines("nonzero")
def _(name: str) -> list[Line]:
    return [line(b(), numpy=lambda x: np.argwhere(x))]


@lines("channel_window_sum")
def _(name: str) -> list[Line]:
    def by(x: Array) -> Array:
        total = x.copy()
        for k in (1, 2):
            total[..., k:] += x[..., :-k]
            total[..., :-k] += x[..., k:]
        return total

    return [line(f(8, 32, 32, 128), numpy=by, radius=2)]


@lines("fft")
def _(name: str) -> list[Line]:
    x = (f() + 1j * g()).astype(np.complex64)
    return [
        line(x, numpy=lambda x: np.fft.fft(x, axis=-1), what="last axis", rtol=1e-3, axes=(-1,), inverse=False, norm="backward"),
        line(x, numpy=lambda x: np.fft.fft2(x), what="two axes", rtol=1e-3, axes=(-2, -1), inverse=False, norm="backward"),
    ]


@lines("rfft")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=np.fft.rfft, rtol=1e-3, axes=(-1,), norm="backward")]


@lines("irfft")
def _(name: str) -> list[Line]:
    return [line(np.fft.rfft(f()).astype(np.complex64), SIDE, numpy=np.fft.irfft, rtol=1e-3, axes=(-1,), norm="backward")]


@lines("fit_axes")
def _(name: str) -> list[Line]:
    def longer(x: Array, lengths: Any) -> Array:
        result = np.zeros((SIDE, *lengths), x.dtype)
        result[:, :SIDE] = x
        return result

    return [
        line(f(), (SIDE + 100,), numpy=longer, what="longer", axes=(-1,)),
        line(f(), (SIDE - 100,), numpy=lambda x, n: x[:, : n[0]].copy(), what="shorter", axes=(-1,)),
    ]


@lines("frame")
def _(name: str) -> list[Line]:
    def by(x: Array, value: Any, lengths: Any) -> Array:
        return np.lib.stride_tricks.sliding_window_view(x, lengths[0], 1)[:, :: lengths[1]].copy()

    return [line(f(16, 16_384), np.float32(0), (512, 128), numpy=by, axis=-1, pad_end=False)]


@lines("overlap_and_add", "frame_grad")
def _(name: str) -> list[Line]:
    def by(x: Array, *rest: Any) -> Array:
        result = np.zeros((16, 128 * 127 + 512), x.dtype)
        view = result[:, : 128 * 131].reshape(16, 131, 128)
        for k in range(4):
            view[:, k : k + 128] += x[:, :, 128 * k : 128 * k + 128]
        return result

    x = f(16, 128, 512)
    if name == "overlap_and_add":
        return [line(x, 128, numpy=by)]
    return [line(x, (16, 128 * 127 + 512), (512, 128), numpy=by, axis=-1, pad_end=False)]
