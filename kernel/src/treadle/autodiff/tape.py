"""GradientTape: remembers what was computed from what it watches, and differentiates it in reverse."""

from __future__ import annotations

import enum
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from treadle import nest, state
from treadle.autodiff.kept import kept
from treadle.autodiff.sweep import GradientContext, Record, passed_on, sweep
from treadle.contracts.op import Op
from treadle.conversion import convert_to_tensor
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Operators, Tensor, next_id
from treadle.user_warnings import warn
from treadle.variable import Variable

_NO_SPECS: list[Any] = [None]


class UnconnectedGradients(enum.Enum):
    """What the gradient of something that the target does not depend on is."""

    NONE = "none"
    ZERO = "zero"


def identity_of(tensor: Any) -> int:
    """The identity of a tensor for tapes, given at the first question."""
    identity: int = tensor._id
    if not identity:
        identity = tensor._id = next_id()
    return identity


class GradientTape:
    """Record operations for automatic differentiation (TensorFlow's ``tf.GradientTape``).

    Args:
        persistent: keep the record, so that ``gradient`` can be called more than once.
        watch_accessed_variables: watch every trainable Variable that is read.
    """

    instrument = None
    """A function of the graph of every function that is called, for what looks at every op; a tape wants none."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._records: list[Any] | None = []
        self._watched: set[int] = set()
        self._variables: dict[int, weakref.ref[Any]] = {}
        self._recording = False
        self._kept: list[Any] = []

    # ------------------------------------------------------------------ scope

    def __enter__(self) -> Self:
        self._push()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._recording:
            self._pop()

    def _push(self) -> None:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._records is None:
            self._records = []
        state.enter()
        LOCAL.tapes = (*LOCAL.tapes, self)
        self._recording = True

    def _pop(self) -> None:
        tapes = LOCAL.tapes
        if self not in tapes:
            raise RuntimeError("a GradientTape that another thread entered is left, or asked while it records; enter, leave and ask it in one thread")
        LOCAL.tapes = tapes[:-1] if tapes and tapes[-1] is self else tuple(t for t in tapes if t is not self)
        self._recording = False
        state.leave()

    def watch(self, tensor: Any) -> None:
        """Record what is computed from a tensor, Variable, or a structure of them."""
        for leaf in (tensor,) if isinstance(tensor, Operators) else nest.flatten(tensor):
            if isinstance(leaf, Variable):
                self._watch_variable(leaf)
                continue
            if not isinstance(leaf, Tensor):
                protocol = getattr(type(leaf), "__treadle_tensor__", None)
                if protocol is None:
                    raise ValueError(f"Passed in object {leaf!r} of type {type(leaf).__name__!r}, not a tensor or Variable that a tape can watch")
            if not leaf.dtype.is_differentiable:
                warn(f"The dtype of the watched tensor must be floating (e.g. td.float32), got {leaf.dtype.name}; its gradient is None")
                continue
            self._watched.add(identity_of(leaf))
            self._kept.append(leaf)

    def _watch_variable(self, variable: Variable) -> None:
        if variable._id not in self._variables:
            self._variables[variable._id] = weakref.ref(variable)
            if variable.dtype.is_differentiable:
                self._watched.add(variable._id)

    def watched_variables(self) -> tuple[Any, ...]:
        """The Variables watched, in the order of their creation."""
        alive = (self._variables[i]() for i in sorted(self._variables))
        return tuple(v for v in alive if v is not None)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside the ``with``."""
        if not self._recording:
            raise ValueError("Tape is not recording; stop_recording() belongs inside its `with`")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget everything recorded and watched."""
        recording = self._recording
        if recording:
            self._pop()
        self._records, self._watched, self._variables, self._kept = [], set(), {}, []
        if recording:
            self._push()

    # ------------------------------------------------------------------ recording

    def record_op(self, op: Op, inputs: Any, attrs: dict[str, Any], outputs: list[Any]) -> None:
        """Note a call of an op, if it reads anything watched and has a gradient.

        Args:
            op: the contract.
            inputs: as the op declares them; a Variable stands for the value it has now.
            attrs: every attribute.
            outputs: the results.
        """
        if op.gradient is None:
            return
        tensors = inputs if op.is_plain else _tensors(op, inputs)
        watched = self._watched
        needs: list[int] = []
        found = False
        for tensor in tensors:
            identity = tensor._id
            if identity in watched or (type(tensor) is Variable and self._touched(tensor)):
                needs.append(identity)
                found = True
            else:
                needs.append(0)
        if not found:
            return
        if len(outputs) == 1:
            (output,) = outputs
            if not output.dtype.is_differentiable:
                return
            made = output._id
            if not made:
                made = output._id = next_id()
            watched.add(made)
            results, specs = [made], _NO_SPECS
        else:
            adopted = self._adopt(outputs)
            if adopted is None:
                return
            results, specs = [t._id for t in outputs], adopted
        if LOCAL.graph is None:
            inputs, outputs = kept(op, inputs, tensors, outputs, attrs, needs)
        self._records.append(GradientContext(op, inputs, outputs, attrs, needs, results, specs))  # type: ignore[union-attr]  # only called while recording

    def _touched(self, variable: Variable) -> bool:
        """Watch a Variable that is not watched yet, if this tape does so when it is read; whether gradients flow to it."""
        if not (self._watch_variables and variable._trainable):
            return False
        self._watch_variable(variable)
        return variable._id in self._watched

    def record_call(self, name: str, inputs: list[Any], outputs: list[Any], pull: Any, zeros: bool = True) -> bool:
        """Note a call that brings its own way back: a function, a custom gradient. False if nothing in it is watched."""
        identities = [t._id if t._id in self._watched else 0 for t in inputs]
        if not any(identities):
            return False
        specs: list[Any] = [None] * len(outputs)
        if zeros:
            specs = self._adopt(outputs) or specs
        for output in outputs:
            if output.dtype.is_differentiable:
                self._watched.add(identity_of(output))
        assert self._records is not None
        self._records.append(Record(name, pull, identities, [identity_of(t) for t in outputs], specs, zeros))
        return True

    def is_watching(self, things: list[Any]) -> bool:
        """True if any of these tensors or Variables is watched, or a Variable would be."""
        return any(t._id in self._watched or (self._watch_variables and isinstance(t, Variable) and t.trainable) for t in things)

    def record_read(self, variable: Variable, tensor: Any) -> None:
        """Note that a Variable was read."""
        if self._watch_variables and variable.trainable:
            self._watch_variable(variable)
        if variable._id in self._watched:
            assert self._records is not None
            self._watched.add(identity_of(tensor))
            self._records.append(Record("read", passed_on, [variable._id], [tensor._id], [None]))

    def touch(self, variable: Variable) -> None:
        """Watch a trainable Variable that a function reads."""
        if self._watch_variables and variable.trainable:
            self._watch_variable(variable)

    def _adopt(self, outputs: list[Any]) -> list[Any] | None:
        """Watch results. Per result what zeros are made from, None where no gradient flows; None if it flows nowhere."""
        specs: list[Any] = []
        any_flows = False
        for output in outputs:
            identity = identity_of(output)
            if output.dtype.is_differentiable:
                self._watched.add(identity)
                any_flows = True
                specs.append(output if type(output) is SymbolicTensor else (output._buffer.shape, output._key))
            else:
                specs.append(None)
        return specs if any_flows else None

    # ------------------------------------------------------------------ differentiating

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the sum of ``target`` with respect to ``sources``.

        Args:
            target: a tensor or a structure of them.
            sources: a tensor or Variable, or a structure of them.
            output_gradients: one cotangent per target, by default ones.
            unconnected_gradients: ``"none"`` or ``"zero"`` for sources that the target does not depend on.

        Returns:
            The structure of ``sources`` with a gradient, or None, for each.

        Raises:
            RuntimeError: a tape that is not persistent was asked before.
        """
        if self._records is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians); make it persistent=True"
            )
        unconnected = unconnected_gradients if type(unconnected_gradients) is UnconnectedGradients else UnconnectedGradients(unconnected_gradients)
        if self._recording and not self._persistent:
            self._pop()
        targets = [target] if isinstance(target, Operators) else nest.flatten(target)
        is_flat = type(sources) is list and all(isinstance(s, Operators) for s in sources)
        wanted: list[Any] = sources if is_flat else [sources] if isinstance(sources, Operators) else nest.flatten(sources)
        for source in () if is_flat else wanted:
            if not isinstance(source, Operators):
                raise TypeError(f"a gradient is asked with respect to {source!r} ({type(source).__name__}); sources are tensors and Variables")
        seeds = [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients)
        if len(seeds) != len(targets):
            raise InvalidArgumentError(f"output_gradients has {len(seeds)} entries for {len(targets)} targets; give one for each")
        if not isinstance(target, Operators) and not all(isinstance(t, Operators) for t in targets):
            targets, seeds = _taken_apart(targets, seeds)
        found = self._sweep(targets, wanted, seeds)
        results = [found.get(source._id) for source in wanted]
        if unconnected is UnconnectedGradients.ZERO:
            zeros_like = registry.role("zeros_like")
            results = [zeros_like(s if isinstance(s, Tensor) else s.value()) if g is None else g for s, g in zip(wanted, results, strict=True)]
        if not self._persistent:
            self._records = None
            self._watched, self._kept = set(), []
        if isinstance(sources, Operators):
            return results[0]
        return results if is_flat else nest.pack_sequence_as(sources, results)

    def _sweep(self, targets: list[Any], wanted: list[Any], seeds: list[Any]) -> dict[int, Any]:
        assert self._records is not None
        cotangents: dict[int, Any] = {}
        for target, seed in zip(targets, seeds, strict=True):
            if not isinstance(target, Operators):
                raise TypeError(
                    f"the target of a gradient is {target!r} ({type(target).__name__}); it must be a tensor. Does a function forget its return?"
                )
            identity = target._id
            if identity not in self._watched or not target.dtype.is_differentiable:
                continue
            given = _ones_like(target) if seed is None else convert_to_tensor(seed, None, target.dtype)
            if seed is not None and not given.shape.is_compatible_with(target.shape):
                raise ShapeError(f"an output gradient of shape {given.shape} was given for a target of shape {target.shape}; they must be equal")
            before = cotangents.get(identity)
            cotangents[identity] = given if before is None else registry.role("accumulate")(before, given)
        keep = {source._id for source in wanted if source._id and source.dtype.is_differentiable}
        records = reversed(self._records) if self._persistent else _used_up(self._records)
        return sweep(records, cotangents, keep)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of every element of ``target`` with respect to every element of ``sources``.

        Args:
            target: a tensor.
            sources: a tensor or Variable, or a structure of them.
            unconnected_gradients: as for ``gradient``.
            parallel_iterations: ignored.
            experimental_use_pfor: True sweeps back once for all elements of the target together, False once for each, which needs less memory.

        Returns:
            Per source ``target.shape + source.shape``.
        """
        from treadle.autodiff.jacobian import jacobian

        return jacobian(self, target, sources, UnconnectedGradients(unconnected_gradients), experimental_use_pfor)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Per row of the batch the derivative of ``target[b, ...]`` with respect to ``source[b, ...]``.

        Returns:
            ``(batch, *target.shape[1:], *source.shape[1:])``.
        """
        from treadle.autodiff.jacobian import batch_jacobian

        return batch_jacobian(self, target, source, UnconnectedGradients(unconnected_gradients), experimental_use_pfor)


def _taken_apart(targets: list[Any], seeds: list[Any]) -> tuple[list[Any], list[Any]]:
    """Targets that stand for one tensor and are made of several as these, and what cotangents of the whole are for the parts."""
    parts: list[Any] = []
    of_parts: list[Any] = []
    for target, seed in zip(targets, seeds, strict=True):
        pieces = [target] if isinstance(target, Operators) else nest.flatten(target, expand_composites=True)
        parts += pieces
        if isinstance(target, Operators):
            of_parts.append(seed)
        elif seed is None or not isinstance(seed, Tensor):
            of_parts += [None] * len(pieces) if seed is None else nest.flatten(seed, expand_composites=True)
        else:
            floats = [piece for piece in pieces if piece.dtype.is_differentiable]
            with GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(floats)
                whole = target.__treadle_tensor__()
            found = iter(tape.gradient(whole, floats, seed))
            of_parts += [next(found) if piece.dtype.is_differentiable else None for piece in pieces]
    return parts, of_parts


def _ones_like(target: Any) -> Any:
    """The cotangent of a target; that of an eager scalar, which most are, is made once."""
    if type(target) is Tensor and target._buffer.shape == ():
        one = target._key.one
        if one is None:
            one = target._key.one = registry.role("ones_like")(target)
        return one
    if type(target) is Tensor and target._key.dtype.kind != "l":
        return Tensor(target._key.device.copy_in(np.ones(target._buffer.shape, target._key.dtype.numpy)), target._key)
    return registry.role("ones_like")(target)


def _used_up(records: list[Any]) -> Iterator[Any]:
    """The records, latest first, each let go as it is given."""
    while records:
        yield records.pop()


def _tensors(op: Op, inputs: Any) -> list[Any]:
    """The tensor inputs in order, sequences spread out; what shapes the result is none of them, though it may be a tensor."""
    entries = [entry for declared, entry in zip(op.inputs, inputs, strict=True) if declared.kind != "host"]
    return [t for entry in entries for t in (entry if isinstance(entry, list | tuple) else (entry,))]
