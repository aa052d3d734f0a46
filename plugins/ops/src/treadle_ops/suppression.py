"""Boxes chosen by score, without those that overlap one already chosen too much."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, op, public
from treadle.dims import Dim, Size
from treadle.dtypes import float32, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import integers_argument, tensor
from treadle_ops.inference import FLOATING, require_kind, require_rank, require_scalar, same_dtype

_LOWEST = float("-inf")


class CombinedNonMaxSuppression(NamedTuple):
    """Boxes of all classes, their scores and classes, and how many are not padding."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


def _count(number: Spec, what: str) -> Size:
    if number.dims is not None and number.dims != ():
        raise ShapeError(f"{what} must be a scalar, got shape {number.shape}")
    if isinstance(number.value, int) and number.value < 0:
        raise InvalidArgumentError(f"{what} must be non-negative, got {number.value}")
    return Dim.symbol() if number.value is None else number.value


def _require_threshold(threshold: Spec) -> None:
    require_scalar(threshold, "iou_threshold")
    if isinstance(threshold.value, int | float) and not 0 <= threshold.value <= 1:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], got {threshold.value}")


@op("non_max_suppression", can_fail=True)
def non_max_suppression_op(
    boxes: Spec,
    scores: Spec,
    max_output_size: HostSpec,
    iou_threshold: HostSpec,
    score_threshold: HostSpec,
    soft_nms_sigma: HostSpec,
    *,
    pad: bool,
    inclusive: bool,
) -> tuple[Spec, Spec, Spec]:
    """Indices of the boxes chosen, their scores, and their number; batches in front only if padded to one size.

    Boxes go whose overlap exceeds the threshold, or if ``inclusive`` reaches it; with a sigma their scores are lowered instead.
    """
    dtype = require_kind(Spec(None, same_dtype(boxes, scores)), FLOATING, "boxes")
    most = _count(max_output_size, "max_output_size")
    _require_threshold(iou_threshold)
    require_scalar(score_threshold, "score_threshold")
    require_scalar(soft_nms_sigma, "soft_nms_sigma")
    lead: tuple[Size, ...] = ()
    if boxes.dims is not None:
        if len(boxes.dims) < 2 or sizes.known_different(boxes.dims[-1], 4):
            raise ShapeError(f"boxes have shape {boxes.shape}; expected (n, 4)")
        lead = boxes.dims[:-2]
        if not pad:
            require_rank(boxes, 2, "boxes")
        expected = boxes.dims[:-1]
        if scores.dims is not None and (
            len(scores.dims) != len(expected) or any(sizes.known_different(a, b) for a, b in zip(scores.dims, expected, strict=True))
        ):
            raise ShapeError(f"scores of shape {scores.shape} do not fit boxes of shape {boxes.shape}; expected one score per box")
    elif pad:
        return Spec(None, int32), Spec(None, dtype), Spec(None, int32)
    found = (*lead, most if pad else Dim.symbol())
    return Spec(found, int32), Spec(found, dtype), Spec(lead, int32)


@op("non_max_suppression_overlaps", can_fail=True)
def non_max_suppression_overlaps_op(
    overlaps: Spec, scores: Spec, max_output_size: HostSpec, overlap_threshold: HostSpec, score_threshold: HostSpec
) -> Spec:
    """Indices of the boxes chosen, by given overlaps."""
    require_kind(Spec(None, same_dtype(overlaps, scores)), FLOATING, "overlaps")
    _count(max_output_size, "max_output_size")
    require_scalar(overlap_threshold, "overlap_threshold")
    require_scalar(score_threshold, "score_threshold")
    rows, columns = require_rank(overlaps, 2, "overlaps")
    (number,) = require_rank(scores, 1, "scores")
    if sizes.known_different(rows, columns) or sizes.known_different(rows, number):
        raise ShapeError(f"overlaps of shape {overlaps.shape} must be square, with a row per score of shape {scores.shape}")
    return Spec((Dim.symbol(),), int32)


@op("combined_non_max_suppression", can_fail=True)
def combined_non_max_suppression_op(
    boxes: Spec,
    scores: Spec,
    max_output_size_per_class: HostSpec,
    max_total_size: HostSpec,
    iou_threshold: HostSpec,
    score_threshold: HostSpec,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> CombinedNonMaxSuppression:
    """The best boxes of every class, chosen class by class."""
    same_dtype(boxes, scores)
    if boxes.dtype is not float32:
        require_kind(boxes, FLOATING, "boxes")
    batch, number, shared, four = require_rank(boxes, 4, "boxes")
    batches, numbers, classes = require_rank(scores, 3, "scores")
    if sizes.known_different(batch, batches) or sizes.known_different(number, numbers) or sizes.known_different(four, 4):
        raise ShapeError(
            f"boxes of shape {boxes.shape} and scores of shape {scores.shape} do not fit; expected (batch, n, q, 4) and (batch, n, classes)"
        )
    if shared != 1 and sizes.known_different(shared, classes):
        raise ShapeError(
            f"boxes of shape {boxes.shape} are for {shared} classes, scores of shape {scores.shape} for {classes}; expected 1 or as many"
        )
    per_class, total = _count(max_output_size_per_class, "max_output_size_per_class"), _count(max_total_size, "max_total_size")
    for size, what in ((per_class, "max_output_size_per_class"), (total, "max_total_size")):
        if size == 0:
            raise InvalidArgumentError(f"{what} must be greater than 0")
    _require_threshold(iou_threshold)
    require_scalar(score_threshold, "score_threshold")
    kept = sizes.minimum(total, sizes.mul(per_class, classes)) if pad_per_class else total
    found = Spec((batch, kept), boxes.dtype)
    return CombinedNonMaxSuppression(Spec((batch, kept, 4), boxes.dtype), found, found, Spec((batch,), int32))


# ---------------------------------------------------------------------- public functions


def _chosen(boxes: Any, scores: Any, most: Any, iou: Any, least: Any, sigma: Any = 0.0, pad: bool = False, inclusive: bool = False) -> Any:
    most = integers_argument(most, "max_output_size")
    x = tensor(boxes)
    return non_max_suppression_op(x, tensor(scores, x), most, iou, least, sigma, pad=pad, inclusive=inclusive)


@public("image.non_max_suppression")
def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = _LOWEST, name: str | None = None
) -> Any:
    """Boxes chosen by falling score, without those that overlap one already chosen too much.

    Args:
        boxes: ``(n, 4)`` floating: two opposite corners ``y1, x1, y2, x2``.
        scores: ``(n,)`` of the dtype of ``boxes``.
        max_output_size: how many to choose at most.
        iou_threshold: in [0, 1]: the largest intersection, as a part of the union, with a box already chosen.
        score_threshold: only boxes with a greater score are chosen.
        name: ignored.

    Returns:
        Their indices, ``(m,)`` int32; of equal scores the first box comes first.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: the threshold or the size is out of range.

    Sources:
        TensorFlow ``tf.image.non_max_suppression``.
    """
    return _chosen(boxes, scores, max_output_size, iou_threshold, score_threshold)[0]


@public("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Boxes chosen by falling score, where a box may lower the scores of those that it overlaps.

    Args:
        boxes: ``(n, 4)`` floating: two opposite corners ``y1, x1, y2, x2``.
        scores: ``(n,)`` of the dtype of ``boxes``.
        max_output_size: how many to choose at most.
        iou_threshold: in [0, 1]: the largest intersection, as a part of the union, with a box already chosen.
        score_threshold: only boxes with a greater score are chosen.
        soft_nms_sigma: if not 0, boxes that overlap do not go: every box chosen multiplies the scores of the others by
            ``exp(-overlap**2 / (2 * sigma))``.
        name: ignored.

    Returns:
        Their indices, ``(m,)`` int32, and their scores, ``(m,)``.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: the threshold or the size is out of range.

    Sources:
        TensorFlow ``tf.image.non_max_suppression_with_scores``.
    """
    indices, found, _ = _chosen(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    return indices, found


@public("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> Any:
    """Boxes chosen by falling score, without those whose overlap with one already chosen reaches the threshold; also in batches.

    Args:
        boxes: ``(..., n, 4)`` floating: two opposite corners ``y1, x1, y2, x2``.
        scores: ``(..., n)`` of the dtype of ``boxes``.
        max_output_size: how many to choose at most.
        iou_threshold: in [0, 1]: the intersection, as a part of the union, with a box already chosen at which a box goes.
        score_threshold: only boxes with a greater score are chosen.
        pad_to_max_output_size: fill the indices with zeros to that size; needed for batches.
        name: ignored.
        sorted_input: ignored; sorting sorted scores changes nothing.
        canonicalized_coordinates: ignored; corners in order stay as they are.
        tile_size: ignored.

    Returns:
        Their indices, ``(..., m)`` int32, and how many there are, ``(...)`` int32.

    Raises:
        ShapeError: the shapes do not fit, or a batch is not padded.
        InvalidArgumentError: the threshold or the size is out of range.

    Sources:
        TensorFlow ``tf.image.non_max_suppression_padded``.
    """
    pad = bool(pad_to_max_output_size)
    indices, _, number = _chosen(boxes, scores, max_output_size, iou_threshold, score_threshold, pad=pad, inclusive=True)
    return indices, number


@public("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5, score_threshold: Any = _LOWEST, name: str | None = None
) -> Any:
    """Boxes chosen by falling score, without those that overlap one already chosen too much, by given overlaps.

    Args:
        overlaps: ``(n, n)`` floating: how much each overlaps each.
        scores: ``(n,)`` of the dtype of ``overlaps``.
        max_output_size: how many to choose at most.
        overlap_threshold: the largest overlap with a box already chosen.
        score_threshold: only boxes with a greater score are chosen.
        name: ignored.

    Returns:
        Their indices, ``(m,)`` int32.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: the size is negative.

    Sources:
        TensorFlow ``tf.image.non_max_suppression_overlaps``.
    """
    x = tensor(overlaps)
    most = integers_argument(max_output_size, "max_output_size")
    return non_max_suppression_overlaps_op(x, tensor(scores, x), most, overlap_threshold, score_threshold)


@public("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """The best boxes of all classes, chosen class by class as ``td.image.non_max_suppression`` does.

    Args:
        boxes: ``(batch, n, q, 4)`` float32, where ``q`` is the number of classes, or 1 for boxes that all classes share.
        scores: ``(batch, n, classes)`` float32.
        max_output_size_per_class: how many of each class to choose at most.
        max_total_size: how many of all classes to keep.
        iou_threshold: in [0, 1]: the largest intersection, as a part of the union, with a box of the class already chosen.
        score_threshold: only boxes with a greater score are chosen.
        pad_per_class: do not pad to more than ``max_output_size_per_class`` times the number of classes.
        clip_boxes: move corners into [0, 1].
        name: ignored.

    Returns:
        ``nmsed_boxes`` ``(batch, m, 4)``, ``nmsed_scores`` and ``nmsed_classes`` ``(batch, m)`` by falling score and padded with zeros, and
        ``valid_detections`` ``(batch,)`` int32.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: the threshold or a size is out of range.

    Sources:
        TensorFlow ``tf.image.combined_non_max_suppression``.
    """
    x = tensor(boxes)
    per_class, total = (integers_argument(n, "a size") for n in (max_output_size_per_class, max_total_size))
    options = {"pad_per_class": bool(pad_per_class), "clip_boxes": bool(clip_boxes)}
    return combined_non_max_suppression_op(x, tensor(scores, x), per_class, total, iou_threshold, score_threshold, **options)
