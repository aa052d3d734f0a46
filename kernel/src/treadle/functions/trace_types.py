"""How objects of a user's own classes count in the signature of a traced function: by a type that they give themselves.

A class with a method ``__tf_tracing_type__(self, context)`` takes part. What it returns keys the trace instead of the object's identity, and says
what the function sees of the object while it is traced.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from treadle.tensor import Tensor
from treadle.variable import Variable

TensorLike = Tensor | Variable | bool | int | float | complex | np.ndarray | np.generic
"""What converts to a tensor by itself (TensorFlow's ``tf.types.experimental.TensorLike``); works with ``isinstance``."""


class TraceType(abc.ABC):
    """The type of an object as far as traces depend on it (TensorFlow's ``tf.types.experimental.TraceType``).

    Equal types share a trace, so ``__eq__`` and ``__hash__`` belong together. A type with tensors in it overrides the last three methods.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace for ``other`` serves objects of this type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The narrowest type that this and all others are subtypes of, or None."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """What the function gets while it is traced, if there are no tensors in the type."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    def flatten(self) -> list[Any]:
        """A ``TensorSpec`` for each tensor in the type."""
        return []

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors in an object of this type, in the order of ``flatten``."""
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """What the function gets while it is traced, made of the next tensors."""
        return self.placeholder_value()


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """An object that says by what type it counts in signatures (TensorFlow's ``tf.types.experimental.SupportsTracingProtocol``)."""

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The type; ``context`` is for TensorFlow's sake and has nothing."""
        ...


class FunctionType(inspect.Signature):
    """The parameters of a traced function with their specs as annotations (TensorFlow's ``tf.types.experimental.FunctionType``)."""

    @classmethod
    def parameter(cls, name: str, spec: Any) -> inspect.Parameter:
        """One parameter, by position or name."""
        return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=spec)
