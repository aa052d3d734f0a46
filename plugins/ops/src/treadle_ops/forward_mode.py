"""Derivatives along a direction, forward through a computation.

They are taken as a gradient of a gradient: ``u -> J^T u`` is linear, and the way back through it along ``v`` is ``J v``. So every op with a
gradient of second order has them, and nothing must be declared twice.
"""

from __future__ import annotations

from typing import Any, Self

from treadle import nest
from treadle.autodiff.tape import GradientTape, UnconnectedGradients
from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.errors import DTypeError, ShapeError
from treadle.tensor import Operators
from treadle_ops.arguments import tensor
from treadle_ops.creation import ones_like, zeros_like


@public("autodiff.ForwardAccumulator")
class ForwardAccumulator:
    """Jacobian-vector products of what is computed inside its ``with``.

    Args:
        primals: a tensor or Variable, or a structure of them.
        tangents: a tensor for each, of its shape and dtype: the direction.

    Raises:
        ValueError: the structures, or a shape or dtype, differ.

    Sources:
        TensorFlow ``tf.autodiff.ForwardAccumulator``.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents, check_types=False)
        self._primals = nest.flatten(primals)
        self._tangents = []
        for primal, given in zip(self._primals, nest.flatten(tangents), strict=True):
            tangent = convert_to_tensor(given, dtype_hint=primal.dtype)
            if not isinstance(primal, Operators) or not primal.dtype.is_differentiable:
                raise DTypeError(f"ForwardAccumulator: {primal!r} has no derivatives; primals are floating or complex tensors and Variables")
            if tangent.dtype is not primal.dtype:
                raise DTypeError(
                    f"ForwardAccumulator: a tangent has dtype {tangent.dtype.name} and its primal {primal.dtype.name}; they must be equal"
                )
            if not tangent.shape.is_compatible_with(primal.shape):
                raise ShapeError(f"ForwardAccumulator: a tangent has shape {tangent.shape} and its primal {primal.shape}; they must be equal")
            self._tangents.append(tangent)
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)

    def __enter__(self) -> Self:
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._tape.__exit__(*exc_info)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The derivative of computed tensors along the tangents.

        Args:
            primals: a tensor, or a structure of them, computed inside the ``with``.
            unconnected_gradients: ``"none"`` or ``"zero"`` for tensors that do not depend on what the accumulator watches.

        Returns:
            The structure of ``primals`` with a tensor of the same shape and dtype, or None, for each.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        return nest.map_structure(lambda target: self._jvp(target, unconnected), primals)

    def _jvp(self, target: Any, unconnected: UnconnectedGradients) -> Any:
        value = tensor(target)
        found = self._along(target, value) if value.dtype.is_differentiable else None
        return zeros_like(value) if found is None and unconnected is UnconnectedGradients.ZERO else found

    def _along(self, target: Any, value: Any) -> Any:
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if primal is target:
                return tangent
        seed = ones_like(value)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(seed)
            back = self._tape.gradient(target, self._primals, seed)
        reached = [(g, t) for g, t in zip(back, self._tangents, strict=True) if g is not None]
        if not reached:
            return None
        found = tape.gradient([g for g, _ in reached], seed, [t for _, t in reached])
        return zeros_like(value) if found is None else found
