"""TensorFlow 1's way to give an op a gradient: ``td.RegisterGradient`` and ``td.no_gradient``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.contracts.op import Op
from treadle.declare import public
from treadle.errors import AlreadyExistsError
from treadle.registry import registry


def _without_gradient(op_type: str, what: str) -> Op:
    contract = registry.op(op_type)
    if contract.gradient is not None:
        raise AlreadyExistsError(f"{what}: op {op_type!r} has a gradient already; td.custom_gradient puts another one in its place for one function")
    return contract


def _set(contract: Op, gradient: Callable[..., Any]) -> None:
    contract.gradient = gradient
    contract.reads.clear()
    contract.kept.clear()


@public("RegisterGradient")
class RegisterGradient:
    """Decorate ``gradient(op, *cotangents)``, which gives a gradient per input, as that of an op that has none.

    Args:
        op_type: the op's name; ``op.inputs``, ``op.outputs`` and its attributes can be read in the function.

    Raises:
        UnknownOpError: there is no such op.
        AlreadyExistsError: it has a gradient.

    Sources:
        TensorFlow ``tf.RegisterGradient``.
    """

    def __init__(self, op_type: str) -> None:
        self._contract = _without_gradient(op_type, "RegisterGradient")

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Register; the function is given back."""
        _set(self._contract, f)
        return f


@public("no_gradient")
def no_gradient(op_type: str) -> None:
    """Say that no gradient flows through an op.

    Args:
        op_type: its name.

    Raises:
        UnknownOpError: there is no such op.
        AlreadyExistsError: it has a gradient.

    Sources:
        TensorFlow ``tf.no_gradient``.
    """
    contract = _without_gradient(op_type, "no_gradient")
    count = len(contract.inputs)
    _set(contract, lambda ctx, *cotangents: (None,) * count if count != 1 else None)
