"""Warnings that point at the user's own line, however deep inside they are given."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from treadle.state import own_packages


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is neither treadle's nor a plugin's.

    Args:
        message: what to say.
        category: the kind of warning.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in own_packages:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
