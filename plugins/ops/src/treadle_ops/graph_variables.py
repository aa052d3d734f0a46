"""Variables as TensorFlow 1 makes and assigns them: ``td.compat.v1.get_variable``, ``assign``, ``assign_add`` and ``assign_sub``."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import public
from treadle.dtypes import DType, as_dtype, float32
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.variable import Variable
from treadle_ops.creation import zeros
from treadle_ops.stateful_random import uniform


@public("compat.v1.get_variable")
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
) -> Variable:
    """A new Variable under a name of its own in its graph. There are no variable scopes, so none is found again by its name.

    Args:
        name: of the Variable.
        shape: of its value; not needed where ``initializer`` is a value.
        dtype: of its value; float32 by default, or that of ``initializer``.
        initializer: a value, or a function of a shape and a dtype, or the class of one, that gives it. By default floating numbers are drawn as
            Glorot and Bengio advise, and others are zeros.
        regularizer: must be None.
        trainable: whether it is one of ``td.compat.v1.trainable_variables()``.

    Returns:
        A Variable.

    Raises:
        ValueError: the graph has a Variable of this name; or there is no shape; or there is a regularizer.

    Sources:
        TensorFlow ``tf.compat.v1.get_variable``.
    """
    if regularizer is not None:
        raise ValueError("get_variable: there are no collections of losses for a regularizer; add the penalty to the loss yourself")
    for known in getattr(LOCAL.graph, "variables", ()):
        if known.name == f"{name}:0":
            raise ValueError(
                f"Variable {name} already exists, disallowed: it was made at {known.initializer.source}; keep it and hand it on, or rename"
            )
    wanted = None if dtype is None else as_dtype(dtype)
    return Variable(_initial(name, shape, wanted, initializer), trainable=trainable, name=name, dtype=wanted)


def _initial(name: str, shape: Any, dtype: DType | None, initializer: Any) -> Any:
    if initializer is not None and not callable(initializer):
        return initializer
    static = TensorShape(shape)
    if not static.is_fully_defined():
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was {static}.")
    sizes, dtype = static.as_list(), dtype or float32
    if initializer is None:
        return _glorot_uniform(sizes, dtype) if dtype.is_floating else zeros(sizes, dtype)
    function = initializer() if isinstance(initializer, type) else initializer
    return function(sizes, dtype)


def _glorot_uniform(sizes: list[int], dtype: DType) -> Any:
    """Uniform within ``sqrt(6 / (inputs + outputs))`` (Glorot and Bengio 2010); the leading axes of a filter are its receptive field."""
    field = math.prod(sizes[:-2])
    inputs, outputs = (sizes[-2] * field, sizes[-1] * field) if len(sizes) > 1 else (math.prod(sizes), math.prod(sizes))
    limit = math.sqrt(6.0 / max(1, inputs + outputs))
    return uniform(sizes, -limit, limit, dtype)


@public("compat.v1.assign")
def assign(ref: Variable, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Replace a Variable's value; see ``Variable.assign``."""
    return ref.assign(value)


@public("compat.v1.assign_add")
def assign_add(ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Add to a Variable's value; see ``Variable.assign_add``."""
    return ref.assign_add(value)


@public("compat.v1.assign_sub")
def assign_sub(ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtract from a Variable's value; see ``Variable.assign_sub``."""
    return ref.assign_sub(value)
