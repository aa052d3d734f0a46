"""The guards of ``td.debugging.enable_check_numerics``."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_ops.numerics_checks import what_is_wrong


@kernel("guard_numerics")
def guard_numerics(xp: Any) -> Any:
    """See the op; only values that are wrong come to the host."""
    to_host = getattr(xp, "asnumpy", np.asarray)

    def run(x: Any, inputs: Any, *, made_by: str, output: int) -> None:
        if not xp.isfinite(x).all():
            raise what_is_wrong(made_by, output, to_host(x), [to_host(array) for array in inputs])

    return run
