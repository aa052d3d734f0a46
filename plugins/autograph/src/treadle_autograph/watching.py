"""Tests that Python runs as they are: which operand was it that turned out to be a tensor without a value?

Converted code asks nobody whether the test of an ``if`` or ``while`` is a tensor; it lets Python decide. A symbolic tensor refuses, by an exception.
Its traceback says which instruction asked, the instruction's place which operand of which test that was, and from there the operators go on.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from types import TracebackType
from typing import Any

from treadle.errors import SymbolicTensorError
from treadle.state import own_packages

_ASKING = ("POP_JUMP", "JUMP_IF", "TO_BOOL")
"""How the names of the instructions begin that ask for the truth of what was just computed."""
_COMPARING = "CONTAINS_OP"
"""The instruction that asks for the truth of comparisons that it makes itself."""
_CACHE = opcode.opmap["CACHE"]

Place = tuple[int, int, int, int]


class Undecided:
    """A test of which one operand has no value.

    Args:
        operand: the tensor.
        rest: gives the test's value from that of the operand; None if they are the same.
        number: of the branch or loop.
    """

    def __init__(self, operand: Any, rest: Callable[[Any], Any] | None, number: int) -> None:
        self._operand = operand
        self._rest = rest
        self.number = number

    def value(self) -> Any:
        """That of the test."""
        return self._operand if self._rest is None else self._rest(self._operand)


def undecided(error: SymbolicTensorError, staged: Any, *numbers: int) -> Undecided | None:
    """What could not be decided.

    Args:
        error: caught around the tests.
        staged: gives the parts of branches and loops.
        numbers: of those whose tests it may have been.

    Returns:
        None if it was something else, inside one of the arms.
    """
    entry = error.__traceback__
    if error.undecided is None or entry is None or not _is_asked_by(entry):
        return None
    place = _place_of_operand(entry)
    found = [(operand, rest, number) for number in numbers for operand, rest in staged(number)[-1] if _is_inside(place, operand)]
    if not found:
        return None
    _, rest, number = max(found, key=lambda row: row[0][:2])
    return Undecided(error.undecided, rest, number)


def _is_asked_by(entry: TracebackType) -> bool:
    """True if the instruction itself asked a tensor or Variable for its truth."""
    asked = entry.tb_next
    if asked is None or asked.tb_frame.f_code.co_name != "__bool__":
        return False
    if asked.tb_frame.f_globals["__name__"].partition(".")[0] not in own_packages:
        return False
    return _instruction(entry).startswith((*_ASKING, _COMPARING))


def _instruction(entry: TracebackType) -> str:
    return opcode.opname[entry.tb_frame.f_code.co_code[entry.tb_lasti]]


def _place_of_operand(entry: TracebackType) -> Any:
    """The place of the instruction that computed what was asked, which in every version of Python is the operand's."""
    code = entry.tb_frame.f_code
    index = entry.tb_lasti // 2
    if _instruction(entry) != _COMPARING:
        index -= 1
    while code.co_code[2 * index] == _CACHE:
        index -= 1
    start_line, end_line, start, end = list(code.co_positions())[index]
    return start_line, start, end_line, end


def _is_inside(place: Any, operand: Place) -> bool:
    return None not in place and operand[:2] <= place[:2] and place[2:] <= operand[2:]
