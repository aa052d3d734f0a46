"""Functions whose way depends on a rank or a size give the same when neither is known while tracing: values, gradients and theirs."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError, UnimplementedError

L, S = td.linalg, td.signal


def f(*shape):
    return np.random.default_rng(len(shape) + sum(shape)).uniform(0.5, 2.0, shape)


def well(*shape):
    """Square matrices far from singular."""
    return f(*shape) + 4 * np.eye(shape[-1])


ROWS = np.int32([0, 2])
DIAGONALS = f(2, 3, 4)
DIAGONALS[:, 1] += 5
IMAGE, IMAGES = f(4, 6, 3), f(2, 4, 6, 3)

CALLS = {
    "tensordot": (lambda a, b: td.tensordot(a, b, 1), f(2, 3), f(3, 4)),
    "tensordot of pairs": (lambda a, b: td.tensordot(a, b, [[-1, 1], [0, 1]]), f(2, 3, 4), f(4, 3, 5)),
    "tensordot of one pair": (lambda a, b: td.tensordot(a, b, [0, -1]), f(2, 3), f(4, 2)),
    "outer product": (lambda a, b: td.tensordot(a, b, 0), f(2), f(3)),
    "einsum": (lambda a, b: td.einsum("...ij,...jk->...ik", a, b), f(2, 2, 3), f(1, 3, 4)),
    "einsum of ranks that differ": (lambda a, b: td.einsum("i...j,j...->...i", a, b), f(2, 5, 3), f(3, 4, 1)),
    "einsum without an arrow": (lambda a, b: td.einsum("...b,ab", a, b), f(2, 3), f(4, 3)),
    "einsum of three": (lambda a, b, c: td.einsum("...i,ij,j...->...", a, b, c), f(2, 3), f(3, 4), f(4, 2)),
    "einsum whose ellipsis is empty": (lambda a, b: td.einsum("...i,i->", a, b), f(3), f(3)),
    "tensor_diag": (L.tensor_diag, f(2, 3)),
    "tensor_diag_part": (L.tensor_diag_part, f(2, 3, 2, 3)),
    "banded_triangular_solve": (L.banded_triangular_solve, f(2, 2, 4) + 1, f(4, 2)),
    "banded_triangular_solve, upper": (lambda a, b: L.banded_triangular_solve(a, b, lower=False, adjoint=True), f(3, 4) + 2, f(4, 2)),
    "tridiagonal_solve": (L.tridiagonal_solve, DIAGONALS, f(2, 4, 2)),
    "tridiagonal_solve of vectors": (L.tridiagonal_solve, DIAGONALS, f(2, 4)),
    "tridiagonal_solve of rows": (lambda a, b, c, x: L.tridiagonal_solve((a, b, c), x, "sequence"), f(3), f(4) + 5, f(4), f(4)),
    "tridiagonal_matmul": (L.tridiagonal_matmul, f(3, 4), f(4, 2)),
    "lstsq of many rows": (L.lstsq, f(5, 2), f(5, 1)),
    "lstsq of many columns": (lambda a, b: L.lstsq(a, b, 0.5), f(2, 2, 4), f(2, 2, 1)),
    "lu_solve": (lambda a, b: L.lu_solve(a, [[1, 0], [0, 1]], b), well(2, 2, 2), f(2, 1)),
    "lu_reconstruct": (lambda a: L.lu_reconstruct(a, [1, 0, 2]), well(3, 3)),
    "lu_matrix_inverse": (lambda a: L.lu_matrix_inverse(a, [1, 0, 2]), well(3, 3)),
    "qr of many rows": (lambda a: L.qr(a), f(4, 2)),
    "qr of many columns": (lambda a: L.qr(a, full_matrices=True), f(2, 2, 4)),
    "sqrtm": (L.sqrtm, well(2, 2, 2)),
    "spectral norm": (lambda a: td.norm(a, 2, [-1, 0]), f(3, 2, 4)),
    "spectral norm, axes kept": (lambda a: td.norm(a, 2, [0, 1], keepdims=True), f(3, 4, 2)),
    "sort": (lambda x: td.sort(x, 0), f(4, 3)),
    "linspace": (lambda a, b: td.linspace(a, b, 4, axis=1), f(2, 3), f(2, 1)),
    "segment_mean": (lambda x: td.math.segment_mean(x, [0, 0, 1]), f(3, 2, 2)),
    "unsorted_segment_mean": (lambda x: td.math.unsorted_segment_mean(x, [1, 0, 1], 3), f(3, 2)),
    "unsorted_segment_prod": (lambda x: td.math.unsorted_segment_prod(x, [[1, 0], [1, 1]], 3), f(2, 2, 3)),
    "embedding_lookup": (lambda x: td.nn.embedding_lookup(x, ROWS, max_norm=0.5), f(4, 3)),
    "softmax_cross_entropy": (lambda p, x: td.nn.softmax_cross_entropy_with_logits(td.nn.softmax(p, 1), x, axis=1), f(2, 3, 2), f(2, 3, 2)),
    "fftshift": (S.fftshift, f(4, 3)),
    "ifftshift": (S.ifftshift, f(5)),
    "convolution": (lambda x, w: td.nn.convolution(x, w, dilations=[2, 1]), f(1, 6, 5, 2), f(2, 2, 2, 3)),
    "convolution, channels first": (lambda x, w: td.nn.convolution(x, w, padding="SAME", data_format="NCW"), f(1, 2, 6), f(3, 2, 2)),
    "max_pool over channels": (lambda x: td.nn.max_pool2d(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"), f(1, 3, 3, 4)),
    "rfftnd over first axes": (lambda x: td.abs(S.rfftnd(x, [4, 4], [0, 1])), f(3, 4)),
    "dropout": (lambda x: td.nn.experimental.stateless_dropout(x, 0.5, [1, 2], noise_shape=[None, 1]), f(3, 4)),
    "transpose": (td.image.transpose, IMAGE),
    "transpose of a batch": (td.image.transpose, IMAGES),
    "rot90": (td.image.rot90, IMAGE),
    "rot90 of a batch": (lambda x: td.image.rot90(x, 3), IMAGES),
    "central_crop": (lambda x: td.image.central_crop(x, 0.5), IMAGE),
    "resize_with_crop_or_pad": (lambda x: td.image.resize_with_crop_or_pad(x, 6, 3), IMAGES),
    "random flip": (lambda x: td.image.stateless_random_flip_left_right(x, (1, 2)), IMAGE),
    "random flip of a batch": (lambda x: td.image.stateless_random_flip_up_down(x, (1, 3)), IMAGES),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_those_of_known_ranks(name):
    fn, *arrays = CALLS[name]
    td.testing.check_gradient(fn, *arrays)


def test_resizing_follows_a_rank_known_only_at_run_time(every_mode):
    for images in (IMAGE, IMAGES):
        small, framed = every_mode(lambda x: (td.image.resize(x, [3, 2]), td.image.resize_with_pad(x, 6, 5)), images.astype(np.float32))
        assert small.shape == (*images.shape[:-3], 3, 2, 3) and framed.shape == (*images.shape[:-3], 6, 5, 3)


def run_time(fn, *arrays):
    """The function traced on tensors of which nothing is known but the dtype, and called."""
    tensors = [td.constant(a) for a in arrays]
    return td.function(fn, input_signature=[td.TensorSpec(None, t.dtype) for t in tensors], autograph=False)(*tensors)


@pytest.mark.parametrize(
    ("fn", "arrays", "error", "text"),
    [
        (lambda a, b: td.tensordot(a, b, 2), (f(2, 3), f(3, 2)), InvalidArgumentError, "sizes of axes"),
        (lambda a, b: td.tensordot(a, b, 3), (f(2, 3), f(3, 2)), InvalidArgumentError, "axis"),
        (lambda a: td.einsum("...ij->...ji", a), (f(2),), ShapeError, "rank"),
        (lambda a: td.einsum("...ij->ji", a), (f(2, 2, 2),), ShapeError, "rank"),
        (L.tensor_diag_part, (f(2, 3, 3, 2),), InvalidArgumentError, "halves"),
        (L.tensor_diag, (f(),), InvalidArgumentError, "rank 1"),
        (td.image.transpose, (f(2, 3),), ShapeError, "rank 3 or 4"),
        (lambda a, b: L.tridiagonal_solve(a, b, transpose_rhs=True), (f(3, 4), f(2, 4)), ShapeError, "rank"),
        (lambda a: L.lu_reconstruct(a, [0, 1]), (f(2, 3),), ShapeError, "square"),
    ],
)
def test_what_does_not_fit_is_refused_when_the_graph_runs(fn, arrays, error, text):
    with pytest.raises(error, match=text):
        run_time(fn, *arrays)


def test_the_gradient_of_a_full_qr_of_many_rows_is_refused_when_the_graph_runs():
    def gradient(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            q, r = L.qr(x, full_matrices=True)
        return tape.gradient((q, r), x)

    with pytest.raises(UnimplementedError, match=r"full_matrices for shape \(3, 2\)"):
        run_time(gradient, f(3, 2))
    assert run_time(gradient, f(2, 3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (lambda x: td.nn.max_pool(x, 2, 2, "VALID"), "data_format"),
        (lambda x: td.nn.convolution(x, x), "data_format"),
        (td.unstack, "num"),
        (S.fftnd, "axes"),
    ],
)
def test_what_must_be_known_is_said(fn, text):
    with pytest.raises(InvalidArgumentError, match=text):
        run_time(fn, f(2, 2, 2, 2).astype(np.complex64) if fn is S.fftnd else f(2, 2, 2, 2))
