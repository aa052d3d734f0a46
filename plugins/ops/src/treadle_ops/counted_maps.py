"""A function of a position, for every position up to a count that may not be known while tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle_ops.extremes import maximum
from treadle_ops.functional_loops import map_fn
from treadle_ops.ranges import range as range_of


def for_each(function: Callable[[Any], list[Any]], count: Any, dtypes: list[Any]) -> list[Any]:
    """The results of a function at the positions ``0`` to ``count - 1``, each list entry stacked.

    When the count is 0 the function is run once and its results dropped, since only it knows their shapes.
    """
    rows = map_fn(function, range_of(maximum(count, 1)), fn_output_signature=dtypes)
    return [row[:count] for row in rows]
