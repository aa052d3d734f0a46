"""Which signatures of a traced function one trace can serve, and the signature that serves two of them.

The signature itself, and how a call gets one, is in `treadle.functions.keys`.
"""

from __future__ import annotations

from typing import Any

from treadle.functions.keys import Key, TensorPart, TypePart


def covers(wide: Key, narrow: Key) -> bool:
    """True if a trace for ``wide`` serves a call of signature ``narrow``."""
    if (wide.structure, wide.context, wide.aliases) != (narrow.structure, narrow.context, narrow.aliases):
        return False
    return all(_part_covers(w, n) for w, n in zip(wide.parts, narrow.parts, strict=True))


def _part_covers(wide: Any, narrow: Any) -> bool:
    if isinstance(wide, TensorPart) and isinstance(narrow, TensorPart):
        if wide.dtype is not narrow.dtype:
            return False
        if wide.dims is None:
            return True
        if narrow.dims is None or len(wide.dims) != len(narrow.dims):
            return False
        return all(w is None or w == n for w, n in zip(wide.dims, narrow.dims, strict=True))
    if isinstance(wide, TypePart) and isinstance(narrow, TypePart):
        same_tensors = len(wide.tensors) == len(narrow.tensors) and all(map(_part_covers, wide.tensors, narrow.tensors))
        return same_tensors and (wide.type == narrow.type or narrow.type.is_subtype_of(wide.type))
    return bool(wide == narrow)


def common_parts(a: Key, b: Key) -> tuple[Any, ...] | None:
    """The parts that serve both signatures, if they differ in sizes only."""
    if (a.structure, a.context, a.aliases) != (b.structure, b.context, b.aliases):
        return None
    parts = []
    for x, y in zip(a.parts, b.parts, strict=True):
        if isinstance(x, TensorPart) and isinstance(y, TensorPart) and x.dtype is y.dtype and x.dims is not None and y.dims is not None:
            if len(x.dims) != len(y.dims):
                return None
            parts.append(TensorPart(x.dtype, tuple(m if m == n else None for m, n in zip(x.dims, y.dims, strict=True))))
        elif x == y:
            parts.append(x)
        else:
            return None
    return tuple(parts)
