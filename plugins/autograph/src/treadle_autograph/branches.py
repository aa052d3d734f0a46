"""The ``if`` statement."""

from __future__ import annotations

from typing import Any

from treadle_autograph.cells import Variables
from treadle_autograph.conditions import place_of, truth
from treadle_autograph.staging import branch
from treadle_autograph.watching import Undecided


def if_stmt(condition: Any, staged: Any, number: int) -> None:
    """Run one arm of an ``if``.

    Args:
        condition: its test.
        staged: gives the parts.
        number: of the branch.
    """
    body, orelse, live, passing, _ = staged(number)
    body, orelse = body or _nothing, orelse or _nothing
    result = truth(condition)
    if result is True or result is False:
        (body if result else orelse)()
        return
    where = place_of(orelse if body is _nothing else body)
    branch(result, (body, orelse), Variables(staged, live, passing, where), "the branch", where)


def resume_if(found: Undecided, staged: Any) -> None:
    """Run one arm of an ``if`` whose test Python could not decide."""
    if_stmt(found.value(), staged, found.number)


def _nothing() -> None:
    """An arm without statements."""
