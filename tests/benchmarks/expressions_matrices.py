"""The best plain expressions of products, of ops on matrices, and of layers made of them."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from expressions import Array, Line, c, f, g, line, lines

import treadle as td


def well(*shape: int) -> Array:
    """Square matrices far from singular."""
    return f(*shape) / np.float32(shape[-1]) + np.eye(shape[-1], dtype=np.float32)


def definite(*shape: int) -> Array:
    """Symmetric positive definite matrices."""
    x = well(*shape)
    return x @ x.swapaxes(-1, -2)


@lines("matmul")
def _(name: str) -> list[Line]:
    return [
        line(f(), g(), numpy=np.matmul, what="square"),
        line(f(), g(), numpy=lambda x, y: np.matmul(x, y.T), what="transposed", transpose_b=True),
        line(f(4096, 8, 8), g(4096, 8, 8), numpy=np.matmul, what="4096 of 8 x 8"),
        line(f(1024, 16, 16), g(1024, 16, 16), numpy=np.matmul, what="1024 of 16 x 16"),
        line(f(1024, 32, 32), g(1024, 32, 32), numpy=np.matmul, what="1024 of 32 x 32"),
        line(f(1024, 32, 32), g(1024, 32, 32), numpy=lambda x, y: np.matmul(x, y.swapaxes(1, 2)), what="the same, transposed", transpose_b=True),
        line(f(1024, 64, 64), g(64, 64), numpy=(np.matmul, lambda x, y: (x.reshape(-1, 64) @ y).reshape(1024, 64, 64)), what="many by one"),
    ]


@lines("einsum")
def _(name: str) -> list[Line]:
    def attention(operands: list[Array]) -> Array:
        q, k = operands
        return np.matmul(q.transpose(0, 2, 1, 3), k.transpose(0, 2, 3, 1))

    q = f(8, 128, 8, 64)
    return [
        line([f(), g()], numpy=lambda o: o[0] @ o[1], what="ij,jk->ik", terms=(("i", "j"), ("j", "k")), result=("i", "k")),
        line([q, q.copy()], numpy=attention, what="bqhd,bkhd->bhqk", terms=(tuple("bqhd"), tuple("bkhd")), result=tuple("bhqk")),
        line([f(), g()], numpy=lambda o: (o[0] * o[1]).sum(1), what="ij,ij->i", terms=(("i", "j"), ("i", "j")), result=("i",)),
        line([f()], numpy=lambda o: o[0].T.copy(), what="ij->ji", terms=(("i", "j"),), result=("j", "i")),
    ]


@lines("cross")
def _(name: str) -> list[Line]:
    return [line(f(100_000, 3), g(100_000, 3), numpy=np.cross)]


@lines("inv", "det", "slogdet")
def _(name: str) -> list[Line]:
    return [line(well(*s), numpy=getattr(np.linalg, name), what=str(s), rtol=1e-3) for s in ((512, 512), (512, 16, 16))]


@lines("expm")
def _(name: str) -> list[Line]:
    return [
        line(well(256, 256), numpy=lambda x: scipy.linalg.expm(x.astype(np.float64)).astype(np.float32), rtol=1e-3),
        line(well(64, 16, 16), numpy=lambda x: scipy.linalg.expm(x.astype(np.float64)).astype(np.float32), what="64 of 16 x 16", rtol=1e-3),
    ]


@lines("cholesky")
def _(name: str) -> list[Line]:
    return [line(definite(*s), numpy=np.linalg.cholesky, what=str(s), rtol=1e-3) for s in ((512, 512), (512, 16, 16))]


@lines("solve")
def _(name: str) -> list[Line]:
    return [
        line(well(512, 512), f(512, 64), numpy=np.linalg.solve, rtol=1e-2, adjoint=False),
        line(well(512, 16, 16), f(512, 16, 4), numpy=np.linalg.solve, what="512 of 16 x 16", rtol=1e-2, adjoint=False),
    ]


@lines("triangular_solve")
def _(name: str) -> list[Line]:
    return [
        line(
            np.tril(well(512, 512)),
            f(512, 64),
            numpy=lambda a, x: scipy.linalg.solve_triangular(a, x, lower=True, check_finite=False),
            rtol=1e-2,
            lower=True,
            adjoint=False,
        )
    ]


@lines("tridiagonal_solve")
def _(name: str) -> list[Line]:
    def by(d: Array, x: Array) -> Array:
        rows = d.copy()
        rows[0, 1:], rows[2, :-1] = d[0, :-1], d[2, 1:]
        return scipy.linalg.solve_banded((1, 1), rows, x, check_finite=False)

    return [line(np.stack([f(8192), f(8192) + 5, f(8192)]), f(8192, 4), numpy=by, rtol=1e-2)]


@lines("lu")
def _(name: str) -> list[Line]:
    def by(x: Array) -> tuple[Array, Array]:
        lu, swaps = scipy.linalg.lu_factor(x, check_finite=False)
        order = np.arange(len(x), dtype=np.int32)
        for k, p in enumerate(swaps.tolist()):
            order[[k, p]] = order[[p, k]]
        return lu, order

    return [line(well(512, 512), numpy=by, rtol=1e-2, output_idx_type=td.int32)]


@lines("lstsq")
def _(name: str) -> list[Line]:
    return [
        line(f(512, 64, dtype=np.float64), g(512, 8, dtype=np.float64), numpy=lambda a, x: np.linalg.lstsq(a, x, None)[0], rtol=1e-3),
    ]


@lines("pinv")
def _(name: str) -> list[Line]:
    return [line(f(256, 128), np.float32(1e-6), numpy=np.linalg.pinv, rtol=1e-2)]


@lines("qr")
def _(name: str) -> list[Line]:
    return [line(f(512, 256), numpy=lambda x: tuple(np.linalg.qr(x)), rtol=1e-2, full_matrices=False)]


@lines("svd")
def _(name: str) -> list[Line]:
    def by(x: Array) -> tuple[Array, Array, Array]:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return s, u, vh.T

    return [line(f(256, 128), numpy=by, rtol=1e-2, full_matrices=False)]


@lines("singular_values")
def _(name: str) -> list[Line]:
    return [line(f(256, 128), numpy=lambda x: np.linalg.svd(x, compute_uv=False), rtol=1e-3)]


@lines("eigh", "eigvalsh")
def _(name: str) -> list[Line]:
    x = f(256, 256)
    of = getattr(np.linalg, name)
    return [line(x + x.T, numpy=lambda x: tuple(of(x)) if name == "eigh" else of(x), rtol=1e-2)]


@lines("eig", "eigvals")
def _(name: str) -> list[Line]:
    of = getattr(np.linalg, name)

    def by(x: Array) -> tuple[Array, ...]:
        found = of(x)
        return tuple(v.astype(np.complex64) for v in (found if name == "eig" else (found,)))

    x = f(128, 128)
    return [line(x, numpy=by, rtol=1e-2)]


@lines("eigh_tridiagonal", "eigvalsh_tridiagonal")
def _(name: str) -> list[Line]:
    of = getattr(scipy.linalg, name)
    return [line(f(256, dtype=np.float64), g(255, dtype=np.float64), numpy=of, rtol=1e-3, select="a", bounds=None)]


@lines("sqrtm")
def _(name: str) -> list[Line]:
    return [line(definite(64, 64), numpy=lambda x: scipy.linalg.sqrtm(x).real.astype(np.float32), rtol=1e-2)]


@lines("logm")
def _(name: str) -> list[Line]:
    return [line(well(64, 64).astype(np.complex64), numpy=lambda x: scipy.linalg.logm(x).astype(np.complex64), rtol=1e-2)]


@lines("bitcast")
def _(name: str) -> list[Line]:
    return [
        line(f(), numpy=lambda x: x.view(np.int32).copy(), dtype=td.int32),
        line(c(), numpy=lambda x: x.copy(), what="the same", dtype=td.complex64),
    ]
