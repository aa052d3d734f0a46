"""What says in which order things happen. Here they happen in the order of the program always, so these names need do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treadle.declare import public
from treadle.state import LOCAL
from treadle_ops.flow import identity


@public("control_dependencies")
def control_dependencies(control_inputs: Any) -> Any:
    """A context in which everything happens after ``control_inputs``, as it does without it.

    Args:
        control_inputs: tensors, what ``td.group`` gives, or None; eagerly also a function, which is called.

    Returns:
        A context manager.

    Sources:
        TensorFlow ``tf.control_dependencies``.
    """
    if callable(control_inputs) and LOCAL.graph is None:
        control_inputs()
    return _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@public("tuple")
def tuple_op(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The same values as several tensors, each given when all of them are.

    Args:
        tensors: a list of tensors; None stands for itself.
        control_inputs: ignored: what stands before in the program happens before.
        name: ignored.

    Returns:
        A list of as many tensors.

    Raises:
        ValueError: there is no tensor.

    Sources:
        TensorFlow ``tf.tuple``.
    """
    if all(t is None for t in tensors):
        raise ValueError("tuple: must have at least one tensor")
    return [None if t is None else identity(t) for t in tensors]
