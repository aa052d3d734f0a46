"""Initializers that draw: ``td.random_normal_initializer`` and ``td.random_uniform_initializer``."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import DType, as_dtype, float32
from treadle_ops.stateful_random import normal, uniform
from treadle_ops.stateless_random import stateless_normal, stateless_uniform


class RandomInitializer:
    """What the two have in common: a call with a shape, and a configuration that can be saved."""

    _kinds = "f"

    def __init__(self, seed: Any) -> None:
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """A tensor with initial values.

        Args:
            shape: of the tensor, integers.
            dtype: of the tensor.
            **kwargs: ``partition_shape``, the shape of the part that is made, and ``partition_offset``, which is ignored.

        Raises:
            ValueError: numbers of this dtype cannot be drawn.
        """
        unknown = set(kwargs) - {"partition_shape", "partition_offset"}
        if unknown:
            raise TypeError(f"Unknown keyword arguments: {', '.join(sorted(unknown))}; expected partition_shape and partition_offset")
        wanted = as_dtype(dtype)
        if wanted.kind not in self._kinds:
            raise ValueError(
                f"Expected float or integer dtype, got {wanted.name}" if "i" in self._kinds else f"Expected floating point type, got {wanted.name}"
            )
        return self._draw(kwargs.get("partition_shape", shape), wanted)

    def _draw(self, shape: Any, dtype: DType) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An initializer from what ``get_config`` gave."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


@public("random_normal_initializer")
class RandomNormalInitializer(RandomInitializer):
    """Normal initial values (TensorFlow's ``tf.random_normal_initializer``).

    Args:
        mean: of the distribution.
        stddev: its standard deviation.
        seed: an int, for the same numbers at every call.
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def _draw(self, shape: Any, dtype: DType) -> Any:
        if self.seed is None:
            return normal(shape, self.mean, self.stddev, dtype)
        return stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


@public("random_uniform_initializer")
class RandomUniformInitializer(RandomInitializer):
    """Uniform initial values (TensorFlow's ``tf.random_uniform_initializer``).

    Args:
        minval: the least value.
        maxval: the bound above.
        seed: an int, for the same numbers at every call.
    """

    _kinds = "fi"

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.minval = minval
        self.maxval = maxval

    def _draw(self, shape: Any, dtype: DType) -> Any:
        if self.seed is None:
            return uniform(shape, self.minval, self.maxval, dtype)
        return stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}
