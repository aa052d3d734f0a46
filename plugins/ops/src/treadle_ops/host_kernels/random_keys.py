"""Keys of random draws, taken from the state of the stateful ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_ops.random_state import in_force


@kernel("random_key")
def random_key(xp: Any) -> Any:
    """See the op."""

    def run(*, seed: int | None) -> Any:
        return np.array(in_force().next_key(seed), np.uint64)

    return run
