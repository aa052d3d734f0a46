"""The operators that converted code calls, all in one place: it finds this module under the name ``ag__``."""

from __future__ import annotations

from treadle.errors import SymbolicTensorError
from treadle_autograph.branches import if_stmt, resume_if
from treadle_autograph.calls import converted, frame_reader
from treadle_autograph.conditions import and_, assert_, chain, decided, if_exp, in_, loop_truth, not_, not_in, or_, truth
from treadle_autograph.containers import added, changing, target
from treadle_autograph.definedness import defined, read
from treadle_autograph.fstrings import text
from treadle_autograph.iteration import elements, is_staged, iterate
from treadle_autograph.loops import for_stmt, resume_while, while_stmt
from treadle_autograph.tracebacks import clean
from treadle_autograph.watching import undecided

__all__ = [
    "SymbolicTensorError",
    "added",
    "and_",
    "assert_",
    "chain",
    "changing",
    "clean",
    "converted",
    "decided",
    "defined",
    "elements",
    "for_stmt",
    "frame_reader",
    "if_exp",
    "if_stmt",
    "in_",
    "is_staged",
    "iterate",
    "loop_truth",
    "not_",
    "not_in",
    "or_",
    "read",
    "resume_if",
    "resume_while",
    "target",
    "text",
    "truth",
    "undecided",
    "while_stmt",
]
