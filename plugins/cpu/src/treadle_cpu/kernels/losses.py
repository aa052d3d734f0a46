"""Half the sum of squares, by BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.blocks import is_short

_ROW = 4096
"""Elements that BLAS adds up on its own: the sums of the rows are added in pairs, so that the error stays that of short sums."""


@kernel("l2_loss")
def l2_loss(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""

    def run(t: Any) -> Any:
        flat = t.reshape(-1)
        if is_short(t.dtype):
            flat = flat.astype(np.float32)
        whole = flat.size // _ROW * _ROW
        total = np.add.reduce(np.square(flat[whole:]))
        if whole:
            rows = flat[:whole].reshape(-1, _ROW)
            total += np.add.reduce(np.vecdot(rows, rows))
        return (total * 0.5).astype(t.dtype)

    return run
