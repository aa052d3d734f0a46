"""Matrix products and what is written with them."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.casting import cast
from treadle_ops.elementwise import conj
from treadle_ops.inference import NUMERIC, same_dtype


@op("matmul")
def matmul_op(a: Spec, b: Spec, *, transpose_a: bool = False, transpose_b: bool = False) -> Spec:
    """Matrix product over the last two axes; leading axes broadcast."""
    dtype = same_dtype(a, b, kinds=NUMERIC)
    for spec, what in ((a, "a"), (b, "b")):
        if spec.dims is not None and len(spec.dims) < 2:
            raise ShapeError(f"matmul: {what} has rank {len(spec.dims)} (shape {spec.shape}); both inputs need rank 2 or more")
    if a.dims is None or b.dims is None:
        return Spec(None, dtype)
    m, k = reversed(a.dims[-2:]) if transpose_a else a.dims[-2:]
    k2, n = reversed(b.dims[-2:]) if transpose_b else b.dims[-2:]
    if sizes.known_different(k, k2):
        raise ShapeError(
            f"matmul: the inner axes differ, {k} of a{_turned(transpose_a)} with shape {a.shape} and "
            f"{k2} of b{_turned(transpose_b)} with shape {b.shape}"
        )
    return Spec((*(sizes.broadcast(a.dims[:-2], b.dims[:-2]) or ()), m, n), dtype)


def _turned(transposed: bool) -> str:
    return " (transposed)" if transposed else ""


@gradient(matmul_op)
def _(ctx: Any, g: Any) -> Any:
    a, b = ctx.inputs
    ta, tb = ctx.attrs["transpose_a"], ctx.attrs["transpose_b"]
    is_complex = g.dtype.is_complex
    da = db = None
    if ctx.needs[0]:
        other = conj(b) if is_complex else b
        da = matmul_op(other, g, transpose_a=tb, transpose_b=True) if ta else matmul_op(g, other, transpose_b=not tb)
        da = _sum_leading(da, a)
    if ctx.needs[1]:
        other = conj(a) if is_complex else a
        db = matmul_op(g, other, transpose_a=True, transpose_b=ta) if tb else matmul_op(other, g, transpose_a=not ta)
        db = _sum_leading(db, b)
    return da, db


def _sum_leading(g: Any, like: Any) -> Any:
    return g if g.ndim == 2 == like.ndim else sum_like(g, like)


@public("matmul", "linalg.matmul")
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    """Matrix product over the last two axes; leading axes broadcast.

    Args:
        a: ``(..., M, K)``, any numeric dtype; ``(..., K, M)`` when ``transpose_a``.
        b: ``(..., K, N)`` of the dtype of ``a``; ``(..., N, K)`` when ``transpose_b``.
        transpose_a: transpose ``a`` first.
        transpose_b: transpose ``b`` first.
        adjoint_a: conjugate and transpose ``a`` first.
        adjoint_b: conjugate and transpose ``b`` first.
        a_is_sparse: ignored.
        b_is_sparse: ignored.
        output_type: a dtype to cast the result to.
        grad_a: ignored.
        grad_b: ignored.
        name: ignored.

    Returns:
        ``(..., M, N)`` of the dtype of ``a``.

    Raises:
        ShapeError: the inner axes differ, or the leading axes do not broadcast.
        DTypeError: the dtypes differ.
        ValueError: an input is both transposed and adjoint.

    Sources:
        Python array API standard 2024.12, ``linalg.matmul``; TensorFlow ``tf.linalg.matmul``.
    """
    if transpose_a and adjoint_a:
        raise ValueError("Only one of transpose_a and adjoint_a can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of transpose_b and adjoint_b can be True.")
    if adjoint_a or adjoint_b:
        a, b = (conj(tensor(a)) if adjoint_a else a), (conj(tensor(b)) if adjoint_b else b)
    product = matmul_op(a, b, transpose_a=bool(transpose_a or adjoint_a), transpose_b=bool(transpose_b or adjoint_b))
    if output_type is not None:
        return cast(product, output_type)
    return product
