"""``td.random.Generator``: a stream of random numbers whose state is a Variable, so that it can be saved, reset and split.

The state is the counter, its low word first, and then the key, as TensorFlow lays it out.
"""

from __future__ import annotations

import math
import os
from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.dtypes import as_dtype, float32, int32, int64, uint64
from treadle.errors import ShapeError
from treadle.scopes import init_scope
from treadle.variable import Variable
from treadle_ops.arguments import axis_argument, shape_argument, tensor
from treadle_ops.casting import cast
from treadle_ops.creation import zeros_like
from treadle_ops.joining import concat_op, stack_op, unstack_op
from treadle_ops.random_arguments import Algorithm, algorithm_argument
from treadle_ops.randomness import STATE_SIZES, generator_key, generator_skip, stateless_binomial_op, stateless_uniform_bits_op
from treadle_ops.reductions import reduce_prod_op
from treadle_ops.shaping import reshape_op
from treadle_ops.stateless_random import drawn_integers, drawn_normal, drawn_truncated_normal, drawn_uniform

_SPAN = 1 << 64


def _signed(number: int) -> int:
    number %= _SPAN
    return number - _SPAN if number >= _SPAN // 2 else number


def _state_tensor(value: Any) -> Any:
    """Words of a state as an int64 tensor; unsigned ones wrap."""
    if type(value) is int:
        return convert_to_tensor(_signed(value), int64)
    if isinstance(value, list | tuple):
        value = [_signed(v) if type(v) is int else v for v in value]
        if all(type(v) is int for v in value):
            return convert_to_tensor(value, int64)
    return cast(tensor(value), int64)


@public("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed: Any, alg: Any) -> Any:
    """The state of a generator for a seed.

    Args:
        seed: a Python int of any size, cut into words, the low one first; or words, of which missing ones are 0 in front.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Returns:
        ``(3,)`` for Philox, ``(2,)`` for Threefry, int64.

    Sources:
        TensorFlow ``tf.random.create_rng_state``.
    """
    size = STATE_SIZES[algorithm_argument(alg)]
    if type(seed) is int:
        seed = [(seed >> (64 * i)) % _SPAN for i in range(size)]
    words = reshape_op(_state_tensor(seed), (-1,))
    given = words.dims[0]
    if type(given) is not int:
        raise ShapeError(f"create_rng_state: the size of the seed {seed!r} is not known while tracing; give it a static shape")
    if given > size:
        words = words[:size]
    return words if given >= size else concat_op([convert_to_tensor([0] * (size - given), int64), words], axis=0)


@public("random.Generator", "random.experimental.Generator")
class Generator:
    """A generator of random numbers with a state of its own (TensorFlow's ``tf.random.Generator``).

    Args:
        copy_from: a generator whose state and algorithm to take.
        state: words of the first state, or a Variable that holds it and is used as it is.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Raises:
        ValueError: the state has not the algorithm's size.
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator: copy_from already brings a state and an algorithm; give either it or these")
            self._alg = copy_from._alg
            self._state = _new_variable(copy_from._state.value())
            return
        if state is None or alg is None:
            raise ValueError("Generator: state and alg are needed; Generator.from_seed(seed) is the usual way to make one")
        self._alg = algorithm_argument(alg)
        if isinstance(state, Variable):
            self._check(state)
            self._state = state
        else:
            words = _state_tensor(state)
            self._check(words)
            self._state = _new_variable(words)

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator that goes on from a state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator for a seed: a Python int, or words."""
        name = algorithm_argument("philox" if alg is None else alg)
        return cls(state=create_rng_state(seed, name), alg=name)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that no other run repeats."""
        name = algorithm_argument("philox" if alg is None else alg)
        return cls(state=[int.from_bytes(os.urandom(8), "little") for _ in range(STATE_SIZES[name])], alg=name)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator for a key (a scalar) and a counter (the other words of the state)."""
        name = algorithm_argument(alg)
        return cls(state=_joined(key, counter, name), alg=name)

    # ------------------------------------------------------------------ state

    @property
    def state(self) -> Variable:
        """The Variable that holds the state."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm, as ``td.random.Algorithm`` has it."""
        return Algorithm[self._alg.upper()].value

    @property
    def key(self) -> Any:
        """The key, a scalar."""
        return self._state[-1]

    def reset(self, state: Any) -> None:
        """Go on from another state."""
        words = _state_tensor(state)
        self._check(words)
        self._state.assign(words)

    def reset_from_seed(self, seed: Any) -> None:
        """Start again from a seed."""
        self._state.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go on from a key and a counter."""
        self._state.assign(_joined(key, counter, self._alg))

    def skip(self, delta: Any) -> Any:
        """Move on as if ``delta`` numbers had been drawn; gives the state from before."""
        before = self._state.value()
        self._state.assign(generator_skip(before, delta, alg=self._alg))
        return before

    def _check(self, words: Any) -> None:
        size = STATE_SIZES[self._alg]
        if not words.shape.is_compatible_with([size]):
            raise ShapeError(f"the state of a {self._alg} generator has shape [{size}], not {list(words.shape)}")

    def _next_key(self, shape: Any) -> tuple[Any, Any]:
        """The shape as a host input wants it, and the key for that many numbers; the state moves on."""
        wanted = shape_argument(shape)
        return wanted, generator_key(self.skip(_count(wanted)), alg=self._alg)

    # ------------------------------------------------------------------ drawing

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None) -> Any:
        """Normal numbers; see ``td.random.normal``."""
        wanted, key = self._next_key(shape)
        return drawn_normal(wanted, key, mean, stddev, as_dtype(dtype), self._alg)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None) -> Any:
        """Normal numbers within two standard deviations of the mean; see ``td.random.truncated_normal``."""
        wanted, key = self._next_key(shape)
        return drawn_truncated_normal(wanted, key, mean, stddev, as_dtype(dtype), self._alg)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None) -> Any:
        """Uniform numbers in ``[minval, maxval)``; both None for the whole range of an integer dtype."""
        kind = as_dtype(dtype)
        if not kind.is_integer:
            wanted, key = self._next_key(shape)
            return drawn_uniform(wanted, key, minval, maxval, kind, self._alg)
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {kind.name}, minval and maxval must be both `None` or both non-`None`; got minval={minval} and maxval={maxval}"
            )
        if minval is None:
            return self.uniform_full_int(shape, kind)
        wanted, key = self._next_key(shape)
        return drawn_integers(wanted, key, minval, maxval, kind, self._alg)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> Any:
        """Integers over the whole range of the dtype."""
        wanted, key = self._next_key(shape)
        return stateless_uniform_bits_op(wanted, key, dtype=as_dtype(dtype), alg=self._alg)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: str | None = None) -> Any:
        """Binomial numbers; ``counts`` and ``probs`` broadcast to ``shape``."""
        wanted, key = self._next_key(shape)
        return stateless_binomial_op(wanted, key, tensor(counts), tensor(probs), dtype=as_dtype(dtype), alg=self._alg)

    # ------------------------------------------------------------------ more seeds

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for stateless functions, ``(2, count)`` of int64: one in each column."""
        keys = self.uniform_full_int([count], int64)
        return stack_op([keys, zeros_like(keys)], axis=0)

    def split(self, count: int = 1) -> list[Generator]:
        """Generators that are independent of this one and of each other."""
        number = axis_argument(count, "count")
        keys = unstack_op(self.uniform_full_int([number], int64), num=number, axis=0)
        zeros = [0] * (STATE_SIZES[self._alg] - 1)
        return [Generator(state=[*zeros, key], alg=self._alg) for key in keys]

    def __deepcopy__(self, memo: dict[int, Any]) -> Generator:
        twin = memo[id(self)] = Generator(copy_from=self)
        return twin


def _new_variable(words: Any) -> Variable:
    return Variable(words, trainable=False, name="StateVar", dtype=int64)


def _joined(key: Any, counter: Any, alg: str) -> Any:
    first, last = _state_tensor(counter), _state_tensor(key)
    size = STATE_SIZES[alg] - 1
    if not first.shape.is_compatible_with([size]) or not last.shape.is_compatible_with([]):
        raise ShapeError(
            f"the counter of a {alg} generator has shape [{size}] and its key is a scalar, not {list(first.shape)} and {list(last.shape)}"
        )
    return concat_op([first, reshape_op(last, (1,))], axis=0)


def _count(shape: Any) -> Any:
    """The number of elements of a shape."""
    if type(shape) is tuple:
        return math.prod(shape)
    return reduce_prod_op(tensor(shape), axis=None, keepdims=False)


_global: list[Generator] = []


@public("random.get_global_generator", "random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """The global generator, made from no seed at the first question.

    Returns:
        The generator that ``set_global_generator`` set last.
    """
    if not _global:
        with init_scope():
            _global.append(Generator.from_non_deterministic_state())
    return _global[0]


@public("random.set_global_generator", "random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Replace the global generator. Traced functions that drew from the former one go on with that.

    Args:
        generator: the new one.
    """
    _global[:] = [generator]
