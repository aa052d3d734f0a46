"""The operators that converted code calls, all in one place: it finds this module under the name ``ag__``."""

from __future__ import annotations

from treadle_autograph.branches import if_stmt
from treadle_autograph.calls import changing, converted, frame_reader
from treadle_autograph.conditions import and_, assert_, chain, decided, if_exp, loop_truth, not_, or_, truth
from treadle_autograph.definedness import defined
from treadle_autograph.iteration import elements, is_staged, iterate
from treadle_autograph.loops import for_stmt, while_stmt
from treadle_autograph.tracebacks import clean

__all__ = [
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
    "is_staged",
    "iterate",
    "loop_truth",
    "not_",
    "or_",
    "truth",
    "while_stmt",
]
