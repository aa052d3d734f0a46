"""Assertions on ranks, shapes and dtypes: decided while tracing where what they need is known, else when the program runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, HostSpec, op, public
from treadle.dtypes import DType, as_dtype, float32
from treadle.errors import DTypeError, ShapeError
from treadle.inspection import get_static_value
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_ops.arguments import tensor
from treadle_ops.called_function import subject
from treadle_ops.program_order import no_op


@op("assert_rank", effect="writes", can_fail=True, spec_only=True)
def assert_rank_op(x: FreeSpec, ranks: HostSpec, *, at_least: bool, message: str) -> None:
    """Fail unless the rank of ``x`` is one of ``ranks``, or at least the only one."""


@op("assert_shapes", effect="writes", can_fail=True, spec_only=True)
def assert_shapes_op(tensors: Sequence[FreeSpec], *, constraints: tuple[Any, ...], message: str) -> None:
    """Fail unless the shapes of the tensors fulfil the constraints."""


def rank_problem(rank: int, shape: Any, ranks: tuple[int, ...], at_least: bool, message: str) -> str | None:
    """What is wrong with a rank, or None."""
    if rank >= ranks[0] if at_least else rank in ranks:
        return None
    wanted = f"at least {ranks[0]}" if at_least else f"{ranks[0]}" if len(ranks) == 1 else f"in {ranks}"
    return f"{f'{message}. ' if message else ''}Tensor must have rank {wanted}. Received rank {rank}, shape {shape}"


def _check_rank(x: Any, ranks: Iterable[Any], at_least: bool, message: str | None) -> Any:
    x = tensor(x)
    wanted = []
    for rank in ranks:
        known = get_static_value(rank) if isinstance(rank, Tensor) else np.asarray(rank)
        if known is not None and np.ndim(known) != 0:
            raise ShapeError(f"Rank must be a scalar, not {rank!r}")
        if known is not None and np.asarray(known).dtype.kind not in "iu":
            raise DTypeError(f"Rank must be of type int32, not {rank!r}")
        wanted.append(rank if known is None else int(known))
    dims = x.dims
    if dims is None or any(isinstance(r, SymbolicTensor) for r in wanted):
        return assert_rank_op(x, wanted, at_least=at_least, message=message or "")
    problem = rank_problem(len(dims), x.shape, tuple(wanted), at_least, message or "")
    if problem:
        raise ShapeError(problem)
    return no_op()


@public("debugging.assert_rank", "assert_rank")
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fail with an error unless a tensor has a rank.

    Args:
        x: any shape, any dtype.
        rank: an integer scalar.
        message: put before the error's own.
        name: ignored.

    Raises:
        ValueError: the rank is another one.

    Sources:
        TensorFlow ``tf.debugging.assert_rank``.
    """
    return _check_rank(x, [rank], False, message)


@public("debugging.assert_rank_at_least")
def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fail with an error unless a tensor has at least a rank.

    Args:
        x: any shape, any dtype.
        rank: an integer scalar.
        message: put before the error's own.
        name: ignored.

    Raises:
        ValueError: the rank is lower.

    Sources:
        TensorFlow ``tf.debugging.assert_rank_at_least``.
    """
    return _check_rank(x, [rank], True, message)


@public("debugging.assert_rank_in")
def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fail with an error unless a tensor has one of several ranks.

    Args:
        x: any shape, any dtype.
        ranks: a list of integer scalars.
        message: put before the error's own.
        name: ignored.

    Raises:
        ValueError: the rank is another one.

    Sources:
        TensorFlow ``tf.debugging.assert_rank_in``.
    """
    return _check_rank(x, ranks, False, message)


@public("debugging.assert_scalar")
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Fail with an error unless a tensor is known to be a scalar.

    Args:
        tensor: any shape, any dtype.
        message: put before the error's own.
        name: ignored.

    Raises:
        ValueError: it is not, or its rank is not known.

    Sources:
        TensorFlow ``tf.debugging.assert_scalar``.
    """
    shape = _tensor(tensor).shape
    if shape.rank != 0:
        raise ShapeError(f"{subject()}{f'{message}. ' if message else ''}Expected scalar shape, saw shape: {shape}.")


_tensor = tensor

# ---------------------------------------------------------------------- shapes

_ANY_SIZE = (None, ".")
_ANY_SIZES = (Ellipsis, "*")


def shapes_problem(shapes: Sequence[Any], constraints: Sequence[tuple[Any, ...]], message: str) -> tuple[str | None, bool]:
    """What is wrong with shapes, if anything, and whether all of it is known.

    Args:
        shapes: dims of each tensor, None for an unknown rank; sizes may be symbolic.
        constraints: per tensor a size or symbol for each axis; ``...`` or ``*`` in front stands for any axes.
        message: put before the problem.
    """
    prefix = f"{message}. " if message else ""
    found: dict[Any, tuple[Any, Any, int]] = {}
    known = True
    for dims, constraint in zip(shapes, constraints, strict=True):
        is_open = bool(constraint) and constraint[0] in _ANY_SIZES
        symbols = constraint[1:] if is_open else constraint
        if dims is None:
            known = False
            continue
        shape = Spec(dims, float32).shape
        actual = (1,) if not dims and len(symbols) <= 1 else dims
        if len(actual) < len(symbols) or (not is_open and len(actual) != max(len(symbols), 1)):
            return f"{prefix}Tensor must have rank {'at least ' if is_open else ''}{len(symbols)}. Received rank {len(dims)}, shape {shape}", True
        first = len(actual) - len(symbols) if is_open else 0
        for i, symbol in enumerate(symbols or (() if is_open else (1,))):
            if symbol in _ANY_SIZE:
                continue
            size = actual[first + i]
            explicit = isinstance(symbol, int | np.integer) or (isinstance(symbol, str) and symbol.isdigit())
            if not explicit and symbol not in found:
                found[symbol] = (size, shape, first + i)
                continue
            wanted, why = (
                (int(symbol), "Specified explicitly")
                if explicit
                else (found[symbol][0], f"Specified by a tensor of shape {found[symbol][1]} dimension {found[symbol][2]}")
            )
            if sizes.known_different(size, wanted):
                return f"{prefix}{why}. Tensor dimension {first + i} must have size {wanted}. Received size {size}, shape {shape}", True
            known = known and sizes.known_equal(size, wanted)
    return None, known


@public("debugging.assert_shapes")
def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    """Fail with an error unless shapes fit each other.

    Args:
        shapes: pairs of a tensor and its shape, in which a size is an int, a symbol that stands for the same size everywhere, or None or ``"."`` for
            any; ``...`` or ``"*"`` in front stands for any axes. A shape may be a string of one-letter symbols.
        data: ignored.
        summarize: ignored.
        message: put before the error's own.
        name: ignored.

    Raises:
        ValueError: they do not, or a shape is not written like this.

    Sources:
        TensorFlow ``tf.debugging.assert_shapes``.
    """
    pairs = [(tensor(x), shape) for x, shape in (shapes.items() if isinstance(shapes, dict) else shapes) if shape is not None]
    constraints = []
    for x, shape in pairs:
        if not hasattr(shape, "__iter__"):
            raise ShapeError(f"assert_shapes: the specified shape of the tensor of shape {x.shape} must be an iterable, got {shape!r}")
        symbols = tuple(shape)
        if any(symbol in _ANY_SIZES for symbol in symbols[1:]):
            raise ShapeError(f"assert_shapes: `...` or `*` for any axes is only allowed as the first entry, got {symbols}")
        constraints.append(symbols)
    problem, known = shapes_problem([x.dims for x, _ in pairs], constraints, message or "")
    if problem:
        raise ShapeError(problem)
    if known:
        return no_op()
    return assert_shapes_op([x for x, _ in pairs], constraints=tuple(constraints), message=message or "")


# ---------------------------------------------------------------------- dtypes


@public("debugging.assert_type")
def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fail with an error unless a tensor has a dtype.

    Args:
        tensor: any shape, any dtype.
        tf_type: the dtype.
        message: put before the error's own.
        name: ignored.

    Raises:
        TypeError: it has another one.

    Sources:
        TensorFlow ``tf.debugging.assert_type``.
    """
    wanted, found = as_dtype(tf_type), _tensor(tensor).dtype
    if found is not wanted:
        raise DTypeError(f"{f'{message}. ' if message else ''}tensor must be of type {wanted.name}; got {found.name}")
    return no_op()


@public("debugging.assert_integer")
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fail with an error unless a tensor has an integer dtype.

    Args:
        x: any shape, any dtype.
        message: put before the error's own.
        name: ignored.

    Raises:
        TypeError: it has another one.

    Sources:
        TensorFlow ``tf.debugging.assert_integer``.
    """
    found = tensor(x).dtype
    if not found.is_integer:
        raise DTypeError(f'{f"{message}. " if message else ""}Expected "x" to be integer type. Found: tensor of dtype {found.name}')
    return no_op()


@public("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """Fail with an error unless tensors have one floating dtype.

    Args:
        tensors: a list of tensors; None among them are left out.
        dtype: the dtype that they must have; that of the first tensor by default.

    Returns:
        The dtype; float32 if nothing says which.

    Raises:
        ValueError: the dtypes differ, or are not floating.

    Sources:
        TensorFlow ``tf.debugging.assert_same_float_dtype``.
    """
    shared = None if dtype is None else as_dtype(dtype)
    for item in tensors or ():
        if item is None:
            continue
        found = tensor(item).dtype
        if shared is None:
            shared = found
        elif found is not shared:
            raise DTypeError(
                f"Tensor type {found.name} does not match the expected dtype {shared.name}; all tensors must have the same floating dtype"
            )
    shared = float32 if shared is None else shared
    if not shared.is_floating:
        raise DTypeError(f"Expected floating point type, got {shared.name}.")
    return shared


@public("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether something is a tensor of a numeric dtype.

    Args:
        tensor: any object.

    Returns:
        True for tensors and Variables of integer, floating and complex dtypes.

    Sources:
        TensorFlow ``tf.debugging.is_numeric_tensor``.
    """
    return isinstance(tensor, Tensor | Variable) and tensor.dtype.is_numeric


@public("debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Fail with an error unless something is an iterable that is meant as one: not a tensor, an array or a string.

    Args:
        values: any object.

    Raises:
        TypeError: it is not.

    Sources:
        TensorFlow ``tf.debugging.assert_proper_iterable``.
    """
    if isinstance(values, Tensor | Variable | np.ndarray | str | bytes):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable. Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable. Found: {type(values)}')
