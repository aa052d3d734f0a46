"""Functions of square matrices: exponential, square root and logarithm."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import shape_of, sizes_along
from treadle_ops.creation import eye_op, zeros_like
from treadle_ops.elementwise import add, conj, multiply
from treadle_ops.joining import concat_op
from treadle_ops.linear_inference import square_spec
from treadle_ops.linear_systems import solve_op
from treadle_ops.matrix_transposes import adjoint_of
from treadle_ops.shaping import expand_dims_op, reshape_op


@op("expm", can_fail=True)
def expm_op(input: Spec) -> Spec:
    """The exponential of square matrices."""
    return square_spec(input)


@gradient(expm_op)
def _(ctx: Any, g: Any) -> Any:
    # The exponential of [[A^H, G], [0, A^H]] has the derivative of exp at A^H in the direction G above the diagonal (Mathias, 1996).
    turned = adjoint_of(ctx.inputs[0])
    (size,) = sizes_along([turned], -1)
    above = concat_op([turned, g], axis=-1)
    below = concat_op([zeros_like(turned), turned], axis=-1)
    return expm_op(concat_op([above, below], axis=-2))[..., :size, size:]


@public("linalg.expm")
def expm(input: Any, name: str | None = None) -> Any:
    """The exponential of square matrices, ``I + a + a @ a / 2 + ...``.

    Args:
        input: ``(..., M, M)``, floating or complex.
        name: ignored.

    Returns:
        ``(..., M, M)`` of the dtype of ``input``.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.expm``; Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.
    """
    return expm_op(tensor(input))


@op("sqrtm", can_fail=True)
def sqrtm_op(input: Spec) -> Spec:
    """The principal square root of square matrices; NaN where a real matrix has no real one."""
    return square_spec(input)


@gradient(sqrtm_op)
def _(ctx: Any, g: Any) -> Any:
    # R R = A gives dR R + R dR = dA, so the gradient X solves R^H X + X R^H = G: a system for the elements of X in row-major order.
    turned = adjoint_of(ctx.output)
    (size,) = sizes_along([turned], -1)
    unit = eye_op((size, size), dtype=turned.dtype)
    from_left, from_right = _kronecker(turned, unit), _kronecker(unit, conj(ctx.output))
    batch = shape_of(turned)
    wide: Any = (*batch[:-2], size * size, size * size) if type(batch) is tuple else concat_op([batch[:-2], tensor([size * size] * 2)], axis=0)
    tall: Any = (*batch[:-2], size * size, 1) if type(batch) is tuple else concat_op([batch[:-2], tensor([size * size, 1])], axis=0)
    return reshape_op(solve_op(reshape_op(add(from_left, from_right), wide), reshape_op(g, tall), adjoint=False), batch)


def _kronecker(a: Any, b: Any) -> Any:
    """``(..., i, j, k, m)``: the products of the elements (i, k) of ``a`` and (j, m) of ``b``."""
    of_a = expand_dims_op(expand_dims_op(a, axis=-1), axis=-3)
    of_b = expand_dims_op(expand_dims_op(b, axis=-2), axis=-4)
    return multiply(of_a, of_b)


@public("linalg.sqrtm", "matrix_square_root")
def sqrtm(input: Any, name: str | None = None) -> Any:
    """The principal square root of square matrices: ``r @ r`` is the matrix.

    Args:
        input: ``(..., M, M)``, floating or complex.
        name: ignored.

    Returns:
        ``(..., M, M)`` of the dtype of ``input``; NaN where a real matrix has no real root.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.sqrtm``.
    """
    return sqrtm_op(tensor(input))


@op("logm", can_fail=True)
def logm_op(input: Spec) -> Spec:
    """The principal logarithm of square complex matrices."""
    return square_spec(input, kinds="c")


@public("linalg.logm")
def logm(input: Any, name: str | None = None) -> Any:
    """The principal logarithm of square matrices: its exponential is the matrix.

    Args:
        input: ``(..., M, M)``, complex.
        name: ignored.

    Returns:
        ``(..., M, M)`` of the dtype of ``input``.

    Raises:
        ShapeError: the matrices are not square.
        DTypeError: they are real.

    Sources:
        TensorFlow ``tf.linalg.logm``, which has no gradient either.
    """
    return logm_op(tensor(input))
