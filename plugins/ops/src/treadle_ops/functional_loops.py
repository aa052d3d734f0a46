"""Functions over the rows of tensors: map_fn, scan, foldl and foldr.

Elements may be nested, and gradients of any order flow, eagerly and while tracing; how the rows are gone over is in ``row_loops``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import nest
from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.dtypes import as_dtype
from treadle.errors import DTypeError
from treadle.shapes import TensorShape
from treadle.tensorspec import TensorSpec
from treadle_ops.flow import stop_gradient
from treadle_ops.joining import concat_op, stack
from treadle_ops.row_loops import Gathered, Rows, over_rows

# ---------------------------------------------------------------------- map


@public("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Apply a function to every row of tensors, and stack what it gives.

    Args:
        fn: a function of one row, which has the structure of ``elems``.
        elems: a tensor or a structure of tensors, all with the same first size.
        dtype: the older name of ``fn_output_signature``.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        infer_shape: ignored.
        name: ignored.
        fn_output_signature: dtypes or ``TensorSpec``s in the structure of the function's result; by default those of ``elems``.

    Returns:
        The structure of the function's result; each tensor has a first axis with one entry per row.

    Raises:
        ValueError: an element is a scalar, or the function gives another structure.
        ShapeError: the first sizes differ.
        DTypeError: the function gives another dtype.

    Sources:
        TensorFlow ``tf.map_fn``.
    """
    require_callable(fn, "map_fn")
    rows = Rows(elems, "map_fn")
    wanted = fn_output_signature if fn_output_signature is not None else dtype
    signature = rows.pack([t.dtype for t in rows.tensors]) if wanted is None else wanted
    return _stop(mapped(fn, rows, signature), back_prop)


def mapped(fn: Callable[..., Any], rows: Rows, signature: Any) -> Any:
    """What a function gives for every row, in the structure of a signature, stacked."""
    gathered = [_gathered(leaf) for leaf in nest.flatten(signature)]

    def step(carried: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        result = fn(rows.pack(row))
        try:
            nest.assert_same_structure(signature, result, check_types=False)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{rows.what}: the function must give the structure of fn_output_signature (by default that of elems): {error}"
            ) from None
        return carried, nest.flatten(result)

    return nest.pack_sequence_as(signature, over_rows(rows, step, [], gathered)[1])


def _gathered(leaf: Any) -> Gathered:
    if isinstance(leaf, TensorSpec):
        return Gathered(leaf.dtype, leaf.shape)
    return Gathered(as_dtype(leaf), TensorShape(None))


# ---------------------------------------------------------------------- scan and fold


@public("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of tensors one after the other, and stack every intermediate result.

    Args:
        fn: a function of the result so far and of one row; it gives the next result.
        elems: a tensor or a structure of tensors, all with the same first size.
        initializer: the result before the first row; without it, the first row itself, which then has the structure of ``elems``.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        infer_shape: ignored.
        reverse: begin with the last row.
        name: ignored.

    Returns:
        The structure of the result; each tensor has a first axis with one entry per row, in the order of the rows.

    Raises:
        TypeError: ``fn`` is not callable, or gives another structure or dtype.
        ValueError: an element is a scalar, or there is neither an initializer nor a row.

    Sources:
        TensorFlow ``tf.scan``.
    """
    rows, start, structure = _begin(fn, elems, initializer, reverse, "scan")
    gathered = [Gathered(t.dtype, TensorShape(None), t) for t in start]
    step = _combining(fn, rows, structure)
    _, results = over_rows(rows, lambda carried, row: _twice(step(carried, row)), start, gathered, reverse, 0 if initializer is not None else 1)
    if initializer is None:
        results = [_joined(value, rest, reverse) for value, rest in zip(start, results, strict=True)]
    return _stop(nest.pack_sequence_as(structure, results), back_prop)


def _twice(results: list[Any]) -> tuple[list[Any], list[Any]]:
    return results, results


def _joined(first: Any, rest: Any, reverse: bool) -> Any:
    one = stack([first])
    return concat_op([rest, one] if reverse else [one, rest], axis=0)


def _combining(fn: Callable[..., Any], rows: Rows, structure: Any) -> Callable[[list[Any], list[Any]], list[Any]]:
    def step(carried: list[Any], row: list[Any]) -> list[Any]:
        result = fn(nest.pack_sequence_as(structure, carried), rows.pack(row))
        try:
            nest.assert_same_structure(structure, result, check_types=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{rows.what}: the function must give the structure of what it is given first: {error}") from None
        found = []
        for before, leaf in zip(carried, nest.flatten(result), strict=True):
            value = convert_to_tensor(leaf, dtype_hint=before.dtype)
            if value.dtype is not before.dtype:
                raise DTypeError(
                    f"{rows.what}: the function is given {before.dtype.name} and gives {value.dtype.name}; they must be equal. "
                    "Use td.cast in the function, or on the initializer"
                )
            found.append(value)
        return found

    return step


def _begin(fn: Any, elems: Any, initializer: Any, reverse: bool, what: str) -> tuple[Rows, list[Any], Any]:
    """The rows, what is carried into the first step, and its structure."""
    require_callable(fn, what)
    rows = Rows(elems, what, least=int(initializer is None))
    if initializer is not None:
        return rows, [convert_to_tensor(leaf) for leaf in nest.flatten(initializer)], initializer
    return rows, rows.end(reverse), elems


def _fold(fn: Any, elems: Any, initializer: Any, reverse: bool, what: str, back_prop: bool) -> Any:
    rows, start, structure = _begin(fn, elems, initializer, reverse, what)
    step = _combining(fn, rows, structure)
    carried, _ = over_rows(rows, lambda carried, row: (step(carried, row), []), start, [], reverse, 0 if initializer is not None else 1)
    return _stop(nest.pack_sequence_as(structure, carried), back_prop)


@public("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of tensors one after the other, from the first to the last.

    Args:
        fn: a function of the result so far and of one row; it gives the next result.
        elems: a tensor or a structure of tensors, all with the same first size.
        initializer: the result before the first row; without it, the first row itself.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        name: ignored.

    Returns:
        The last result.

    Raises:
        TypeError: ``fn`` is not callable, or gives another structure or dtype.
        ValueError: an element is a scalar, or there is neither an initializer nor a row.

    Sources:
        TensorFlow ``tf.foldl``.
    """
    return _fold(fn, elems, initializer, False, "foldl", back_prop)


@public("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of tensors one after the other, from the last to the first.

    Args:
        fn: a function of the result so far and of one row; it gives the next result.
        elems: a tensor or a structure of tensors, all with the same first size.
        initializer: the result before the last row; without it, the last row itself.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        name: ignored.

    Returns:
        The last result.

    Raises:
        TypeError: ``fn`` is not callable, or gives another structure or dtype.
        ValueError: an element is a scalar, or there is neither an initializer nor a row.

    Sources:
        TensorFlow ``tf.foldr``.
    """
    return _fold(fn, elems, initializer, True, "foldr", back_prop)


def require_callable(fn: Any, what: str) -> None:
    """Refuse what is no function.

    Raises:
        TypeError: it cannot be called.
    """
    if not callable(fn):
        raise TypeError(f"{what}: {fn!r} is not callable; give a function")


def _stop(result: Any, back_prop: bool) -> Any:
    if back_prop:
        return result
    return nest.map_structure(stop_gradient, result)
