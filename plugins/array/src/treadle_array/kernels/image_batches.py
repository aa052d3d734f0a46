"""Images made a batch, and a result made a single one again."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import ShapeError


@kernel("image_batch")
def image_batch(xp: Any) -> Any:
    """See the op."""

    def run(image: Any) -> Any:
        if image.ndim not in (3, 4):
            raise ShapeError(
                f"image has shape {image.shape}, of rank {image.ndim}; expected rank 3 or 4: (height, width, channels), or with a batch in front"
            )
        return image if image.ndim == 4 else image[None]

    return run


@kernel("without_batch")
def without_batch(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, given: Any) -> Any:
        return x.reshape(x.shape[1:]) if given.ndim == 3 else x

    return run
