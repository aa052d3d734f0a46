"""Images whose rank is known only when a graph runs: made a batch, and a result made a single one again."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op
from treadle.dims import Dim
from treadle.errors import ShapeError
from treadle_ops.broadcasting import shape_of
from treadle_ops.inference import require_rank
from treadle_ops.shaping import reshape_op


@op("image_batch", aliases=True, can_fail=True)
def image_batch(image: Spec) -> Spec:
    """Images as they are, and a single one as a batch of one."""
    if image.dims is None:
        return Spec(tuple(Dim.symbol() for _ in range(4)), image.dtype)
    if len(image.dims) not in (3, 4):
        raise ShapeError(
            f"image has shape {image.shape}, of rank {len(image.dims)}; expected rank 3 or 4: (height, width, channels), or with a batch in front"
        )
    return Spec(image.dims if len(image.dims) == 4 else (1, *image.dims), image.dtype)


@op("without_batch", aliases=True, can_fail=True)
def without_batch(x: Spec, given: Spec) -> Spec:
    """A batch ``x`` as it is, or its only image, by the rank of what was ``given``."""
    batch, *rest = require_rank(x, 4, "x")
    if given.dims is None:
        return Spec(None, x.dtype)
    return Spec((*rest,) if len(given.dims) == 3 else (batch, *rest), x.dtype)


@gradient(image_batch)
def _(ctx: Any, g: Any) -> Any:
    return reshape_op(g, shape_of(ctx.inputs[0]))


@gradient(without_batch)
def _(ctx: Any, g: Any) -> Any:
    return reshape_op(g, shape_of(ctx.inputs[0])), None
