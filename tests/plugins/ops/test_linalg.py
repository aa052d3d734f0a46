"""Linear algebra: values as NumPy's and SciPy's, gradients as finite differences say, shapes and matrices that it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import treadle as td

L = td.linalg
RNG = np.random.default_rng(5)
DTYPES = ["float64", "complex128"]


def normal(*shape, dtype="float64"):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if dtype.startswith("complex") else x


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def positive(*shape, dtype="float64"):
    x = normal(*shape, dtype=dtype)
    return x @ adjoint(x) + 2 * np.eye(shape[-1])


def both(function):
    """The function eagerly and traced."""
    return function, td.function(function)


def check_gradients(function, *arrays, atol=2e-6):
    """The gradients of a function of tensors, eagerly and traced, along random directions."""
    tensors = [td.constant(a) for a in arrays]

    def value(given):
        result = function(*[td.constant(a) for a in given])
        return [r.numpy() for r in (result if isinstance(result, tuple | list) else [result])]

    at = value(arrays)
    cotangents = [normal(*y.shape, dtype=y.dtype.name) for y in at]
    directions = [normal(*a.shape, dtype=a.dtype.name) for a in arrays]
    step = 1e-6
    for run in both(function):
        with td.GradientTape() as tape:
            tape.watch(tensors)
            results = run(*tensors)
        results = list(results) if isinstance(results, tuple | list) else [results]
        gradients = tape.gradient(results, tensors, [td.constant(c) for c in cotangents])
        for i, (gradient, direction) in enumerate(zip(gradients, directions, strict=True)):
            assert gradient.shape == arrays[i].shape
            moved = [value([a + sign * step * direction if j == i else a for j, a in enumerate(arrays)]) for sign in (1, -1)]
            slope = sum((c.conj() * (p - m)).sum().real for c, p, m in zip(cotangents, *moved, strict=True)) / (2 * step)
            found = (gradient.numpy().conj() * direction).sum().real
            np.testing.assert_allclose(found, slope, rtol=1e-4, atol=atol, err_msg=f"input {i}")


# ---------------------------------------------------------------------- diagonals and bands


def dense(diagonals, k, rows, columns, align, padding):
    """The matrix that ``diag`` makes, element by element."""
    low, high = k
    result = np.full((rows, columns), padding, diagonals.dtype)
    longest = diagonals.shape[-1]
    above, below = align.split("_")
    for row, d in enumerate(range(high, low - 1, -1)):
        count = min(rows + min(d, 0), columns - max(d, 0))
        is_left = (d >= 0 and above == "LEFT") or (d <= 0 and below == "LEFT")
        start = 0 if is_left else longest - count
        for n in range(count):
            result[n - min(d, 0), n + max(d, 0)] = diagonals[row, start + n]
    return result


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("k", [(-2, 2), (-1, 0), (1, 2), (-2, -1), (0, 0)])
@pytest.mark.parametrize("size", [(3, 3), (3, 5), (4, 3)])
def test_diagonals_go_in_and_come_out(align, k, size):
    rows, columns = size
    length = min(rows + min(k[1], 0), columns - max(k[0], 0))
    diagonals = np.arange(1.0, (k[1] - k[0] + 1) * length + 1).reshape(-1, length)
    want = dense(diagonals, k, rows, columns, align, 7.0)
    given = diagonals[0] if k[0] == k[1] else diagonals
    made = L.diag(given, k=k, num_rows=rows, num_cols=columns, padding_value=7.0, align=align)
    np.testing.assert_array_equal(made.numpy(), want)
    back = L.diag_part(made, k=k, align=align, padding_value=-1.0).numpy()
    np.testing.assert_array_equal(dense(np.atleast_2d(back), k, rows, columns, align, 7.0), want)
    zeros = L.set_diag(td.fill([rows, columns], td.constant(7.0, "float64")), given, k=k, align=align)
    np.testing.assert_array_equal(zeros.numpy(), want)
    batch = L.diag_part(td.stack([made, made]), k=k, align=align, padding_value=-1.0)
    np.testing.assert_array_equal(batch.numpy()[1], back)


def test_gradients_of_diagonals():
    check_gradients(lambda x: L.diag_part(x, k=(-1, 2)), normal(2, 3, 4))
    check_gradients(lambda x: L.diag(x, k=(-1, 0), padding_value=3.0), normal(2, 4))
    check_gradients(lambda x, d: L.set_diag(x, d, k=(0, 1)), normal(3, 3), normal(2, 3))
    check_gradients(lambda x: L.band_part(x, 1, 0), normal(2, 3, 4))
    check_gradients(L.trace, normal(2, 3, 4))
    check_gradients(L.tensor_diag, normal(2, 2))
    check_gradients(L.tensor_diag_part, normal(2, 3, 2, 3))
    check_gradients(L.adjoint, normal(2, 3, dtype="complex128"))


def test_diagonals_of_sizes_not_known_while_tracing():
    @td.function(input_signature=[td.TensorSpec([None, None])])
    def function(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = L.diag_part(x)
        made = L.diag(x[0], num_rows=td.shape(x)[1])
        return tape.gradient(y, x), made, L.band_part(x, -1, td.constant(0)), L.trace(x), L.tensor_diag(x)

    g, made, band, trace, tensor = function(td.ones([2, 3]))
    np.testing.assert_array_equal(g.numpy(), np.eye(2, 3))
    assert made.shape == (3, 3)
    assert (float(trace), tensor.shape) == (2.0, (2, 3, 2, 3))
    np.testing.assert_array_equal(band.numpy(), np.tril(np.ones((2, 3))))


def test_a_band_hides_nan_and_keeps_every_dtype():
    np.testing.assert_array_equal(L.band_part([[1.0, np.nan], [2.0, 3.0]], -1, 0).numpy(), [[1, 0], [2, 3]])
    for dtype in ("bool", "int8", "bfloat16", "complex64"):
        assert L.band_part(td.cast([[1, 1], [1, 1]], dtype), 0, 0).dtype.name == dtype
        assert L.diag(td.cast([1, 0], dtype)).dtype.name == dtype
        assert L.diag_part(td.cast([[1, 0]], dtype), k=(0, 1)).dtype.name == dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda x: L.diag_part(x, k=3),
        lambda x: L.diag_part(x, k=(-3, 0)),
        lambda x: L.diag_part(x, k=(1, 0)),
        lambda x: L.diag_part(x, align="UP_DOWN"),
        lambda x: L.diag_part(x[0]),
        lambda x: L.diag(x[0], num_rows=2),
        lambda x: L.diag(x, k=(0, 1)),
        lambda x: L.set_diag(x, x),
        lambda x: L.set_diag(x, x[0, :2]),
        lambda x: L.band_part(x, 4, 0),
        lambda x: L.band_part(x[0], 0, 0),
        lambda x: L.trace(x[0]),
        lambda x: L.matrix_transpose(x[0]),
        lambda x: L.tensor_diag(x[0, 0]),
        lambda x: L.tensor_diag_part(x[:2]),
    ],
)
def test_diagonals_that_do_not_fit_are_refused(call):
    for run in both(call):
        with pytest.raises((td.errors.InvalidArgumentError, ValueError)):
            run(td.ones([3, 3]))


# ---------------------------------------------------------------------- norms


@pytest.mark.parametrize("order", ["euclidean", 1, 2, 3.5, np.inf])
def test_norms_of_vectors(order):
    x = normal(3, 4)
    for axis in (None, 0, -1):
        want = np.linalg.norm(x.reshape(-1) if axis is None else x, 2 if order == "euclidean" else order, axis)
        for run in both(lambda t, axis=axis: td.norm(t, order, axis)):
            np.testing.assert_allclose(run(td.constant(x)).numpy(), want)
        assert td.norm(x, order, axis, keepdims=True).shape.rank == 2
    check_gradients(lambda t: td.norm(t, order, 1), x)
    unit, size = L.normalize(x, order, axis=0)
    np.testing.assert_allclose((unit * size).numpy(), x)


def test_integers_are_normalized_to_floats():
    for dtype, floating in (("int16", td.float32), ("int32", td.float64)):
        for run in both(lambda t: L.normalize(t, 1)):
            unit, size = run(td.constant([3, 4], dtype))
            assert (unit.dtype, size.dtype.name) == (floating, dtype)
            np.testing.assert_allclose(unit, [3 / 7, 4 / 7], rtol=1e-6)


@pytest.mark.parametrize("order", ["fro", 1, 2, np.inf])
def test_norms_of_matrices(order):
    x = normal(2, 3, 4)
    for axes in ((-2, -1), [1, 2], (0, 2)):
        np.testing.assert_allclose(td.norm(x, order, axes).numpy(), np.linalg.norm(x, order, tuple(axes)), err_msg=str(axes))
    assert td.norm(x, order, (0, 2), keepdims=True).shape == (1, 3, 1)
    check_gradients(lambda t: td.norm(t, order, (-2, -1)), x)


def test_the_gradient_of_a_norm_at_zero_is_zero():
    x = td.zeros([3])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.norm(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), np.zeros(3))
    check_gradients(td.norm, normal(3, dtype="complex128").astype("complex128"))


@pytest.mark.parametrize(
    ("order", "axis"), [("abc", None), (0, None), (-1, 0), ("fro", 0), (3, (0, 1)), (2, (0, 0)), (2, (0, 1, 2)), (2, [0]), (2, 1.5)]
)
def test_other_norms_are_refused(order, axis):
    with pytest.raises(ValueError, match=r"ord|axis"):
        td.norm(td.ones([2, 2, 2]), order, axis)


# ---------------------------------------------------------------------- systems


@pytest.mark.parametrize("dtype", DTYPES)
def test_systems_and_their_gradients(dtype):
    a, b, s = normal(2, 3, 3, dtype=dtype), normal(2, 3, 2, dtype=dtype), positive(2, 3, 3, dtype=dtype)
    np.testing.assert_allclose(L.inv(a).numpy() @ a, np.broadcast_to(np.eye(3), a.shape), atol=1e-9)
    np.testing.assert_allclose(L.inv(a, adjoint=True).numpy(), adjoint(np.linalg.inv(a)), atol=1e-9)
    np.testing.assert_allclose(L.cholesky(s).numpy(), np.linalg.cholesky(s))
    np.testing.assert_allclose(s @ L.cholesky_solve(L.cholesky(s), b).numpy(), b)
    check_gradients(L.inv, a)
    check_gradients(lambda x: L.cholesky(x + L.adjoint(x)), s)
    check_gradients(L.cholesky_solve, np.linalg.cholesky(s), b)
    for flag in (False, True):
        np.testing.assert_allclose((adjoint(a) if flag else a) @ L.solve(a, b, adjoint=flag).numpy(), b)
        check_gradients(lambda x, y, flag=flag: L.solve(x, y, adjoint=flag), a, b)
        for lower in (False, True):
            triangle = np.tril(a) if lower else np.triu(a)
            solved = L.triangular_solve(a, b, lower=lower, adjoint=flag).numpy()
            np.testing.assert_allclose((adjoint(triangle) if flag else triangle) @ solved, b, atol=1e-8)
            check_gradients(lambda x, y, f=flag, lo=lower: L.triangular_solve(x, y, lower=lo, adjoint=f), a + 3 * np.eye(3), b)
            bands = normal(2, 2, 3, dtype=dtype) + 2
            whole = np.stack([dense(m, (-1, 0) if lower else (0, 1), 3, 3, "LEFT_RIGHT", 0) for m in bands])
            solved = L.banded_triangular_solve(bands, b, lower=lower, adjoint=flag).numpy()
            np.testing.assert_allclose((adjoint(whole) if flag else whole) @ solved, b, atol=1e-8)


def test_systems_broadcast():
    a, b = normal(3, 3) + 3 * np.eye(3), normal(2, 3, 1)
    check_gradients(lambda x, y: L.triangular_solve(x, y), a, b)
    check_gradients(lambda x, y: L.solve(x, y), a, b)


def test_both_kernels_of_triangular_systems_agree():
    from treadle_array.kernels import linear_systems as array
    from treadle_cpu.kernels import linear_systems as cpu

    for dtype in ("float32", "float64", "complex64"):
        a, b = (normal(4, 4, dtype=dtype) + 4 * np.eye(4)).astype(dtype), normal(2, 4, 3, dtype=dtype).astype(dtype)
        for lower in (False, True):
            for flag in (False, True):
                pair = [m.triangular_solve(np)(a, b, lower=lower, adjoint=flag) for m in (array, cpu)]
                np.testing.assert_allclose(*pair, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 5, 3)])
def test_least_squares(dtype, shape):
    a, b = normal(*shape, dtype=dtype), normal(*shape[:-1], 2, dtype=dtype)
    want = np.linalg.pinv(a) @ b
    np.testing.assert_allclose(L.lstsq(a, b).numpy(), want, atol=1e-7)
    np.testing.assert_allclose(L.lstsq(a, b, fast=False).numpy(), want, atol=1e-9)
    np.testing.assert_allclose(L.pinv(a).numpy(), np.linalg.pinv(a), atol=1e-9)
    check_gradients(lambda x, y: L.lstsq(x, y, l2_regularizer=0.3), a, b)
    check_gradients(L.pinv, a)


def of_values(rows, columns, *values, dtype="float64"):
    """A matrix of given singular values."""
    u, v = (np.linalg.qr(normal(n, len(values), dtype=dtype))[0] for n in (rows, columns))
    return u @ np.diag(values) @ adjoint(v)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
def test_the_gradient_of_a_pseudo_inverse_knows_what_was_cut(dtype, shape):
    a = of_values(*shape, 4.56, 2.42, 0.95, dtype=dtype)
    for rcond in (0.5, 0.3, np.float64(0.1)):
        check_gradients(lambda x, r=rcond: L.pinv(x, r), a)
    check_gradients(lambda x: L.pinv(x, [0.5, 0.1]), np.stack([a, 2 * a]))
    check_gradients(lambda x: L.pinv(x, [0.5, 0.1]), a)


def test_the_second_gradient_of_a_pseudo_inverse_with_values_cut(check_gradient):
    check_gradient(lambda x: L.pinv(x, 0.5), of_values(4, 3, 4.56, 2.42, 0.95), atol=1e-6)
    check_gradient(lambda x: L.pinv(x, 0.5), of_values(2, 3, 4.56, 0.95), atol=1e-6)


def test_the_second_gradient_of_a_pseudo_inverse_with_equal_values(check_gradient):
    check_gradient(L.pinv, np.eye(3), atol=1e-6)


def test_matrices_without_inverse_or_factor_are_refused():
    singular = td.constant([[1.0, 2.0], [2.0, 4.0]])
    for call in (L.inv, lambda x: L.solve(x, td.ones([2, 1])), L.lu):
        for run in both(call):
            with pytest.raises(td.errors.InvalidArgumentError, match="not invertible"):
                run(td.zeros([2, 2]))
    with pytest.raises(td.errors.InvalidArgumentError, match="not successful"):
        L.cholesky([[1.0, 2.0], [2.0, 1.0]])
    assert float(L.det(singular)) == 0
    assert np.isinf(L.triangular_solve([[0.0, 0.0], [1.0, 1.0]], [[1.0], [1.0]]).numpy()).all()


@pytest.mark.parametrize(
    "call",
    [
        L.inv,
        L.cholesky,
        L.det,
        L.slogdet,
        L.logdet,
        L.eigh,
        L.eigvalsh,
        L.eig,
        L.eigvals,
        L.lu,
        L.expm,
        L.sqrtm,
        lambda x: L.solve(x, x),
        lambda x: L.triangular_solve(x, x),
        lambda x: L.svd(x[0]),
        lambda x: L.qr(x[0]),
        lambda x: L.pinv(x[0]),
        lambda x: L.matrix_rank(x[0]),
        lambda x: L.matvec(x, x[0, :2]),
        lambda x: L.lstsq(x, td.ones([3, 1])),
        lambda x: L.solve(td.eye(2), td.ones([3, 1])),
        lambda x: L.solve(td.eye(2), td.ones([2])),
        lambda x: L.tridiagonal_solve(x, td.ones([2])),
        lambda x: L.cross(x[:, :2], x[:, :2]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call):
    for run in both(call):
        with pytest.raises(td.errors.InvalidArgumentError) as caught:
            run(td.ones([2, 3]))
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("call", [L.inv, L.det, L.cholesky, L.svd, L.qr, L.eigh, L.expm, L.pinv, lambda x: td.norm(x)])
def test_integers_are_refused(call):
    with pytest.raises(TypeError):
        call(td.eye(2, dtype="int32"))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_matrices_without_elements(shape):
    x = td.zeros(shape)
    for call in (L.inv, L.cholesky, L.expm, L.sqrtm, L.eigvalsh, L.eigvals, L.det, L.slogdet, L.svd, L.qr, L.lu, L.pinv, L.eigh, L.eig):
        call(x)
    np.testing.assert_array_equal(L.det(x).numpy(), np.ones(shape[:-2]))
    s, u, v = L.svd(td.zeros([0, 3]), full_matrices=True)
    assert (s.shape, u.shape, v.shape) == ((0,), (0, 0), (3, 3))
    assert L.solve(td.zeros([0, 0]), td.zeros([0, 2])).shape == (0, 2)


# ---------------------------------------------------------------------- determinants


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinants(dtype):
    a, s = normal(2, 3, 3, dtype=dtype), positive(2, 3, 3, dtype=dtype)
    np.testing.assert_allclose(L.det(a).numpy(), np.linalg.det(a))
    sign, size = L.slogdet(a)
    assert sign.dtype is size.dtype
    np.testing.assert_allclose((sign * td.exp(size)).numpy(), np.linalg.det(a))
    np.testing.assert_allclose(L.logdet(s).numpy(), np.log(np.linalg.det(s).real))
    check_gradients(L.det, a)
    check_gradients(lambda x: td.math.real(L.slogdet(x).log_abs_determinant), a)
    check_gradients(lambda x: L.logdet(x + L.adjoint(x)), s)


def test_the_gradient_of_the_determinant_of_a_singular_matrix():
    for a in (np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros((2, 2)), np.diag([0.0, 2.0, 3.0]), np.diag([0.0, 0.0, 3.0])):
        check_gradients(L.det, a)
    x = td.constant(normal(3, 3))
    with td.GradientTape() as outer:
        outer.watch(x)
        with td.GradientTape() as inner:
            inner.watch(x)
            y = L.det(x)
        g = td.reduce_sum(inner.gradient(y, x) ** 2)
    found = outer.gradient(g, x).numpy()
    cofactors = lambda m: np.linalg.det(m) * np.linalg.inv(m).T  # noqa: E731
    step = normal(3, 3)
    slope = ((cofactors(x.numpy() + 1e-6 * step) ** 2).sum() - (cofactors(x.numpy() - 1e-6 * step) ** 2).sum()) / 2e-6
    np.testing.assert_allclose((found * step).sum(), slope, rtol=1e-5)


# ---------------------------------------------------------------------- decompositions


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 4, 3)])
def test_singular_values(dtype, shape):
    a = normal(*shape, dtype=dtype)
    s, u, v = L.svd(a)
    np.testing.assert_allclose((u * td.cast(s[..., None, :], dtype)).numpy() @ adjoint(v.numpy()), a, atol=1e-9)
    np.testing.assert_allclose(L.svd(a, compute_uv=False).numpy(), np.linalg.svd(a, compute_uv=False))
    _, u, v = L.svd(a, full_matrices=True)
    np.testing.assert_allclose(adjoint(u.numpy()) @ u.numpy(), np.broadcast_to(np.eye(shape[-2]), u.shape), atol=1e-9)
    assert v.shape[-1] == shape[-1]
    check_gradients(lambda x: L.svd(x, compute_uv=False), a)

    def invariant(x):
        s, u, v = L.svd(x)
        weights = td.cast(td.range(1, s.shape[-1] + 1), dtype)
        return s, td.matmul(u * weights, u, adjoint_b=True), td.matmul(u * weights, v, adjoint_b=True)

    check_gradients(invariant, a)
    assert L.matrix_rank(a).dtype is td.int32
    np.testing.assert_array_equal(L.matrix_rank(a).numpy(), np.linalg.matrix_rank(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 3, 5)])
def test_qr(dtype, shape):
    a = normal(*shape, dtype=dtype)
    q, r = L.qr(a)
    np.testing.assert_allclose(q.numpy() @ r.numpy(), a, atol=1e-9)
    np.testing.assert_allclose(np.tril(r.numpy(), -1), 0)
    assert L.qr(a, full_matrices=True).q.shape[-1] == shape[-2]
    check_gradients(lambda x: [td.abs(y) for y in L.qr(x)], a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(dtype):
    from treadle_array.kernels import factorizations as array

    a, b = normal(2, 3, 3, dtype=dtype), normal(2, 3, 2, dtype=dtype)
    factors, order = L.lu(a, output_idx_type=td.int64)
    assert order.dtype is td.int64
    np.testing.assert_allclose(L.lu_reconstruct(factors, order).numpy(), a, atol=1e-9)
    np.testing.assert_allclose(a @ L.lu_solve(factors, order, b).numpy(), b, atol=1e-8)
    np.testing.assert_allclose(L.lu_matrix_inverse(factors, order).numpy(), np.linalg.inv(a), atol=1e-8)
    check_gradients(lambda x: L.lu_reconstruct(x, order), factors.numpy())
    check_gradients(lambda x, y: L.lu_solve(x, order, y), factors.numpy(), b)
    also, same = array.lu(np)(a, output_idx_type=td.int64)
    np.testing.assert_allclose(also, factors.numpy())
    np.testing.assert_array_equal(same, order.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_hermitian_eigenvalues(dtype):
    a = positive(2, 3, 3, dtype=dtype)
    e, v = L.eigh(a)
    assert e.dtype.name == dtype
    np.testing.assert_allclose(e.numpy(), np.linalg.eigvalsh(a))
    np.testing.assert_allclose(L.eigvalsh(a).numpy(), np.linalg.eigvalsh(a))
    np.testing.assert_allclose((v * e[..., None, :]).numpy() @ adjoint(v.numpy()), a, atol=1e-9)
    check_gradients(lambda x: td.math.real(L.eigvalsh(x + L.adjoint(x))), a)

    def invariant(x):
        e, v = L.eigh(x + L.adjoint(x))
        return td.matmul(v * td.cast([1, 2, 3], dtype), v, adjoint_b=True), td.math.real(e)

    check_gradients(invariant, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues_of_general_matrices(dtype):
    a = normal(2, 3, 3, dtype=dtype)
    e, v = L.eig(a)
    np.testing.assert_allclose(a @ v.numpy(), v.numpy() * e.numpy()[..., None, :], atol=1e-9)
    np.testing.assert_allclose(np.sort_complex(td.eigvals(a).numpy()), np.sort_complex(np.linalg.eigvals(a)), atol=1e-9)
    assert td.eig is L.eig
    check_gradients(lambda x: td.reduce_sum(L.eigvals(x) ** 3, -1), a, atol=1e-4)

    def invariant(x):
        e, v = L.eig(x)
        return td.matmul(v * (e**2)[..., None, :], L.inv(v))

    check_gradients(invariant, a, atol=1e-4)


# ---------------------------------------------------------------------- functions of matrices


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_matrices(dtype):
    a, s = normal(2, 3, 3, dtype=dtype), positive(2, 3, 3, dtype=dtype)
    for scale in (1e-3, 1.0, 20.0):
        np.testing.assert_allclose(L.expm(scale * a).numpy(), scipy.linalg.expm(scale * a), rtol=1e-8, atol=1e-10 * np.exp(4 * scale))
    root = L.sqrtm(s).numpy()
    np.testing.assert_allclose(root @ root, s, atol=1e-9)
    np.testing.assert_allclose(L.expm(L.logm(td.cast(s, "complex128"))).numpy(), s, atol=1e-8)
    check_gradients(L.expm, a, atol=1e-5)
    check_gradients(L.sqrtm, s)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 5, 5), (9, 5, 5), (60, 60), (2, 50, 50), (0, 4, 4), (2, 0, 0)])
def test_exponentials_of_short_floats_are_those_in_double_precision(dtype, shape):
    kind = getattr(td, dtype)
    wide = normal(*shape, dtype="complex128" if dtype == "complex64" else "float64") / max(1, shape[-1])
    a = td.cast(wide, kind)
    got, want = L.expm(a), L.expm(td.cast(a, wide.dtype))
    assert got.dtype == kind and got.shape == shape
    np.testing.assert_allclose(td.cast(got, wide.dtype), want, rtol=float(np.finfo(np.float32).eps) if kind.size >= 4 else 0.01, atol=1e-6)


@pytest.mark.parametrize("columns", [10, 48])
def test_exponentials_keep_their_digits_where_entries_are_large(columns):
    a = np.triu(20.0 * np.random.default_rng(1).normal(size=(columns, columns)), 1)  # nilpotent: the series ends
    exact, term = np.eye(columns, dtype=np.longdouble), np.eye(columns, dtype=np.longdouble)
    for k in range(1, columns):
        term = term @ a.astype(np.longdouble) / k
        exact = exact + term
    assert np.abs(L.expm(a).numpy() - exact).max() <= 1e-12 * np.abs(exact).max()


def test_exponentials_beyond_the_range_are_infinite_and_others_in_the_batch_are_right():
    a = np.zeros((3, 2, 2), np.float32)
    a[0], a[1, 0, 0] = 3e38, np.nan
    got = L.expm(a).numpy()
    assert np.isinf(got[0]).all() and np.isnan(got[1]).all() and (got[2] == np.eye(2)).all()


def test_real_matrices_without_a_real_root_give_nan():
    assert np.isnan(L.sqrtm([[-1.0, 0.0], [0.0, -4.0]]).numpy()).all()
    assert np.isnan(L.expm([[np.nan, 0.0], [0.0, 1.0]]).numpy()).all()
    with pytest.raises(TypeError):
        L.logm(td.eye(2))


# ---------------------------------------------------------------------- tridiagonal matrices


@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_matrices(dtype):
    from treadle_array.kernels import tridiagonal as array

    rows, b = normal(2, 3, 4, dtype=dtype), normal(2, 4, 2, dtype=dtype)
    whole = np.stack([dense(m, (-1, 1), 4, 4, "LEFT_RIGHT", 0) for m in rows])
    np.testing.assert_allclose(L.tridiagonal_matmul(rows, b).numpy(), whole @ b)
    solved = L.tridiagonal_solve(rows, b).numpy()
    np.testing.assert_allclose(whole @ solved, b, atol=1e-8)
    np.testing.assert_allclose(array.tridiagonal_solve(np)(rows, b), solved)
    forms = {"matrix": whole, "sequence": (rows[:, 0, :-1], rows[:, 1], rows[:, 2, 1:])}
    for form, value in forms.items():
        np.testing.assert_allclose(L.tridiagonal_solve(value, b, diagonals_format=form).numpy(), solved)
        np.testing.assert_allclose(L.tridiagonal_matmul(value, b, diagonals_format=form).numpy(), whole @ b)
    vector = L.tridiagonal_solve(rows, b[..., 0], conjugate_rhs=True).numpy()
    np.testing.assert_allclose(whole @ vector[..., None], b[..., :1].conj(), atol=1e-8)
    np.testing.assert_allclose(L.tridiagonal_solve(rows, np.swapaxes(b, -1, -2), transpose_rhs=True).numpy(), solved)
    check_gradients(L.tridiagonal_solve, rows + np.array([0, 4, 0])[:, None], b)
    check_gradients(L.tridiagonal_matmul, rows, b)
    with pytest.raises(td.errors.InvalidArgumentError, match="not invertible"):
        L.tridiagonal_solve(np.zeros((3, 4)), np.ones(4))


def test_tridiagonal_eigenvalues():
    from treadle_array.kernels import eigenvalues as array

    alpha, beta = normal(5), normal(4, dtype="complex128")
    whole = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta.conj(), -1)
    want = np.linalg.eigvalsh(whole)
    values, vectors = L.eigh_tridiagonal(alpha.astype("complex128"), beta, eigvals_only=False)
    np.testing.assert_allclose(values.numpy(), want)
    np.testing.assert_allclose(whole @ vectors.numpy(), vectors.numpy() * want, atol=1e-9)
    real = np.abs(beta)
    np.testing.assert_allclose(L.eigh_tridiagonal(alpha, real, select="i", select_range=(1, 3)).numpy(), want[1:4])
    inside = (want > -0.5) & (want <= 1.0)
    np.testing.assert_allclose(td.function(lambda: L.eigh_tridiagonal(alpha, real, select="v", select_range=(-0.5, 1.0)))().numpy(), want[inside])
    np.testing.assert_allclose(array.eigvalsh_tridiagonal(np)(alpha, real, select="v", bounds=(-0.5, 1.0)), want[inside])
    for select, bounds in (("q", None), ("i", (3, 1)), ("v", (1.0, 0.0)), ("i", None)):
        with pytest.raises(ValueError, match="select"):
            L.eigh_tridiagonal(alpha, real, select=select, select_range=bounds)


# ---------------------------------------------------------------------- the rest


def test_vectors():
    a, b = normal(2, 3), normal(2, 3)
    np.testing.assert_allclose(L.cross(a, b).numpy(), np.cross(a, b))
    check_gradients(L.cross, a, b)
    m = normal(2, 4, 3, dtype="complex128")
    np.testing.assert_allclose(L.matvec(m, normal(3, dtype="complex128") * 0 + 1).numpy(), m.sum(-1))
    check_gradients(lambda x, y: L.matvec(x, y, adjoint_a=True), m, normal(2, 4, dtype="complex128"))
    with pytest.raises(ValueError, match="Only one"):
        L.matvec(m, b, transpose_a=True, adjoint_a=True)


def test_a_product_with_its_own_transpose_has_the_bits_of_any_other():
    x = normal(40, 30).astype("float32")
    same, other = td.constant(x), td.constant(x)
    np.testing.assert_array_equal(td.matmul(same, same, transpose_b=True).numpy(), td.matmul(same, other, transpose_b=True).numpy())
    np.testing.assert_array_equal(td.einsum("ij,kj->ik", same, same).numpy(), td.einsum("ij,kj->ik", same, other).numpy())


def test_shapes_not_known_while_tracing_come_out_right():
    @td.function(input_signature=[td.TensorSpec([None, None, None], td.float64)])
    def function(x):
        square = td.matmul(x, x, adjoint_a=True)
        return (
            L.svd(x, compute_uv=False),
            L.qr(x).r,
            L.inv(square),
            L.cholesky(square),
            L.eigvalsh(square),
            L.pinv(x),
            L.matrix_rank(x),
            L.det(square),
        )

    shapes = [(2, 3), (2, 3, 3), (2, 3, 3), (2, 3, 3), (2, 3), (2, 3, 4), (2,), (2,)]
    assert [r.shape for r in function(normal(2, 4, 3))] == shapes


@pytest.mark.parametrize("function", [L.inv, L.cholesky, L.sqrtm, L.expm, L.logm])
def test_square_matrices_have_as_many_rows_as_columns_while_tracing(shape_while_tracing, function):
    for shape, want in (([None, 3], (3, 3)), ([3, None], (3, 3)), ([2, None, None, 3], (2, None, 3, 3)), (None, None)):
        assert shape_while_tracing(function, shape, dtypes=["complex64"]) == want


def test_sizes_that_must_be_equal_are_known_while_tracing_if_one_is(shape_while_tracing):
    assert shape_while_tracing(L.lu, [None, 3]) == [(3, 3), (3,)]
    assert shape_while_tracing(L.eigh, [2, 3, None]) == [(2, 3), (2, 3, 3)]
    assert shape_while_tracing(L.eig, [None, 3]) == [(3,), (3, 3)]
    assert shape_while_tracing(L.eigvalsh, [None, 3]) == (3,)
    for solve in (L.solve, L.triangular_solve, L.cholesky_solve):
        assert shape_while_tracing(solve, [None, None], [3, 2]) == (3, 2)
        assert shape_while_tracing(solve, [2, None, 3], [None, None, 2]) == (2, 3, 2)
    assert shape_while_tracing(L.tridiagonal_solve, [3, None], [5, 2]) == (5, 2)
