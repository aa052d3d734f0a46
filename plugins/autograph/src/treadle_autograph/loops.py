"""Loops: Python's own as they are, turn by turn; those whose condition or items are tensors as ``td.while_loop``.

The body of a ``while`` ends with its condition, so that this is computed as often as in Python and what it does happens in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.registry import registry
from treadle_autograph.cells import Variables
from treadle_autograph.conditions import logic, loop_truth, not_, or_, place_of
from treadle_autograph.errors import NotStagedError
from treadle_autograph.iteration import Items, items_of
from treadle_autograph.staged_loop import StagedLoop
from treadle_autograph.staging import branch
from treadle_autograph.watching import Undecided

_MOST_TURNS = 10_000


class _Parts:
    """What converted code says of a loop."""

    def __init__(self, staged: Any, number: int) -> None:
        self.body, self.test, live, passing, self.exits, self.options, _ = staged(number)
        self.where = place_of(self.body)
        self.variables = Variables(staged, live, passing, self.where)

    def stopped(self) -> Any:
        """Whether a ``break`` or ``return`` has ended the loop: a bool, or a tensor."""
        return _any([self.variables.value_of(name) for name in self.exits])

    def chosen(self) -> dict[str, Any]:
        """What ``set_loop_options`` says."""
        return {} if self.options is None else self.options()


def _any(flags: list[Any]) -> Any:
    result: Any = False
    for flag in flags:
        result = or_(result, lambda _, flag=flag: flag)
    return result


def while_stmt(test: Any, staged: Any, number: int) -> None:
    """Run a ``while`` loop.

    Args:
        test: the condition's value before the next turn; None if it is still to be computed.
        staged: gives the parts.
        number: of the loop.
    """
    loop = _Parts(staged, number)

    def again() -> Any:
        return _condition(loop)

    current = again() if test is None else loop_truth(test)
    while current is True:
        loop.body()
        current = again()
    if current is False:
        return

    def turn(_: list[Any]) -> list[Any]:
        loop.body()
        return [again()]

    StagedLoop(loop.variables, turn, [current], lambda extra, _: extra[0], current, loop.chosen()).run()


def resume_while(found: Undecided, staged: Any) -> None:
    """Go on with a ``while`` loop whose condition Python could not decide."""
    while_stmt(found.value(), staged, found.number)


def _condition(loop: _Parts) -> Any:
    """Whether there is another turn: a bool, or a bool scalar tensor."""
    stopped = loop.stopped()
    if stopped is True:
        return False
    if stopped is False:
        return loop_truth(loop.test())
    return loop_truth(logic(not_(stopped), lambda: loop_truth(loop.test()), True, loop.variables, loop.where))


def for_stmt(iterable: Any, staged: Any, number: int) -> None:
    """Run a ``for`` loop.

    Args:
        iterable: what it goes over.
        staged: gives the parts.
        number: of the loop.
    """
    loop = _Parts(staged, number)
    items = items_of(iterable)
    if items is not None:
        _staged_for(loop, items)
        return
    unsure = 0
    for item in iterable:
        stopped = loop.stopped()
        if stopped is True:
            break
        if stopped is False:
            loop.body(item)
            continue
        unsure += 1
        if unsure > _MOST_TURNS:
            raise NotStagedError(
                f"the `for` loop at {loop.where} goes over a Python iterable and was unrolled {unsure} times, as its `break` depends on a tensor; "
                "use td.range, or a `while` loop"
            )
        arms: tuple[Callable[[], Any], ...] = (lambda item=item: loop.body(item), lambda: None)
        branch(not_(stopped), arms, loop.variables, "the loop", loop.where)


def _staged_for(loop: _Parts, items: Items) -> None:
    length = items.length
    if isinstance(length, int):
        if length == 0:
            return
        ran: Any = True
        count = convert_to_tensor(length)
    else:
        count = length
        ran = registry.role("__gt__")(count, 0)
    first = convert_to_tensor(0, count.dtype)
    if ran is True and loop.variables.lacks_parts():  # the first turn makes them, so it is not like the others
        loop.body(items.at(first))
        ran = not_(loop.stopped())
        if ran is False or length == 1:
            return
        first = convert_to_tensor(1, count.dtype)

    def turn(extra: list[Any]) -> list[Any]:
        loop.body(items.at(extra[0]))
        return [registry.role("__add__")(extra[0], 1)]

    def goes_on(extra: list[Any], value_of: Callable[[str], Any]) -> Any:
        more = registry.role("__lt__")(extra[0], count)
        for name in loop.exits:
            more = registry.role("__and__")(more, not_(value_of(name)))
        return more

    StagedLoop(loop.variables, turn, [first], goes_on, ran, loop.chosen()).run()
