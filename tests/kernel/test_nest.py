"""Tests of treadle.nest: TensorFlow's tf.nest, records and registered classes."""

from __future__ import annotations

import array
import collections
import types
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from treadle import nest
from treadle.treedef import flatten_to


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


@dataclass
class Derived:
    size: Any
    scale: InitVar[int]
    area: Any = field(init=False)

    def __post_init__(self, scale: int) -> None:
        self.area = self.size * scale


class Box:
    def __init__(self, content: Any, label: str) -> None:
        self.content, self.label = content, label


class Custom:
    def __init__(self, a: Any, b: Any, meta: str) -> None:
        self.a, self.b, self.meta = a, b, meta

    def __tf_flatten__(self) -> tuple[Any, Any]:
        return (self.meta,), (self.a, self.b)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Custom:
        return cls(*components, *metadata)


nest.register(Box, lambda box: ((box.content,), box.label), lambda label, children: Box(children[0], label))

ROUND_TRIPS = [
    [1, [2, (3, 4)], {"b": 5, "a": 6}],
    (),
    [],
    {},
    {"a": [], "b": ()},
    Point(1, [2]),
    Pair(1, {"k": 2}),
    collections.OrderedDict([("b", 1), ("a", 2)]),
    collections.defaultdict(list, {"b": 1, "a": [2]}),
    collections.Counter({"b": 3, "a": 2}),
    collections.deque([1, 2]),
    collections.UserDict({"b": 1, "a": 2}),
    {2: "x", 1: "y"},
    7,
    None,
]


@pytest.mark.parametrize("structure", ROUND_TRIPS, ids=repr)
def test_what_is_taken_apart_goes_together_again(structure: Any) -> None:
    leaves: list[Any] = []
    treedef = flatten_to(structure, leaves)
    assert leaves == nest.flatten(structure)
    assert treedef.num_leaves == len(leaves)
    for twin in (nest.pack_sequence_as(structure, leaves), treedef.unflatten(leaves)):
        assert twin == structure
        assert type(twin) is type(structure)
        if isinstance(structure, dict):
            assert list(twin) == list(structure)


def test_mappings_are_flattened_by_sorted_key_and_packed_in_their_own_order() -> None:
    structure = {"b": 0, "a": [0, 0]}
    assert nest.flatten({"b": 5, "a": 6}) == [6, 5]
    packed = nest.pack_sequence_as(structure, [1, 2, 3])
    assert packed == {"b": 3, "a": [1, 2]}
    assert list(packed) == ["b", "a"]


def test_a_mapping_proxy_and_a_defaultdict_keep_what_they_are() -> None:
    proxy = nest.map_structure(lambda x: x + 1, types.MappingProxyType({"a": 1}))
    assert isinstance(proxy, types.MappingProxyType)
    assert proxy["a"] == 2
    assert nest.map_structure(str, collections.defaultdict(list, a=1)).default_factory is list


def test_keys_that_do_not_sort_are_refused() -> None:
    with pytest.raises(TypeError, match=r"sort.*\[1, 'a'\]"):
        nest.flatten({1: 0, "a": 0})


@pytest.mark.parametrize("leaf", ["text", b"b", bytearray(b"b"), {1, 2}, np.zeros(3), np.float32(1), None, 1, array.array("i", [1]), Point])
def test_leaves(leaf: Any) -> None:
    assert not nest.is_nested(leaf)
    assert nest.flatten(leaf)[0] is leaf


def test_own_classes_and_declared_leaves_are_leaves() -> None:
    @dataclass
    class Spec:
        dims: tuple[int, ...]

    Spec.__module__ = "treadle.shapes"

    class Sealed(list):  # type: ignore[type-arg]
        __nest_leaf__ = True

    assert not nest.is_nested(Spec((1, 2)))
    assert not nest.is_nested(Sealed())


def test_a_range_is_nested_and_is_packed_as_a_list() -> None:
    assert nest.map_structure(str, range(2)) == ["0", "1"]


def test_a_dataclass_whose_constructor_takes_other_things_is_rebuilt_field_by_field() -> None:
    packed = nest.pack_sequence_as(Derived(2, 3), ["s", "a"])
    assert (packed.size, packed.area) == ("s", "a")


def test_a_dataclass_with_an_ordinary_constructor_runs_it() -> None:
    @dataclass
    class Sum:
        a: int

        def __post_init__(self) -> None:
            self.twice = 2 * self.a

    assert nest.map_structure(lambda x: x + 1, Sum(1)).twice == 4

    class Other(Sum):
        def __init__(self) -> None:
            super().__init__(5)

    assert nest.map_structure(lambda x: x + 1, Other()).a == 6


def test_attrs_classes_are_found_by_their_mark() -> None:
    class Attribute(NamedTuple):
        name: str
        init: bool = True

    class Record:
        __attrs_attrs__ = (Attribute("a"), Attribute("_b"))

        def __init__(self, a: Any, b: Any) -> None:
            self.a, self._b = a, b

    twin = nest.map_structure(lambda x: -x, Record(1, 2))
    assert (twin.a, twin._b) == (-1, -2)


def test_registered_and_custom_classes() -> None:
    box = nest.map_structure(lambda x: x + 1, Box([1, 2], "label"))
    assert (box.content, box.label) == ([2, 3], "label")
    custom = nest.map_structure(lambda x: x + 1, Custom(1, 2, "meta"))
    assert (custom.a, custom.b, custom.meta) == (2, 3, "meta")
    with pytest.raises(ValueError, match="'x' is not 'y'"):
        nest.assert_same_structure(Box(1, "x"), Box(1, "y"))


def test_builtin_containers_cannot_be_registered() -> None:
    with pytest.raises(ValueError, match="dict is built in"):
        nest.register(dict, lambda d: ((), None), lambda aux, children: {})


def test_pack_sequence_as_counts() -> None:
    assert nest.pack_sequence_as(0, [5]) == 5
    with pytest.raises(ValueError, match=r"2 leaves.*3 elements"):
        nest.pack_sequence_as([0, 0], [1, 2, 3])
    with pytest.raises(ValueError, match=r"1 leaves.*2 elements"):
        nest.pack_sequence_as(0, [1, 2])
    with pytest.raises(TypeError, match="'ab' of type str"):
        nest.pack_sequence_as([0, 0], "ab")


def test_map_structure() -> None:
    assert nest.map_structure(lambda a, b: a + b, [1, [2]], [10, [20]]) == [11, [22]]
    assert nest.map_structure(lambda a, b: a + b, 1, 2) == 3
    assert nest.map_structure(lambda a, b: a + b, [1, 2], (3, 4), check_types=False) == [4, 6]
    with pytest.raises(ValueError, match=r"map_structure.*structure\[1\]"):
        nest.map_structure(lambda a, b: a + b, [1, 2], [1, [2]])
    with pytest.raises(TypeError, match="list is not tuple"):
        nest.map_structure(lambda a, b: a + b, [1, 2], (1, 2))
    with pytest.raises(TypeError, match="callable"):
        nest.map_structure(3, [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no structure"):
        nest.map_structure(str)


@pytest.mark.parametrize(
    ("a", "b", "error", "text"),
    [
        ([1, 2], [1, [2]], ValueError, r"structure\[1\]: one is nested.*1: a leaf of type int, 2: list of 1"),
        ([1, 2], (1, 2), TypeError, "at structure: list is not tuple"),
        ([0, {"k": [1]}], [0, {"k": [1, 2]}], ValueError, r"structure\[1\]\['k'\]: the lengths 1 and 2"),
        ({"a": 1}, {"b": 1}, ValueError, r"keys differ.*\['a'\].*\['b'\]"),
        (Pair(1, [2]), Pair(1, 2), ValueError, r"structure\.second"),
        (Point(1, 2), (1, 2), TypeError, "Point is not tuple"),
        ([1], [1, 2], ValueError, "lengths 1 and 2"),
        ([1], {"a": 1}, TypeError, "list is not dict"),
    ],
)
def test_structures_that_differ_say_where_and_how(a: Any, b: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        nest.assert_same_structure(a, b)


def test_structures_that_are_alike() -> None:
    class MyList(list):  # type: ignore[type-arg]
        pass

    other = collections.namedtuple("Point", ["x", "y"])  # noqa: PYI024  another class of the same name
    nest.assert_same_structure([1, {"a": None}], [None, {"a": 2}])
    nest.assert_same_structure({"a": 1}, collections.OrderedDict(a=2))
    nest.assert_same_structure(collections.defaultdict(int, a=1), {"a": 2})
    nest.assert_same_structure([1], MyList([2]))
    nest.assert_same_structure(Point(1, 2), other(3, 4))
    nest.assert_same_structure([1, 2], (1, 2), check_types=False)
    nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)


def test_paths_print_as_python_would_write_them() -> None:
    found = nest.flatten_with_path([0, {"k": Point(1, Pair(2, 3))}])
    assert found == [((0,), 0), ((1, "k", "x"), 1), ((1, "k", "y", "first"), 2), ((1, "k", "y", "second"), 3)]
    assert nest.format_path(found[2][0], "xs") == "xs[1]['k'].y.first"
    assert nest.flatten_with_path(5) == [((), 5)]


def test_a_leaf_that_raises_stop_iteration_is_not_mistaken_for_the_end() -> None:
    def stop(_: Any) -> Any:
        raise StopIteration("mine")

    with pytest.raises(StopIteration, match="mine"):
        nest.map_structure(stop, [1])


def test_items_are_the_children_with_their_steps() -> None:
    assert nest.items({"b": 1, "a": [2]}) == [("a", [2]), ("b", 1)]
    assert nest.items(Point(1, (2, 3))) == [("x", 1), ("y", (2, 3))]
    assert nest.with_children(Point(1, (2, 3)), [4, 5]) == Point(4, 5)
    assert list(nest.with_children({"b": 1, "a": 2}, [3, 4]).items()) == [("b", 4), ("a", 3)]
