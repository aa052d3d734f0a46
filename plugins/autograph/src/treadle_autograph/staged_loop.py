"""A loop of the graph: its variables are found out by tracing the body, then it becomes a ``td.while_loop``.

A variable that has no value before the first turn starts as zeros, and may be read afterwards only if there was a turn. A Python number becomes a
tensor of the dtype that the body gives back where Python would have let it: ``total = 0`` may add up floats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.contracts.spec import Spec
from treadle.errors import OpError
from treadle.functions.atomic import AtomicFunction
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle_autograph.carried import Carried
from treadle_autograph.cells import EMPTY, Variables
from treadle_autograph.errors import ChangedContainerError, VariableTypeError
from treadle_autograph.lasting import lasting_of, names_of_new
from treadle_autograph.raising import recorded_in
from treadle_autograph.staging import Arm, join, trace_arm
from treadle_autograph.values import as_tensor

_MOST_ATTEMPTS = 6


class StagedLoop:
    """One loop.

    Args:
        variables: that its body binds.
        turn: runs the body; gets the loop's own tensors (a condition, a position) and gives the next ones.
        own: those before the first turn.
        goes_on: gives the condition, from the loop's own tensors and a function from a variable's name to its tensor.
        ran: whether there is a first turn.
        options: of ``set_loop_options``.
    """

    def __init__(
        self,
        variables: Variables,
        turn: Callable[[list[Any]], list[Any]],
        own: list[Any],
        goes_on: Callable[[list[Any], Callable[[str], Any]], Any],
        ran: Any,
        options: dict[str, Any],
    ) -> None:
        self._variables = variables
        self._turn = turn
        self._own = own
        self._goes_on = goes_on
        self._ran = ran
        self._maximum = options.get("maximum_iterations")
        invariants = [(tensor, TensorShape(shape)) for tensor, shape in options.get("shape_invariants") or ()]
        values = variables.read()
        self._refuse_shared(values)
        new = names_of_new(variables)
        first = zip(variables.names, values, lasting_of(variables, values), strict=True)
        self._carried = [Carried(name, value, variables.where, invariants, name in new, kept) for name, value, kept in first]

    def run(self) -> None:
        """Put the loop in the graph, and let the variables be what they are after it."""
        turn = self._trace()
        first = [*self._own, *(t for c in self._carried for t in c.first_tensors())]
        if turn.error is not None:
            self._run_once(turn, first)
            return
        outputs = [t for c in self._carried for t in c.outputs]
        function = turn.function(lambda: [*(as_tensor(t) for t in turn.values[-1]), *(as_tensor(t, d) for t, d in outputs)])
        own = len(self._own)

        def condition(*tensors: Any) -> Any:
            return self._goes_on(list(tensors[:own]), lambda name: self._value_of(name, list(tensors[own:])))

        def body(*tensors: Any) -> Any:
            return self._call(function, list(tensors))

        from treadle.functions.loops import while_loop

        results = while_loop(condition, body, first, maximum_iterations=self._maximum)
        found = iter(results[own:])
        self._variables.write([c.result(found, self._ran) for c in self._carried])

    def _run_once(self, turn: Arm, first: list[Any]) -> None:
        """A loop whose every turn raises: a branch, as there is one turn or none."""
        function = turn.function(list)
        if self._ran is True:
            self._call(function, first)
            raise recorded_in(LOCAL.graph, turn.error)
        taken = trace_arm(lambda: self._call(function, first), None, "loop body")
        passed = trace_arm(lambda: None, self._variables, "no turn")
        join(self._ran, Arm(taken.graph, turn.values, turn.error), passed, self._variables, "the loop", self._variables.where)

    def _value_of(self, name: str, tensors: list[Any]) -> Any:
        found = iter(tensors)
        for carried in self._carried:
            value = carried.result(found, True)
            if carried.name == name:
                return value
        raise KeyError(name)

    def _call(self, function: AtomicFunction, tensors: list[Any]) -> list[Any]:
        own = len(self._own)
        found = iter(tensors[own:])
        arguments = [a for c in self._carried for a in c.arguments(found)]
        return function.call([*tensors[:own], *arguments])

    # ------------------------------------------------------------------ finding out

    def _trace(self) -> Arm:
        """A turn, traced for variables whose dtypes hold before and after it; it gives the next own tensors."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                turn = self._attempt(is_probe=False)
            except (TypeError, ValueError, OpError) as error:
                if not self._adapted(error):
                    raise
                continue
            if turn.error is not None:
                return turn
            self._refuse_shared(turn.values[:-1])
            after = zip(self._carried, turn.contents[:-1], turn.lasting[:-1], strict=True)
            if not [c for c, value, lasting in after if c.leave(value, lasting, c.name in turn.missed)]:
                return turn
        raise VariableTypeError(f"the variables of the loop at {self._variables.where} do not settle on dtypes")

    def _refuse_shared(self, values: list[Any]) -> None:
        """Refuse a container that two variables lead to, if the loop sets its items: after a turn each would have one of its own."""
        shared = self._variables.shared(values)
        if shared is not None:
            container, name, other = shared
            kind = type(container).__name__
            raise ChangedContainerError(
                f"the Python {kind} whose items the loop at {self._variables.where} sets is reached as {name!r} and as {other!r}, which is set there "
                f"too; in a loop that depends on a tensor they would be two after a turn. Make a copy: {kind}({name})"
            )

    def _attempt(self, is_probe: bool) -> Arm:
        def turn() -> list[Any]:
            own = [SymbolicTensor(LOCAL.graph.placeholder(Spec(t.dims, t.dtype), "turn")) for t in self._own]
            self._variables.kept = [c.kept for c in self._carried if c.kept is not EMPTY]
            self._variables.write([c.enter(LOCAL.graph, is_probe) for c in self._carried])
            return self._turn(own)

        return trace_arm(turn, self._variables, "loop body")

    def _adapted(self, error: Exception) -> bool:
        """True if a Python number was the cause, and has the dtype now that a first turn in Python gives it."""
        if not any(c.has_numbers for c in self._carried):
            return False
        try:
            turn = self._attempt(is_probe=True)
        except Exception:
            return False
        return turn.error is None and sum([c.adapt(value) for c, value in zip(self._carried, turn.contents[:-1], strict=True)]) > 0
