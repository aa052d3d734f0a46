"""Gradients that compute a function again instead of keeping what it computed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from treadle import nest, state
from treadle.autodiff.custom import custom_gradient
from treadle.autodiff.tape import GradientTape
from treadle.declare import public
from treadle.state import LOCAL
from treadle.tensor import Operators


@public("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose gradient runs it again, so that nothing of what it computes is kept until then.

    Args:
        f: a function of tensors, given by position; it may read Variables. Gradients flow to its arguments and to these.

    Returns:
        A function with the same results.

    Sources:
        TensorFlow ``tf.recompute_grad``.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        @custom_gradient
        def run(*tensors: Any) -> Any:
            with state.untaped(), GradientTape() as watcher:
                result = f(*tensors, **kwargs)
            for tape in LOCAL.tapes:
                for variable in watcher.watched_variables():
                    tape.touch(variable)

            def gradient(*upstream: Any, variables: Any = ()) -> Any:
                sources = [leaf for leaf in nest.flatten(tensors) if isinstance(leaf, Operators)]
                with GradientTape() as tape:
                    tape.watch([s for s in sources if s.dtype.is_differentiable])
                    again = nest.flatten(f(*tensors, **kwargs))
                found = tape.gradient(again, [*sources, *variables], list(upstream))
                of_arguments = found[: len(sources)]
                return (of_arguments, found[len(sources) :]) if variables else of_arguments

            return result, gradient

        return run(*args)

    return decorated
