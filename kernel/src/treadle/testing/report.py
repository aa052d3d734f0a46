"""What a check found: how much was checked, and each problem with the op, the case and both values."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

_LONGEST = 300


class Problem(NamedTuple):
    """One thing that is not as it should be.

    Attributes:
        check: which promise is broken.
        case: the inputs and attributes, in words.
        got: what there was.
        want: what was expected instead.
    """

    check: str
    case: str
    got: str
    want: str

    def __str__(self) -> str:
        return f"{self.check}\n    case: {self.case}\n    got:  {self.got}\n    want: {self.want}"


class Report:
    """What ``check_op`` did.

    Attributes:
        op: the op's name.
        done: check to how often it was made.
        problems: what is not as it should be.
    """

    def __init__(self, op: str) -> None:
        self.op = op
        self.done: Counter[str] = Counter()
        self.problems: list[Problem] = []

    @property
    def is_good(self) -> bool:
        """True when there is no problem."""
        return not self.problems

    def expect(self, holds: bool, check: str, case: Any, got: Any, want: Any) -> bool:
        """Note a check, and the problem if it does not hold."""
        self.done[check] += 1
        if not holds:
            got, want = getattr(got, "value", got), getattr(want, "value", want)
            self.problems.append(Problem(check, str(case), shown(got) + first_difference(got, want), shown(want)))
        return holds

    def raise_if_bad(self) -> Report:
        """The report itself.

        Raises:
            OpCheckError: there are problems.
        """
        if self.problems:
            raise OpCheckError(self)
        return self

    def __str__(self) -> str:
        checks = sum(self.done.values())
        if not self.problems:
            return f"op {self.op!r}: {checks} checks of {len(self.done)} kinds, all good"
        told = "\n".join(f"  {problem}" for problem in self.problems)
        return f"op {self.op!r}: {len(self.problems)} of {checks} checks failed\n{told}"

    def __repr__(self) -> str:
        return f"<report on op {self.op!r}: {sum(self.done.values())} checks, {len(self.problems)} problems>"


class OpCheckError(AssertionError):
    """An op does not keep its promises; ``report`` says which."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def first_difference(got: Any, want: Any) -> str:
    """Where two arrays, or two lists of them, differ first and by what; empty for anything else."""
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        told = ((i, first_difference(a, b)) for i, (a, b) in enumerate(zip(got, want, strict=True)))
        return next((f" (result {i}{text})" if len(got) > 1 else text for i, text in told if text), "")
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or got.shape != want.shape or got.dtype != want.dtype:
        return ""
    with np.errstate(all="ignore"):
        places = np.argwhere((got != want) & ((got == got) | (want == want)))
    if not len(places):
        return ""
    at = tuple(places[0].tolist())
    return f" differs first at {list(at)}: {got[at]!r} instead of {want[at]!r}"


def shown(value: Any) -> str:
    """A value in one line of bounded length; arrays with dtype and shape, errors with their class."""
    if isinstance(value, BaseException):
        text = f"{type(value).__name__}: {value}"
    elif isinstance(value, np.ndarray):
        text = f"{value.dtype}{list(value.shape)} {np.array2string(value, threshold=20, precision=17).replace(chr(10), ' ')}"
    elif isinstance(value, list):
        text = "[" + ", ".join(shown(v) for v in value) + "]"
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
