"""Printing to streams, files and logs."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_ops.print_format import render


@kernel("print")
def print_(xp: Any) -> Any:
    """See the op."""
    to_host = getattr(xp, "asnumpy", np.asarray)

    def run(tensors: list[Any], *, pieces: tuple[Any, ...], stream: Any, summarize: int) -> None:
        text = render(pieces, [to_host(t) for t in tensors], summarize)
        if isinstance(stream, int):
            logging.getLogger("treadle").log(stream, "%s", text.removesuffix("\n"))
        elif isinstance(stream, str) and stream.startswith("file://"):
            with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
                file.write(text)
        else:
            target = sys.stderr if stream == "stderr" else sys.stdout if stream == "stdout" else stream
            target.write(text)
            target.flush()

    return run
