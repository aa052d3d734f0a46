"""The best plain expressions of ops that make tensors, and move, pick, put and fold their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from expressions import SIDE, Array, Line, b, f, g, i, line, lines

import treadle as td

N = SIDE
SQUARE = (N, N)
CUBE = (64, 128, 128)


# ---------------------------------------------------------------------- making


@lines("zeros", "ones")
def _(name: str) -> list[Line]:
    return [line(SQUARE, numpy=lambda shape: getattr(np, name)(shape, np.float32), dtype=td.float32)]


@lines("zeros_like", "ones_like")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=getattr(np, name), dtype=td.float32)]


@lines("fill")
def _(name: str) -> list[Line]:
    return [line(SQUARE, np.float32(3), numpy=np.full)]


@lines("eye")
def _(name: str) -> list[Line]:
    return [line(SQUARE, numpy=lambda shape: np.eye(*shape, dtype=np.float32), dtype=td.float32)]


@lines("range")
def _(name: str) -> list[Line]:
    return [line(0, N * N, 1, numpy=lambda a, b, c: np.arange(a, b, c, np.int32), dtype=td.int32)]


@lines("linspace")
def _(name: str) -> list[Line]:
    return [line(np.float32(0), np.float32(1), N * N, numpy=lambda a, b, n: np.linspace(a, b, n, dtype=np.float32), axis=0)]


@lines("one_hot")
def _(name: str) -> list[Line]:
    def by(x: Array, depth: int) -> Array:
        result = np.zeros((len(x), depth), np.float32)
        result[np.arange(len(x)), x] = 1
        return result

    return [line(i(N, low=0, high=N), N, numpy=(by, lambda x, depth: (x[:, None] == np.arange(depth)).astype(np.float32)), axis=-1, dtype=td.float32)]


@lines("sequence_mask")
def _(name: str) -> list[Line]:
    return [line(i(N, low=0, high=N), N, numpy=lambda x, n: np.arange(n, dtype=np.int32) < x[:, None], dtype=td.bool)]


@lines("unravel_index")
def _(name: str) -> list[Line]:
    return [
        line(
            i(N * N, low=0, high=N * N, dtype=np.int64),
            SQUARE,
            numpy=(lambda x, dims: np.stack(np.unravel_index(x, dims)), lambda x, dims: np.stack(divmod(x, dims[1]))),
        )
    ]


# ---------------------------------------------------------------------- shapes and order


@lines("identity", "stop_gradient")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=np.copy)]


@lines("reshape")
def _(name: str) -> list[Line]:
    return [line(f(), (N * N,), numpy=lambda x, shape: x.reshape(shape).copy())]


@lines("broadcast_to")
def _(name: str) -> list[Line]:
    return [
        line(f(1, N), SQUARE, numpy=lambda x, shape: np.broadcast_to(x, shape).copy(), what="a row"),
        line(f(N, 1), SQUARE, numpy=lambda x, shape: np.broadcast_to(x, shape).copy(), what="a column"),
    ]


@lines("sum_to_shape")
def _(name: str) -> list[Line]:
    return [
        line(f(), (N,), numpy=lambda x, shape: x.T.copy().sum(1), what="to a row, in pairs"),
        line(f(), (N, 1), numpy=lambda x, shape: x.sum(1, keepdims=True), what="to a column"),
        line(f(), (), numpy=lambda x, shape: x.sum(), what="to a scalar"),
    ]


@lines("transpose")
def _(name: str) -> list[Line]:
    found = [(SQUARE, (1, 0)), (CUBE, (0, 2, 1)), (CUBE, (1, 0, 2)), (CUBE, (2, 1, 0)), ((8, 64, 64, 32), (0, 3, 1, 2))]
    return [line(f(*s), numpy=lambda x, p=p: x.transpose(p).copy(), perm=p, what=f"{len(s)} axes, {p}") for s, p in found]


@lines("matrix_transpose")
def _(name: str) -> list[Line]:
    return [line(f(*s), numpy=lambda x: x.swapaxes(-1, -2).copy(), what=f"{len(s)} axes") for s in (SQUARE, CUBE)]


@lines("transpose_by")
def _(name: str) -> list[Line]:
    return [line(f(), (1, 0), numpy=lambda x, p: x.transpose(p).copy())]


@lines("transpose_back")
def _(name: str) -> list[Line]:
    return [line(f(), (1, 0), numpy=lambda x, p: x.transpose(p).copy())]


@lines("axis_to_front")
def _(name: str) -> list[Line]:
    return [line(f(*CUBE), 1, numpy=lambda x, axis: np.moveaxis(x, axis, 0).copy())]


@lines("axis_from_front")
def _(name: str) -> list[Line]:
    return [line(f(*CUBE), 1, numpy=lambda x, axis: np.moveaxis(x, 0, axis).copy())]


@lines("rows_of_axes")
def _(name: str) -> list[Line]:
    return [line(f(*CUBE), (1,), numpy=lambda x, axis: np.moveaxis(x, 1, -1).reshape(-1, 128))]


@lines("axes_of_rows")
def _(name: str) -> list[Line]:
    return [line(f(64 * 128, 128), (1,), CUBE, numpy=lambda x, axis, shape: np.moveaxis(x.reshape(64, 128, 128), -1, 1).copy())]


@lines("concat")
def _(name: str) -> list[Line]:
    return [line([f(), g()], numpy=lambda values, a=a: np.concatenate(values, a), what=f"axis {a}", axis=a) for a in (0, 1)]


@lines("stack")
def _(name: str) -> list[Line]:
    return [line([f(), g()], numpy=lambda values, a=a: np.stack(values, a), what=f"axis {a}", axis=a) for a in (0, 1, 2)]


@lines("split")
def _(name: str) -> list[Line]:
    return [line(f(), (100, N - 100), numpy=lambda x, sizes: (x[:, :100].copy(), x[:, 100:].copy()), axis=1)]


@lines("split_evenly")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=lambda x: [p.copy() for p in np.split(x, 4, 1)], num=4, axis=1)]


@lines("unstack")
def _(name: str) -> list[Line]:
    return [line(f(8, 512, 256), numpy=lambda x: [p.copy() for p in x], num=8, axis=0)]


@lines("tile")
def _(name: str) -> list[Line]:
    return [line(f(256, 256), (4, 4), numpy=np.tile), line(f(N, 1), (1, N), numpy=np.tile, what="of a column")]


@lines("sum_tiles")
def _(name: str) -> list[Line]:
    return [line(f(), (4, 4), (256, 256), numpy=lambda x, m, shape: x.reshape(4, 256, 4, 256).sum((0, 2)))]


@lines("repeat")
def _(name: str) -> list[Line]:
    return [
        line(f(256, N), np.int32(4), numpy=lambda x, n: np.repeat(x, n, 0), what="rows", axis=0),
        line(f(N, 256), np.int32(4), numpy=lambda x, n: np.repeat(x, n, 1), what="columns", axis=1),
        line(f(256, N), i(256, low=0, high=9), numpy=lambda x, n: np.repeat(x, n, 0), what="rows, so many each", axis=0),
    ]


@lines("sum_repeats")
def _(name: str) -> list[Line]:
    return [line(f(), np.int32(4), (256, N), numpy=lambda x, n, shape: x.reshape(256, 4, N).sum(1), axis=0)]


@lines("reverse")
def _(name: str) -> list[Line]:
    return [line(f(), numpy=lambda x, a=a: np.flip(x, a).copy(), what=f"axis {a}", axis=(a,)) for a in (0, 1)]


@lines("reverse_sequence")
def _(name: str) -> list[Line]:
    def by(x: Array, lengths: Array) -> Array:
        result = x.copy()
        for row, source, n in zip(result, x, lengths.tolist(), strict=True):
            row[:n] = source[:n][::-1]
        return result

    def by_places(x: Array, lengths: Array) -> Array:
        k = np.arange(x.shape[1])
        return np.take_along_axis(x, np.where(k < lengths[:, None], lengths[:, None] - 1 - k, k), 1)

    return [line(f(), i(N, low=0, high=N), numpy=(by, by_places), seq_axis=1, batch_axis=0)]


@lines("roll")
def _(name: str) -> list[Line]:
    return [line(f(), (100,), numpy=lambda x, s, a=a: np.roll(x, s, (a,)), what=f"axis {a}", axis=(a,)) for a in (0, 1)]


@lines("pad", "pad_with")
def _(name: str) -> list[Line]:
    def by(x: Array, paddings: Any, value: Any = 0) -> Array:
        result = np.full((N + 3, N + 5), value, x.dtype) if value else np.zeros((N + 3, N + 5), x.dtype)
        result[1 : N + 1, 2 : N + 2] = x
        return result

    return [line(f(), ((1, 2), (2, 3)), *([np.float32(3)] if name == "pad_with" else []), numpy=by)]


@lines("crop")
def _(name: str) -> list[Line]:
    return [line(f(), ((1, 2), (2, 3)), numpy=lambda x, paddings: x[1:-2, 2:-3].copy())]


@lines("mirror_pad")
def _(name: str) -> list[Line]:
    return [line(f(), ((8, 8), (8, 8)), numpy=lambda x, paddings: np.pad(x, paddings, "reflect"), mode="REFLECT")]


@lines("space_to_batch_nd")
def _(name: str) -> list[Line]:
    def by(x: Array, block: Any, paddings: Any) -> Array:
        return x.reshape(8, 32, 2, 32, 2, 32).transpose(2, 4, 0, 1, 3, 5).reshape(32, 32, 32, 32)

    return [line(f(8, 64, 64, 32), (2, 2), ((0, 0), (0, 0)), numpy=by)]


@lines("batch_to_space")
def _(name: str) -> list[Line]:
    def by(x: Array, block: Any, crops: Any) -> Array:
        return x.reshape(2, 2, 8, 32, 32, 32).transpose(2, 3, 0, 4, 1, 5).reshape(8, 64, 64, 32)

    return [line(f(32, 32, 32, 32), (2, 2), ((0, 0), (0, 0)), numpy=by)]


@lines("space_to_depth", "depth_to_space")
def _(name: str) -> list[Line]:
    if name == "space_to_depth":
        return [
            line(
                f(8, 64, 64, 32),
                numpy=lambda x: x.reshape(8, 32, 2, 32, 2, 32).transpose(0, 1, 3, 2, 4, 5).reshape(8, 32, 32, 128),
                block_size=2,
                data_format="NHWC",
            )
        ]
    return [
        line(
            f(8, 32, 32, 128),
            numpy=lambda x: x.reshape(8, 32, 32, 2, 2, 32).transpose(0, 1, 3, 2, 4, 5).reshape(8, 64, 64, 32),
            block_size=2,
            data_format="NHWC",
        )
    ]


@lines("diag")
def _(name: str) -> list[Line]:
    return [line(f(N), np.float32(0), (-1, -1), numpy=lambda x, *rest: np.diag(x), k=(0, 0), align="RIGHT_LEFT")]


@lines("diag_part")
def _(name: str) -> list[Line]:
    return [line(f(64, 256, 256), np.float32(0), numpy=lambda x, p: np.diagonal(x, 0, -2, -1).copy(), k=(0, 0), align="RIGHT_LEFT")]


@lines("set_diag")
def _(name: str) -> list[Line]:
    def by(x: Array, d: Array) -> Array:
        result = x.copy()
        np.fill_diagonal(result, d)
        return result

    return [line(f(), f(N), numpy=by, k=(0, 0), align="RIGHT_LEFT")]


@lines("band_part")
def _(name: str) -> list[Line]:
    return [
        line(f(), (-1, 0), numpy=lambda x, bounds: np.tril(x), what="lower"),
        line(f(), (2, 3), numpy=lambda x, bounds: np.triu(np.tril(x, 3), -2), what="a band"),
    ]


# ---------------------------------------------------------------------- picking and putting


@lines("slice")
def _(name: str) -> list[Line]:
    return [line(f(), (10, 10), (1000, 1000), numpy=lambda x, begin, size: x[10:1010, 10:1010].copy())]


@lines("slice_grad")
def _(name: str) -> list[Line]:
    def by(g: Array, begin: Any, shape: Any) -> Array:
        result = np.zeros(shape, g.dtype)
        result[10:1010, 10:1010] = g
        return result

    return [line(f(1000, 1000), (10, 10), SQUARE, numpy=by)]


@lines("strided_slice")
def _(name: str) -> list[Line]:
    return [
        line(f(), numpy=lambda x: x[::2].copy(), what="every other row", index=((None, None, 2),)),
        line(f(), numpy=lambda x: x[:, ::2].copy(), what="every other column", index=((None, None, 1), (None, None, 2))),
        line(f(), numpy=lambda x: x[:, ::-1].copy(), what="backward", index=((None, None, 1), (None, None, -1))),
    ]


@lines("dynamic_strided_slice")
def _(name: str) -> list[Line]:
    return [line(f(), (1,), numpy=lambda x, numbers: x[1:].copy(), index=(("?", None, 1),))]


@lines("strided_slice_grad")
def _(name: str) -> list[Line]:
    def by(g: Array, shape: Any, numbers: Any) -> Array:
        result = np.zeros(shape, g.dtype)
        result[:, ::2] = g
        return result

    return [line(f(N, N // 2), SQUARE, (), numpy=by, index=((None, None, 1), (None, None, 2)))]


@lines("tensor_strided_slice_update")
def _(name: str) -> list[Line]:
    def by(x: Array, numbers: Any, value: Array) -> Array:
        result = x.copy()
        result[:, ::2] = value
        return result

    return [line(f(), (), g(N, N // 2), numpy=by, index=((None, None, 1), (None, None, 2)))]


def places(count: int, high: int = N) -> Array:
    """Row numbers."""
    return i(count, low=0, high=high)


@lines("gather")
def _(name: str) -> list[Line]:
    table = f(10_000, 128)
    return [
        line(table, places(8192, 10_000), numpy=(lambda x, k: x[k], lambda x, k: x.take(k, 0)), what="rows of 128", axis=0, batch_dims=0),
        line(f(), places(N), numpy=(lambda x, k: x[:, k], lambda x, k: x.take(k, 1)), what="columns", axis=1, batch_dims=0),
        line(f(N * N), places(N * N, N * N), numpy=(lambda x, k: x[k], lambda x, k: x.take(k)), what="elements", axis=0, batch_dims=0),
        line(
            f(64, 256, 64),
            i(64, 256, low=0, high=256),
            numpy=(lambda x, k: x[np.arange(64)[:, None], k], lambda x, k: np.take_along_axis(x, k[..., None], 1)),
            what="in a batch",
            axis=1,
            batch_dims=1,
        ),
        line(
            f(),
            i(N, N, low=0, high=N, dtype=np.int64),
            numpy=lambda x, k: np.take_along_axis(x, k, 1),
            what="along rows",
            axis=1,
            batch_dims=1,
        ),
    ]


def summed_rows(count: int, k: Array, rows: Array) -> Array:
    """Rows added where they belong."""
    result = np.zeros((count, *rows.shape[1:]), rows.dtype)
    np.add.at(result, k, rows)
    return result


def summed_by_sparse(count: int, k: Array, rows: Array) -> Array:
    """The same with SciPy's sparse matrices."""
    from scipy.sparse import csr_array

    matrix = csr_array((np.ones(len(k), rows.dtype), (k, np.arange(len(k)))), shape=(count, len(k)))
    return matrix @ rows


@lines("gather_grad")
def _(name: str) -> list[Line]:
    by = (lambda g, k, shape: summed_rows(10_000, k, g), lambda g, k, shape: summed_by_sparse(10_000, k, g))
    return [line(f(8192, 128), places(8192, 10_000), (10_000, 128), numpy=by, axis=0, batch_dims=0)]


@lines("gather_nd")
def _(name: str) -> list[Line]:
    return [
        line(f(), i(N * N, 2, low=0, high=N), numpy=lambda x, k: x[k[:, 0], k[:, 1]], what="elements", batch_dims=0, ignore=False),
        line(f(10_000, 128), i(8192, 1, low=0, high=10_000), numpy=lambda x, k: x[k[:, 0]], what="rows", batch_dims=0, ignore=False),
    ]


@lines("scatter_nd")
def _(name: str) -> list[Line]:
    rows = (lambda k, v, shape: summed_rows(10_000, k[:, 0], v), lambda k, v, shape: summed_by_sparse(10_000, k[:, 0], v))

    def elements(k: Array, v: Array, shape: Any) -> Array:
        return np.bincount(k[:, 0] * N + k[:, 1], v, N * N).astype(v.dtype).reshape(shape)

    def elements_at(k: Array, v: Array, shape: Any) -> Array:
        result = np.zeros(N * N, v.dtype)
        np.add.at(result, k[:, 0] * N + k[:, 1], v)
        return result.reshape(shape)

    return [
        line(i(8192, 1, low=0, high=10_000), f(8192, 128), (10_000, 128), numpy=rows, what="rows", batch_dims=0, ignore=False),
        line(i(N * 256, 2, low=0, high=N), f(N * 256), SQUARE, numpy=(elements, elements_at), what="elements", rtol=1e-3, batch_dims=0, ignore=False),
    ]


@lines("tensor_scatter_nd_update")
def _(name: str) -> list[Line]:
    def by(x: Array, k: Array, v: Array) -> Array:
        result = x.copy()
        result[k[:, 0]] = v
        return result

    order = np.random.default_rng(0).permutation(N)[:512].astype(np.int32)
    return [line(f(), order[:, None], g(512, N), numpy=by)]


@lines("tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_max", "tensor_scatter_nd_min")
def _(name: str) -> list[Line]:
    combine = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum}[name[-3:]]

    def by(x: Array, k: Array, v: Array) -> Array:
        result = x.copy()
        combine.at(result, k[:, 0], v)
        return result

    def by_places(x: Array, k: Array, v: Array) -> Array:
        result = x.copy()
        combine.at(result.reshape(-1), (k.astype(np.int64) * v.shape[1] + np.arange(v.shape[1])).reshape(-1), v.reshape(-1))
        return result

    return [line(f(10_000, 128), i(8192, 1, low=0, high=10_000), g(8192, 128), numpy=(by, by_places), ignore=False)]


@lines("boolean_mask")
def _(name: str) -> list[Line]:
    return [
        line(f(), b(N), numpy=lambda x, m: x[m], what="rows", axis=0),
        line(f(), b(N), numpy=(lambda x, m: x[:, m], lambda x, m: np.compress(m, x, 1)), what="columns", axis=1),
        line(f(), b(), numpy=lambda x, m: x[m], what="elements", axis=0),
    ]


@lines("boolean_mask_grad")
def _(name: str) -> list[Line]:
    mask = b()

    def by(g: Array, m: Array, shape: Any) -> Array:
        result = np.zeros(shape, g.dtype)
        result[m] = g
        return result

    return [line(f(int(mask.sum())), mask, SQUARE, numpy=by, axis=0)]


@lines("dynamic_partition")
def _(name: str) -> list[Line]:
    return [line(f(), i(N, low=0, high=4), numpy=lambda x, k: [x[k == n] for n in range(4)], num_partitions=4)]


@lines("dynamic_partition_grad")
def _(name: str) -> list[Line]:
    k = i(N, low=0, high=4)

    def by(k: Array, pieces: list[Array], shape: Any) -> Array:
        result = np.empty(shape, np.float32)
        for n, piece in enumerate(pieces):
            result[k == n] = piece
        return result

    return [line(k, [f(int((k == n).sum()), N) for n in range(4)], SQUARE, numpy=by)]


@lines("dynamic_stitch")
def _(name: str) -> list[Line]:
    order = np.random.default_rng(0).permutation(N).astype(np.int32)

    def by(indices: list[Array], data: list[Array]) -> Array:
        result = np.zeros((max(k.max() for k in indices) + 1, N), np.float32)
        for k, rows in zip(indices, data, strict=True):
            result[k] = rows
        return result

    return [line([order[:512], order[512:]], [f(512, N), g(512, N)], numpy=by)]


# ---------------------------------------------------------------------- segments


HOW = {"sum": (np.add, 0), "prod": (np.multiply, 1), "max": (np.maximum, 0), "min": (np.minimum, 0)}


@lines("segment_sum", "segment_prod", "segment_max", "segment_min", "segment_mean")
def _(name: str) -> list[Line]:
    how = name.removeprefix("segment_")

    def by(x: Array, k: Array) -> Array:
        starts = np.flatnonzero(np.diff(k, prepend=-1))
        combine, _ = HOW["sum" if how == "mean" else how]
        result = combine.reduceat(x, starts, 0)
        if how == "mean":
            result /= np.diff(np.append(starts, len(k)))[:, None].astype(x.dtype)
        return result

    return [line(f(8192, 128, low=0.9, high=1.1), (np.arange(8192) // 32).astype(np.int32), numpy=by, what="runs of 32")]


@lines("unsorted_segment_sum", "unsorted_segment_prod", "unsorted_segment_max", "unsorted_segment_min")
def _(name: str) -> list[Line]:
    how = name.removeprefix("unsorted_segment_")
    ends = {"max": np.finfo(np.float32).min, "min": np.finfo(np.float32).max}

    def by(x: Array, k: Array, count: int) -> Array:
        combine, first = HOW[how]
        result = np.full((count, x.shape[1]), ends.get(how, first), x.dtype)
        combine.at(result, k, x)
        return result

    def by_order(x: Array, k: Array, count: int) -> Array:
        order = np.argsort(k, kind="stable")
        k = k[order]
        starts = np.flatnonzero(np.diff(k, prepend=-1))
        combine, first = HOW[how]
        result = np.full((count, x.shape[1]), ends.get(how, first), x.dtype)
        result[k[starts]] = combine.reduceat(x[order], starts, 0)
        return result

    def elements(x: Array, k: Array, count: int) -> Array:
        assert k.max() < count
        kept = k >= 0
        if not kept.all():
            k, x = k[kept], x[kept]
        return np.bincount(k, x, count).astype(np.float32)

    x = f(8192, 128, low=0.9, high=1.1)
    found = [line(x, i(8192, low=0, high=256), 256, numpy=(by, by_order), what="rows into 256")]
    if how == "sum":
        flat = f(N * N)
        found.append(line(flat, places(N * N), N, numpy=elements, what="elements", rtol=1e-3))
        found[0] = found[0]._replace(theirs=(by_order, lambda x, k, n: summed_by_sparse(n, k, x.astype(np.float64)).astype(np.float32)))
    return found


@lines("segment_sizes")
def _(name: str) -> list[Line]:
    return [line(places(N * N), N, numpy=lambda k, n: np.maximum(np.bincount(k, minlength=n), 1).astype(np.float32), dtype=td.float32)]


@lines("take_segments")
def _(name: str) -> list[Line]:
    return [line(f(256, 128), i(8192, low=0, high=256), numpy=lambda x, k: x[k])]
