"""Comparisons, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel, same_names

same_names(
    __name__,
    equal="equal",
    not_equal="not_equal",
    less="less",
    less_equal="less_equal",
    greater="greater",
    greater_equal="greater_equal",
    is_nan="isnan",
    is_inf="isinf",
    is_finite="isfinite",
)


@kernel("equal_or_false")
def equal_or_false(xp: Any) -> Any:
    """See the op."""
    return _lenient(xp, xp.equal, False)


@kernel("not_equal_or_true")
def not_equal_or_true(xp: Any) -> Any:
    """See the op."""
    return _lenient(xp, xp.not_equal, True)


def _lenient(xp: Any, compare: Callable[[Any, Any], Any], otherwise: bool) -> Callable[[Any, Any], Any]:
    def run(x: Any, y: Any) -> Any:
        if all(a == b or a == 1 or b == 1 for a, b in zip(reversed(x.shape), reversed(y.shape), strict=False)):
            return compare(x, y)
        return xp.array(otherwise)

    return run
