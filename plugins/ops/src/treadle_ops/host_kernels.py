"""Kernels of ops that act on the host, the same for every device: keys of random draws, printing."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_ops.print_format import render
from treadle_ops.random_state import state


@kernel("random_key")
def random_key(xp: Any) -> Any:
    """See the op."""

    def run(*, seed: int | None) -> Any:
        return np.array(state.next_key(seed), np.uint64)

    return run


@kernel("print")
def print_(xp: Any) -> Any:
    """See the op."""
    to_host = getattr(xp, "asnumpy", np.asarray)

    def run(tensors: list[Any], *, pieces: tuple[Any, ...], stream: Any, summarize: int, end: str) -> None:
        arrays = [to_host(t) for t in tensors]
        text = "".join(render(piece, arrays, summarize) for piece in pieces) + end
        target = sys.stderr if stream == "stderr" else sys.stdout if stream == "stdout" else stream
        target.write(text)
        target.flush()

    return run
