"""What is left of a nested structure when its leaves are taken out: hashable, to key a cache of traces.

What counts as nested is in `treadle.nest`; what stands for one tensor and is made of several is taken apart here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from treadle import nest

_NODES = nest._EXPANDED


class TreeDef(tuple[Any, ...]):
    """A structure without its leaves: hashable and comparable, to key a cache of traces.

    It is the tuple ``(class, what else defines it, child, child, ...)``, and empty for a leaf, so that hashing and
    comparing run in C. The order of insertion in a mapping is kept for ``unflatten`` but not compared.
    """

    __slots__ = ()

    @property
    def num_leaves(self) -> int:
        """How many leaves ``unflatten`` needs."""
        return sum(child.num_leaves for child in self[2:]) if self else 1

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The structure with these leaves, given in the order of ``flatten``.

        Raises:
            ValueError: there are too few or too many leaves.
        """
        rest = iter(leaves)
        try:
            result = _unflatten(self, rest)
        except _TooFewError:
            raise ValueError(f"TreeDef.unflatten: fewer leaves than the {self.num_leaves} of {self}") from None
        if next(rest, _END) is not _END:
            raise ValueError(f"TreeDef.unflatten: more leaves than the {self.num_leaves} of {self}")
        return result

    def __repr__(self) -> str:
        if not self:
            return "*"
        cls, aux, *children = self
        steps = _NODES[cls].steps(aux, len(children))  # type: ignore[union-attr]  # inner nodes have an entry
        inner = ", ".join(
            repr(child) if isinstance(step, int) and not issubclass(cls, Mapping) else f"{step}: {child!r}"
            for step, child in zip(steps, children, strict=True)
        )
        return f"{cls.__name__}({inner})"


class _TooFewError(Exception):
    pass


_END = object()
LEAF = TreeDef()


def flatten_to(structure: Any, leaves: list[Any]) -> TreeDef:
    """Append the leaves of a structure to a list, and describe what is left.

    Args:
        structure: any value.
        leaves: receives the leaves in the order of ``flatten``.

    Returns:
        A description that refers to no leaf; equal for structures that differ in leaves only.
    """
    cls = type(structure)
    node = _NODES[cls]
    if node is None:
        leaves.append(structure)
        return LEAF
    children, aux = (structure, None) if cls is tuple or cls is list else node.flatten(structure)
    parts = [cls, aux]
    for child in children:
        if _NODES[type(child)] is None:
            leaves.append(child)
            parts.append(LEAF)
        else:
            parts.append(flatten_to(child, leaves))
    return TreeDef(parts)


def _unflatten(tree: TreeDef, leaves: Iterator[Any]) -> Any:
    if not tree:
        leaf = next(leaves, _END)
        if leaf is _END:
            raise _TooFewError
        return leaf
    children = [_unflatten(child, leaves) for child in tree[2:]]
    return _NODES[tree[0]].unflatten(tree[1], children)  # type: ignore[union-attr]  # inner nodes have an entry
