"""Callables that make the first value of a Variable: zeros, ones, a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.conversion import constant
from treadle.declare import public
from treadle.dtypes import as_dtype, float32
from treadle.errors import DTypeError
from treadle_ops.creation import ones, zeros


class Initializer:
    """What initializers share: a description of themselves that another can be made from."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """A tensor of that shape."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """An initializer with these arguments."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


@public("zeros_initializer")
class zeros_initializer(Initializer):
    """Makes tensors of zeros.

    Sources:
        TensorFlow ``tf.zeros_initializer``.
    """

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """Zeros of a shape and dtype.

        Args:
            shape: integers.
            dtype: of the result; float32 by default.
            **kwargs: ignored.
        """
        return zeros(shape, float32 if dtype is None else dtype)


@public("ones_initializer")
class ones_initializer(Initializer):
    """Makes tensors of ones.

    Sources:
        TensorFlow ``tf.ones_initializer``.
    """

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """Ones of a shape and dtype.

        Args:
            shape: integers.
            dtype: of the result; float32 by default.
            **kwargs: ignored.
        """
        return ones(shape, float32 if dtype is None else dtype)


@public("constant_initializer")
class constant_initializer(Initializer):
    """Makes tensors of given values.

    Args:
        value: a number, or nested lists or an array with as many elements as the tensors to be made.
        support_partition: ignored.

    Raises:
        DTypeError: ``value`` is something else.

    Sources:
        TensorFlow ``tf.constant_initializer``.
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise DTypeError(f"constant_initializer: {value!r} ({type(value).__name__}) is not a number, a list of numbers or an array")
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """The values in a shape and dtype.

        Args:
            shape: integers; it has as many elements as there are values, or there is one value.
            dtype: of the result; that of the values by default.
            **kwargs: ignored.

        Raises:
            TypeError: there are not as many values as elements.
        """
        return constant(self.value, None if dtype is None else as_dtype(dtype), shape)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer."""
        return {"value": self.value}
