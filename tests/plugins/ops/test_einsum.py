"""Einstein summation and tensordot: values as NumPy's, gradients as finite differences say."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

RNG = np.random.default_rng(3)
EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
    ("bhqd,bhkd->bhqk", (1, 2, 3, 4), (1, 2, 5, 4)),
    ("...ij,...jk->...ik", (2, 2, 3), (1, 3, 4)),
    ("...i,...->i...", (4, 2, 3), (2,)),
    ("i...,i->...", (3, 2), (3,)),
    ("bi,bi->b", (4, 3), (4, 3)),
    ("bi,bi->bi", (4, 3), (4, 3)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij,ji->", (2, 3), (3, 2)),
    ("i,j->ij", (2,), (3,)),
    ("i,j->ji", (2,), (3,)),
    ("abc,cd->abd", (2, 3, 4), (4, 5)),
    ("abcd,bcde->ae", (2, 3, 2, 2), (3, 2, 2, 4)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii->", (3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("iij,jk->ik", (2, 2, 3), (3, 2)),
    ("ijk,l->i", (2, 3, 2), (4,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("a,ab,bc,cd->d", (2,), (2, 3), (3, 4), (4, 2)),
    ("i,->i", (3,), ()),
    (",->", (), ()),
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("ij,jk->ik", (0, 2), (2, 3)),
]


def operands(shapes, dtype="float64"):
    arrays = [RNG.normal(size=s) + (1j * RNG.normal(size=s) if dtype.startswith("complex") else 0) for s in shapes]
    return [np.asarray(a).astype(dtype) for a in arrays]


@pytest.mark.parametrize("case", EQUATIONS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_values_and_gradients(case, dtype):
    equation, *shapes = case
    arrays = operands(shapes, dtype)
    want = np.einsum(equation, *arrays)
    cotangent = operands([want.shape], dtype)[0]
    tensors = [td.constant(a) for a in arrays]
    for run in (lambda *xs: td.einsum(equation, *xs), td.function(lambda *xs: td.einsum(equation, *xs))):
        with td.GradientTape() as tape:
            tape.watch(tensors)
            got = run(*tensors)
        np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
        for i, gradient in enumerate(tape.gradient(got, tensors, td.constant(cotangent))):
            step = operands([shapes[i]], dtype)[0]
            moved = [[a + sign * 1e-6 * step if j == i else a for j, a in enumerate(arrays)] for sign in (1, -1)]
            slope = (np.einsum(equation, *moved[0]) - np.einsum(equation, *moved[1])) / 2e-6
            np.testing.assert_allclose((gradient.numpy().conj() * step).sum().real, (cotangent.conj() * slope).sum().real, atol=1e-7)


def test_a_gradient_has_gradients():
    a, b = (td.constant(x) for x in operands([(2, 3), (3, 2)]))
    with td.GradientTape() as outer:
        outer.watch(b)
        with td.GradientTape() as inner:
            inner.watch(a)
            y = td.reduce_sum(td.einsum("ij,ji->i", a, b) ** 2)
        first = inner.gradient(y, a)
        total = td.reduce_sum(first)
    numeric = np.zeros((3, 2))
    for index in np.ndindex(3, 2):
        for sign in (1, -1):
            moved = b.numpy()
            moved[index] += sign * 1e-6
            diagonal = np.einsum("ij,ji->i", a.numpy(), moved)
            numeric[index] += sign * (2 * diagonal[:, None] * moved.T).sum() / 2e-6
    np.testing.assert_allclose(outer.gradient(total, b).numpy(), numeric, atol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int8", "float16", "bfloat16", "float32"])
def test_every_numeric_dtype(dtype):
    a, b = td.cast([[1, 2], [3, 4]], dtype), td.cast([[1, 0], [2, 1]], dtype)
    got = td.einsum("ij,jk->ik", a, b)
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(got.numpy().astype(np.float64), [[5, 2], [11, 4]])


def test_short_floats_are_summed_in_float32():
    ones = td.ones([4096], "float16")
    assert float(td.einsum("i,i->", ones, ones)) == 4096
    assert float(td.einsum("i->", ones)) == 4096


def test_sizes_that_are_not_known_while_tracing():
    @td.function(input_signature=[td.TensorSpec([None, None, 3]), td.TensorSpec([None, 3, None])])
    def product(a, b):
        with td.GradientTape() as tape:
            tape.watch(a)
            y = td.einsum("bij,bjk->bik", a, b)
        assert y.shape.as_list() == [None, None, None]
        return y, tape.gradient(y, a), td.einsum("bij->j", a)

    y, g, s = product(td.ones([2, 4, 3]), td.ones([2, 3, 5]))
    assert (y.shape, g.shape, s.shape) == ((2, 4, 5), (2, 4, 3), (3,))
    np.testing.assert_array_equal(g.numpy(), np.full((2, 4, 3), 5.0))
    with pytest.raises(td.errors.InvalidArgumentError, match="sizes 2 and 1"):
        product(td.ones([2, 4, 3]), td.ones([1, 3, 5]))


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ij,jk->ik", [(2, 3), (4, 4)], "sizes 3 and 4"),
        ("ij,jk->ik", [(2, 1), (3, 4)], "sizes 1 and 3"),
        ("ij,jk->iz", [(2, 3), (3, 4)], "'z' not present"),
        ("ijk->i", [(2, 3)], "rank 3 but got: 2"),
        ("...ijk->...", [(2, 3)], "at least 3"),
        ("ij,jk->ik", [(2, 3)], "2 operands, and 1"),
        ("ij->ii", [(2, 3)], "more than once"),
        ("i.j->ij", [(2, 3)], "incorrect format"),
        ("ij->i->j", [(2, 3)], "incorrect format"),
        ("1j->j", [(2, 3)], "incorrect format"),
        ("...i->i", [(2, 3)], "ellipsis"),
        ("iij->ij", [(2, 3, 2)], "sizes 2 and 3"),
    ],
)
def test_what_is_no_equation_says_so(equation, shapes, words):
    tensors = [td.zeros(s) for s in shapes]
    for run in (lambda *xs: td.einsum(equation, *xs), td.function(lambda *xs: td.einsum(equation, *xs))):
        with pytest.raises(ValueError, match=words):
            run(*tensors)


def test_other_arguments_are_refused():
    with pytest.raises(TypeError, match="foo"):
        td.einsum("ij->ji", td.zeros([1, 1]), foo=1)
    with pytest.raises(TypeError, match="dtype"):
        td.einsum("i,i->", td.zeros([1]), td.zeros([1], "float64"))
    assert td.einsum("ij->ji", td.zeros([1, 2]), optimize="greedy").shape == (2, 1)


@pytest.mark.parametrize("axes", [0, 1, 2, [[0], [1]], [[1, 0], [0, 1]], [-1, -2], [[], []]])
def test_tensordot_is_numpys(axes):
    a, b = operands([(3, 3), (3, 3)])
    for run in (td.tensordot, td.function(lambda x, y: td.tensordot(x, y, axes))):
        got = run(td.constant(a), td.constant(b), axes) if run is td.tensordot else run(td.constant(a), td.constant(b))
        np.testing.assert_allclose(got.numpy(), np.tensordot(a, b, axes), atol=1e-12)


@pytest.mark.parametrize("axes", [3, [[0], [0, 1]], [5, 0], [[0, 0], [0, 1]], -1])
def test_tensordot_refuses_other_axes(axes):
    with pytest.raises(ValueError, match="ax"):
        td.tensordot(td.zeros([2, 3]), td.zeros([3, 2]), axes)
    with pytest.raises(ValueError, match="sizes"):
        td.tensordot(td.zeros([2, 3]), td.zeros([2, 3]), 1)
