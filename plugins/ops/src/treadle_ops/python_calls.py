"""Calls of Python functions when the program runs: ``td.numpy_function`` on arrays, ``td.py_function`` on eager tensors, which is differentiable."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treadle import nest
from treadle.autodiff.tape import GradientTape
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.declare import FreeSpec, gradient, op, public
from treadle.dtypes import DType, as_dtype, int64
from treadle.errors import DTypeError, InvalidArgumentError
from treadle.graph.source import Source, caller
from treadle.state import LOCAL
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
from treadle.variable import Variable
from treadle_ops.arguments import tensor
from treadle_ops.creation import zeros_like

DTypes = tuple[DType, ...]


@op("numpy_function", effect="io")
def numpy_function_op(inputs: Sequence[FreeSpec], *, function: Any, dtypes: DTypes, made_at: Any = None) -> tuple[Spec, ...]:
    """Call a Python function with NumPy arrays; ``made_at`` is the user's line, for what the function raises."""
    return tuple(Spec(None, dtype) for dtype in dtypes)


@op("py_function", effect="io")
def py_function_op(inputs: Sequence[FreeSpec], *, function: Any, dtypes: DTypes, made_at: Any = None) -> tuple[Spec, ...]:
    """Call a Python function with eager tensors; the last result is the number of the tape that watched it."""
    return (*(Spec(None, dtype) for dtype in dtypes), Spec((), int64))


@op("py_function_gradient", effect="io")
def py_function_gradient(
    inputs: Sequence[FreeSpec], cotangents: Sequence[FreeSpec], tape: FreeSpec, *, function: Any, dtypes: DTypes, made_at: Any = None
) -> tuple[Spec, ...]:
    """The gradients of those inputs of such a call that have one, from its tape, or from another call if that is gone.

    It is such a call itself, of the inputs and the cotangents: the last result is the number of a tape that watched this, too.
    """
    return (*(Spec(x.dims, x.dtype) for x in inputs if x.dtype.is_differentiable), Spec((), int64))


class GradientOf:
    """The gradient of a Python function, as a function of its arguments and of the cotangents of its results.

    Args:
        function: of tensors.
        dtypes: of its results.
        count: of its arguments.
    """

    def __init__(self, function: Callable[..., Any], dtypes: DTypes, count: int) -> None:
        self._function = function
        self._dtypes = dtypes
        self._count = count

    def __call__(self, *args: Any) -> list[Any]:
        return gradients_of(*watched(self._function, args[: self._count], self._dtypes), args[self._count :])


def watched(function: Callable[..., Any], sources: Sequence[Any], dtypes: DTypes) -> tuple[Any, Sequence[Any], list[Any]]:
    """A call with a tape around it: the tape, the arguments and the results."""
    with GradientTape(persistent=True) as tape:
        tape.watch([s for s in sources if s.dtype.is_differentiable])
        results = results_of(function(*sources), dtypes, as_eager, "the function given to py_function")
    return tape, sources, results


def gradients_of(tape: Any, sources: Sequence[Any], results: list[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The gradients of a call that was watched, for those arguments that have one; the cotangents are those of the results that have one."""
    wanted = [s for s in sources if s.dtype.is_differentiable]
    found = tape.gradient([r for r in results if r.dtype.is_differentiable], wanted, cotangents)
    return [zeros_like(s) if g is None else g for g, s in zip(found, wanted, strict=True)]


@gradient(py_function_op)
def _(ctx: Any, *gs: Any) -> Any:
    return _pulled(ctx, ctx.inputs[0], ctx.function, ctx.dtypes, gs)


@gradient(py_function_gradient)
def _(ctx: Any, *gs: Any) -> Any:
    inputs, cotangents, _ = ctx.inputs
    dtypes = tuple(x.dtype for x in inputs if x.dtype.is_differentiable)
    found = _pulled(ctx, [*inputs, *cotangents], GradientOf(ctx.function, ctx.dtypes, len(inputs)), dtypes, gs)
    return found[: len(inputs)], found[len(inputs) :], None


def _pulled(ctx: Any, inputs: list[Any], function: Any, dtypes: DTypes, gs: Sequence[Any]) -> list[Any]:
    """The gradient per input of a call, which left the number of its tape as its last result."""
    cotangents = [g for g in gs[:-1] if g is not None]
    if not cotangents or not any(x.dtype.is_differentiable for x in inputs):
        return [None] * len(inputs)
    found = iter(py_function_gradient(inputs, cotangents, ctx.outputs[-1], function=function, dtypes=dtypes, made_at=ctx.made_at))
    return [next(found) if x.dtype.is_differentiable else None for x in inputs]


def results_of(given: Any, dtypes: DTypes, convert: Callable[[Any, DType], Any], name: str) -> list[Any]:
    """What a Python function gave back as a list of converted results, one for each dtype.

    Raises:
        InvalidArgumentError: it gave another number of results.
    """
    found = [] if given is None else list(nest.flatten(given)) if isinstance(given, list | tuple) else [given]
    if not dtypes:
        return []
    if len(found) != len(dtypes):
        raise InvalidArgumentError(f"{name} gave {len(found)} results, and Tout says {len(dtypes)}: {[d.name for d in dtypes]}")
    return [convert(value, dtype) for value, dtype in zip(found, dtypes, strict=True)]


def as_array(value: Any, dtype: DType) -> Any:
    """A result of a NumPy function as an array of the dtype that ``Tout`` says; Python numbers take it.

    Raises:
        DTypeError: it is an array of another dtype.
    """
    array = np.asarray(value)
    if array.dtype == dtype.numpy:
        return np.array(array, order="C")
    if isinstance(value, np.ndarray | np.generic | Tensor):
        raise DTypeError(f"the function returns {array.dtype}, but Tout says {dtype.name}; convert it with .astype, or change Tout")
    return np.asarray(convert_to_tensor(value, dtype))


def as_eager(value: Any, dtype: DType) -> Any:
    """A result of a Python function as a tensor of the dtype that ``Tout`` says.

    Raises:
        RuntimeError: it is a Variable.
        DTypeError: it has another dtype.
    """
    if isinstance(value, Variable):
        raise RuntimeError(f"a function given to py_function returned a Variable; return its value, v.read_value(), instead: {value!r}")
    return convert_to_tensor(value, dtype)


def _arguments(name: str, func: Any, inp: Any, Tout: Any) -> Any:
    """None, or the decorator that a call without ``func`` makes."""
    if Tout is None:
        raise TypeError(f"{name}: the argument 'Tout' is missing: the dtype of the result, or a list of them")
    if func is None:
        if inp is not None:
            raise TypeError(f"{name}: as a decorator (without func) it takes no 'inp'")
        call = numpy_function if name == "numpy_function" else py_function

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def wrapper(*args: Any) -> Any:
                return call(function, args, Tout)

            return wrapper

        return decorate
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r} of type {type(func)}.")
    if inp is None:
        raise TypeError(f"{name}: the argument 'inp' is missing: the list of arguments of the function")
    return None


def _dtypes(Tout: Any) -> DTypes:
    return tuple(t.dtype if isinstance(t, TensorSpec) else as_dtype(t) for t in (Tout if isinstance(Tout, list | tuple) else (Tout,)))


def _with_shapes(results: list[Any], Tout: Any) -> Any:
    """Results in the form of ``Tout``, with the shapes that it tells."""
    for result, wanted in zip(results, Tout if isinstance(Tout, list | tuple) else [Tout], strict=False):
        if isinstance(wanted, TensorSpec):
            result.set_shape(wanted.shape)
    return results if isinstance(Tout, list | tuple) else results[0]


def _line() -> Source | None:
    """The user's line while tracing; eagerly the traceback has it."""
    return None if LOCAL.graph is None else caller()


def _inputs(inp: Any) -> list[Any]:
    return [tensor(x) for x in (inp if isinstance(inp, list | tuple) else [inp])]


@public("numpy_function")
def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None) -> Any:
    """Call a Python function with NumPy arrays each time the program gets here. It has no gradient.

    Args:
        func: a function of arrays that gives arrays; without it, a decorator is made.
        inp: the list of its arguments, tensors.
        Tout: the dtype of its result, or a list of dtypes.
        stateful: ignored: calls are never merged or dropped.
        name: ignored.

    Returns:
        A tensor, or a list of them where ``Tout`` is a list. While tracing, its shape is unknown.

    Raises:
        DTypeError: an array has not the dtype of ``Tout``.

    Sources:
        TensorFlow ``tf.numpy_function``.
    """
    decorator = _arguments("numpy_function", func, inp, Tout)
    if decorator is not None:
        return decorator
    return _with_shapes(list(numpy_function_op(_inputs(inp), function=func, dtypes=_dtypes(Tout), made_at=_line())), Tout)


@public("py_function")
def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Call a Python function with eager tensors each time the program gets here; gradients of any order flow through what it does.

    Args:
        func: a function of tensors; without it, a decorator is made.
        inp: the list of its arguments, tensors.
        Tout: the dtype (or ``TensorSpec``) of its result, or a list of them.
        name: ignored.

    Returns:
        A tensor, or a list of them where ``Tout`` is a list. While tracing, its shape is unknown unless ``Tout`` tells it.

    Raises:
        DTypeError: a result has not the dtype of ``Tout``.

    Sources:
        TensorFlow ``tf.py_function``.
    """
    decorator = _arguments("py_function", func, inp, Tout)
    if decorator is not None:
        return decorator
    dtypes, inputs = _dtypes(Tout), _inputs(inp)
    if LOCAL.graph is None:
        return _with_shapes(results_of(func(*inputs), dtypes, as_eager, "the function given to py_function"), Tout)
    return _with_shapes(list(py_function_op(inputs, function=func, dtypes=dtypes, made_at=_line()))[:-1], Tout)
