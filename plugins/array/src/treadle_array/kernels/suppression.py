"""Boxes chosen one after the other by falling score; what a box suppresses is found for all others at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel


def _require(xp: Any, boxes: Any, scores: Any, most: int, threshold: float) -> None:
    if boxes.ndim < 2 or boxes.shape[-1] != 4 or scores.shape != boxes.shape[:-1]:
        raise ValueError(f"scores of shape {scores.shape} do not fit boxes of shape {boxes.shape}")
    if type(most) is not int or most < 0:
        raise ValueError(f"max_output_size {most}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"iou_threshold {threshold}")


def _wide(xp: Any, x: Any) -> Any:
    return x.astype(xp.float32) if x.dtype.itemsize == 2 else x


def _overlap(xp: Any, boxes: Any) -> Callable[[int, Any], Any]:
    """A function of a box and of others, a slice of all: their intersection as a part of the union, 0 for boxes without an area."""
    low, high = xp.minimum(boxes[:, :2], boxes[:, 2:]), xp.maximum(boxes[:, :2], boxes[:, 2:])
    area = (high[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])

    def overlap(i: int, others: Any) -> Any:
        sides = xp.maximum(xp.minimum(high[i], high[others]) - xp.maximum(low[i], low[others]), 0)
        shared = sides[:, 0] * sides[:, 1]
        union = area[i] + area[others] - shared
        has_area = (area[i] > 0) & (area[others] > 0)
        return xp.where(has_area, shared / xp.where(has_area, union, 1), 0)

    return overlap


def _by_score(xp: Any, scores: Any, least: float) -> Any:
    """The indices of scores above ``least``, by falling score; of equal ones the first comes first."""
    order = xp.argsort(-scores, kind="stable")
    return order[scores[order] > scores.dtype.type(least)]


def _greedy(xp: Any, order: Any, overlap: Callable[[int, Any], Any], most: int, threshold: Any, inclusive: bool) -> list[int]:
    """Places in ``order`` that are chosen; ``overlap`` is of such places."""
    chosen: list[int] = []
    count = order.shape[0]
    alive = xp.ones(count, bool)
    place = 0
    while len(chosen) < most:
        place += int(xp.argmax(alive[place:])) if place < count else 0
        if place >= count or not bool(alive[place]):
            break
        chosen.append(place)
        shares = overlap(place, slice(place + 1, None))
        alive[place + 1 :] &= (shares < threshold) if inclusive else (shares <= threshold)
        place += 1
    return chosen


def _softly(xp: Any, boxes: Any, scores: Any, most: int, least: float, sigma: float) -> tuple[list[int], list[Any]]:
    overlap, lowest = _overlap(xp, boxes), scores.dtype.type(least)
    current = scores.copy()
    waiting = current > lowest
    chosen: list[int] = []
    values: list[Any] = []
    while len(chosen) < most and bool(waiting.any()):
        best = int(xp.argmax(xp.where(waiting, current, -xp.inf)))
        if not bool(waiting[best]):
            best = int(xp.argmax(waiting))
        chosen.append(best)
        values.append(current[best])
        waiting[best] = False
        shares = overlap(best, slice(None))
        current = xp.where(waiting, current * xp.exp(scores.dtype.type(-0.5 / sigma) * shares * shares), current)
        waiting &= current > lowest
    return chosen, values


def _chosen(xp: Any, boxes: Any, scores: Any, most: int, iou: float, least: float, sigma: float, inclusive: bool) -> tuple[list[int], list[Any]]:
    """Indices and scores of the boxes chosen."""
    if sigma > 0:
        return _softly(xp, boxes, scores, most, least, sigma)
    threshold = scores.dtype.type(iou)
    order = _by_score(xp, scores, least)
    places = _greedy(xp, order, _overlap(xp, boxes[order]), most, threshold, inclusive)
    found = order.tolist()
    indices = [found[place] for place in places]
    return indices, [scores[i] for i in indices]


def _filled(result: Any, items: list[Any]) -> Any:
    for i, item in enumerate(items):
        result[i] = item
    return result


@kernel("non_max_suppression")
def non_max_suppression(xp: Any) -> Any:
    """See the op."""

    def run(boxes: Any, scores: Any, most: int, iou: float, least: float, sigma: float, *, pad: bool, inclusive: bool) -> Any:
        _require(xp, boxes, scores, most, iou)
        dtype = scores.dtype
        wide, values = _wide(xp, boxes), _wide(xp, scores)
        if not pad:
            if boxes.ndim != 2:
                raise ValueError("only a padded result can be of a batch")
            indices, found = _chosen(xp, wide, values, most, iou, least, sigma, inclusive)
            return (
                _filled(xp.empty(len(indices), xp.int32), indices),
                _filled(xp.empty(len(found), dtype), found),
                xp.full((), len(indices), xp.int32),
            )
        lead = scores.shape[:-1]
        number = 1
        for size in lead:
            number *= size
        wide, values = wide.reshape(number, -1, 4), values.reshape(number, -1)
        all_indices, all_scores, counts = xp.zeros((number, most), xp.int32), xp.zeros((number, most), dtype), xp.zeros(number, xp.int32)
        for i in range(number):
            indices, found = _chosen(xp, wide[i], values[i], most, iou, least, sigma, inclusive)
            _filled(all_indices[i], indices)
            _filled(all_scores[i], found)
            counts[i] = len(indices)
        return all_indices.reshape(*lead, most), all_scores.reshape(*lead, most), counts.reshape(lead)

    return run


@kernel("non_max_suppression_overlaps")
def non_max_suppression_overlaps(xp: Any) -> Any:
    """See the op."""

    def run(overlaps: Any, scores: Any, most: int, threshold: float, least: float) -> Any:
        if scores.ndim != 1 or overlaps.shape != (scores.shape[0],) * 2 or type(most) is not int or most < 0:
            raise ValueError(f"overlaps of shape {overlaps.shape} do not fit scores of shape {scores.shape}")
        values, shares = _wide(xp, scores), _wide(xp, overlaps)
        order = _by_score(xp, values, least)
        places = _greedy(xp, order, lambda i, others: shares[order[others], order[i]], most, values.dtype.type(threshold), False)
        found = order.tolist()
        return _filled(xp.empty(len(places), xp.int32), [found[place] for place in places])

    return run


@kernel("combined_non_max_suppression")
def combined_non_max_suppression(xp: Any) -> Any:
    """See the op."""

    def run(boxes: Any, scores: Any, per_class: int, total: int, iou: float, least: float, *, pad_per_class: bool, clip_boxes: bool) -> Any:
        if boxes.ndim != 4 or scores.ndim != 3 or boxes.shape[:2] != scores.shape[:2] or boxes.shape[2] not in (1, scores.shape[2]):
            raise ValueError(f"scores of shape {scores.shape} do not fit boxes of shape {boxes.shape}")
        if boxes.shape[3] != 4 or per_class < 1 or total < 1 or not 0 <= iou <= 1:
            raise ValueError(f"sizes {per_class} and {total}, iou_threshold {iou}")
        batch, _, classes = scores.shape
        kept = min(total, per_class * classes) if pad_per_class else total
        corners, values, labels = xp.zeros((batch, kept, 4), boxes.dtype), xp.zeros((batch, kept), boxes.dtype), xp.zeros((batch, kept), boxes.dtype)
        counts = xp.zeros(batch, xp.int32)
        for i in range(batch):
            found = []
            for c in range(classes):
                own = boxes[i, :, c if boxes.shape[2] > 1 else 0]
                indices, best = _chosen(xp, _wide(xp, own), _wide(xp, scores[i, :, c]), per_class, iou, least, 0.0, False)
                found += [(float(score), c, own[index]) for index, score in zip(indices, best, strict=True)]
            found = sorted(found, key=lambda item: -item[0])[:kept]
            for k, (score, c, box) in enumerate(found):
                values[i, k], labels[i, k], corners[i, k] = score, c, box
            counts[i] = len(found)
        return xp.clip(corners, 0, 1).astype(boxes.dtype, copy=False) if clip_boxes else corners, values, labels, counts

    return run
