"""What is left of a structure without its leaves: keys by structure, goes together again, prints."""

from __future__ import annotations

import collections
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from treadle import nest
from treadle.treedef import TreeDef, flatten_to


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


class Box:
    def __init__(self, content: Any, label: str) -> None:
        self.content, self.label = content, label


nest.register(Box, lambda box: ((box.content,), box.label), lambda label, children: Box(children[0], label))


def test_treedefs_key_by_structure_and_not_by_leaves() -> None:
    def treedef(structure: Any) -> TreeDef:
        return flatten_to(structure, [])

    same = {treedef([1, {"a": 2, "b": (3,)}]), treedef([object(), {"b": ("x",), "a": None}])}
    assert len(same) == 1
    different = [[1, 2], (1, 2), [1, [2]], [1], 1, {"a": 1}, {"b": 1}, collections.OrderedDict(a=1), Point(1, 2),
                 Pair(1, 2), Box(1, "x"), Box(1, "y"), [], (), {}]  # fmt: skip
    assert len({treedef(s) for s in different}) == len(different)


def test_treedefs_unflatten_in_the_order_of_insertion() -> None:
    assert list(flatten_to({"b": 1, "a": 2}, []).unflatten([2, 1]).items()) == [("b", 1), ("a", 2)]


def test_treedefs_pickle_print_and_count() -> None:
    treedef = flatten_to([1, {"b": 2, "a": (3,)}, Point(1, 2)], [])
    twin = pickle.loads(pickle.dumps(treedef))
    assert twin == treedef
    assert list(twin.unflatten(range(5))[1]) == ["b", "a"]
    assert repr(treedef) == "list(*, dict(a: tuple(*), b: *), Point(x: *, y: *))"
    assert repr(flatten_to(1, [])) == "*"
    with pytest.raises(ValueError, match="fewer leaves than the 5"):
        treedef.unflatten([1])
    with pytest.raises(ValueError, match="more leaves than the 5"):
        treedef.unflatten(range(6))
