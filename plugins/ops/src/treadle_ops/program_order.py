"""What says in which order things happen, and ops that do nothing else: ``control_dependencies``, ``group``, ``no_op`` and ``tuple``.

Eagerly and in functions things happen in the order of the program always, so these names need do nothing. Only in the graph of a session, where
nothing runs that is not asked for, do they say what belongs together.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from treadle.declare import public
from treadle.graph.control_inputs import control_inputs_in
from treadle.state import LOCAL
from treadle_ops.flow import identity


@public("control_dependencies")
def control_dependencies(control_inputs: Any) -> Any:
    """A context in which everything happens after ``control_inputs``, as eagerly and in functions it does without it.

    Args:
        control_inputs: tensors, what ``td.group`` gives, or None; eagerly also a function, which is called.

    Returns:
        A context manager.

    Raises:
        TypeError: there is something else among ``control_inputs``.

    Sources:
        TensorFlow ``tf.control_dependencies``.
    """
    if LOCAL.graph is not None:
        return LOCAL.graph.control_dependencies(control_inputs)
    if callable(control_inputs):
        control_inputs()
    else:
        control_inputs_in(control_inputs)
    return nullcontext()


@public("no_op")
def no_op(name: str | None = None) -> Any:
    """Do nothing.

    Args:
        name: ignored.

    Returns:
        None; in the graph of a session a node, to be fetched.
    """
    return group()


@public("group")
def group(*inputs: Any, **kwargs: Any) -> Any:
    """Do nothing but what the inputs stand for; eagerly and in functions that runs anyway.

    Args:
        *inputs: tensors, or what assertions and assignments gave.
        name: ignored.

    Returns:
        None; in the graph of a session a node, to be fetched, that is done when all inputs are.

    Raises:
        ValueError: there is another keyword argument.

    Sources:
        TensorFlow ``tf.group``.
    """
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    return None if LOCAL.graph is None else LOCAL.graph.group(*inputs)


@public("tuple")
def tuple_op(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The same values as several tensors, each given when all of them are.

    Args:
        tensors: a list of tensors; None stands for itself.
        control_inputs: what else must have run; eagerly and in functions it has.
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
    with control_dependencies([*(t for t in tensors if t is not None), *(control_inputs or ())]):
        return [None if t is None else identity(t) for t in tensors]
