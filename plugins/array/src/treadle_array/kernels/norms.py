"""Euclidean norms; the gradient is what sets the op apart from ``reduce_euclidean_norm``."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.statistics import reduce_euclidean_norm


@kernel("euclidean_norm")
def euclidean_norm(xp: Any) -> Any:
    """See the op."""
    return reduce_euclidean_norm(xp)
