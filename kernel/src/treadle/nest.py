"""Nested structures: take the leaves out of lists, tuples, mappings and records, and put others in their place.

The functions are those of ``tf.nest``. Nested are: list, tuple, namedtuple and other sequences; mappings, whose leaves
come by sorted key; instances of dataclasses and attrs classes, field by field; objects with TensorFlow's
``__tf_flatten__``; and classes given to ``register``. All else is a leaf: None, strings, sets,
arrays, tensors, whatever has a true ``__nest_leaf__``, and treadle's own classes unless they are namedtuples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Path = tuple[Any, ...]


class Field(str):
    """A step of a path that is an attribute and not a key: equal to its name, but printed ``.name``."""

    __slots__ = ()


class _Keys(tuple[Any, ...]):
    """Sorted keys of a mapping that remember the order of insertion without comparing it."""

    order: tuple[Any, ...]


class _TypedKeys(_Keys):
    """The same for keys among which are numbers: 1, True and 1.0 are three keys here, though Python holds them equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and tuple.__eq__(self, other) and list(map(type, self)) == list(map(type, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def _sorted_keys(mapping: Mapping[Any, Any]) -> tuple[Any, ...]:
    order = tuple(mapping)
    try:
        keys = sorted(order)
    except TypeError as exc:
        raise TypeError(
            f"nest: a {type(mapping).__name__} needs keys that sort, so that its leaves have an order; keys: {list(order)!r} ({exc})"
        ) from exc
    is_text = all(type(key) is str for key in order)
    if is_text and (len(keys) < 2 or keys == list(order)):
        return order
    result = (_Keys if is_text else _TypedKeys)(keys)
    result.order = order
    return result


def _in_order(keys: tuple[Any, ...], children: Iterable[Any]) -> dict[Any, Any]:
    result = dict(zip(keys, children, strict=True))
    return {key: result[key] for key in keys.order} if isinstance(keys, _Keys) else result


class _Node:
    """How one class is taken apart and put together; this one does any sequence."""

    def __init__(self, cls: type) -> None:
        self.cls: Any = cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        """The children, and what else ``unflatten`` needs: hashable and free of leaves."""
        return value, None

    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        return self.cls(children)

    def steps(self, aux: Any, count: int) -> Sequence[Any]:
        """The children's steps in a path."""
        return range(count)


class _List(_Node):
    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        return children


class _NamedTuple(_Node):
    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        return self.cls._make(children)

    def steps(self, aux: Any, count: int) -> Sequence[Any]:
        return [Field(name) for name in self.cls._fields]


class _Mapping(_Node):
    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        keys = _sorted_keys(value)
        return [value[key] for key in keys], keys

    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        items = _in_order(aux, children)
        if not issubclass(self.cls, dict):
            return self.cls(items)
        result: Any = self.cls()
        for key, value in items.items():  # not cls(items): a Counter would count
            result[key] = value
        return result

    def steps(self, aux: Any, count: int) -> Sequence[Any]:
        return tuple(aux)


class _Dict(_Mapping):
    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        return _in_order(aux, children)


class _DefaultDict(_Mapping):
    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        children, keys = super().flatten(value)
        return children, (keys, value.default_factory)

    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        return self.cls(aux[1], _in_order(aux[0], children))

    def steps(self, aux: Any, count: int) -> Sequence[Any]:
        return tuple(aux[0])


class _Record(_Node):
    """A dataclass or attrs class; ``arguments`` is None when its constructor does not take exactly the fields."""

    def __init__(self, cls: type, fields: list[str], arguments: list[str] | None) -> None:
        super().__init__(cls)
        self.fields = [Field(name) for name in fields]
        self.arguments = arguments

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return [getattr(value, name) for name in self.fields], None

    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        if self.arguments is not None:
            return self.cls(**dict(zip(self.arguments, children, strict=True)))
        result = object.__new__(self.cls)
        for name, value in zip(self.fields, children, strict=True):
            object.__setattr__(result, name, value)  # also when it is frozen
        return result

    def steps(self, aux: Any, count: int) -> Sequence[Any]:
        return self.fields


class _Registered(_Node):
    def __init__(
        self,
        cls: type,
        flatten_fn: Callable[[Any], tuple[Iterable[Any], Hashable]],
        unflatten_fn: Callable[[Any, list[Any]], Any],
    ) -> None:
        super().__init__(cls)
        self.flatten_fn = flatten_fn
        self.unflatten_fn = unflatten_fn

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        children, aux = self.flatten_fn(value)
        return tuple(children), aux

    def unflatten(self, aux: Any, children: list[Any]) -> Any:
        return self.unflatten_fn(aux, children)


def _classify(cls: Any) -> _Node | None:
    if getattr(cls, "__nest_leaf__", False):
        return None
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make"):
        return _NamedTuple(cls)
    if cls.__module__.partition(".")[0] == "treadle" or hasattr(cls, "__array__"):
        return None
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _Registered(
            cls,
            lambda value: value.__tf_flatten__()[::-1],  # TensorFlow's order is (metadata, components)
            lambda aux, children: cls.__tf_unflatten__(aux, tuple(children)),
        )
    if issubclass(cls, (list, tuple)):
        return _Node(cls)
    if issubclass(cls, defaultdict):
        return _DefaultDict(cls)
    if issubclass(cls, (Mapping, MappingProxyType)):
        return _Mapping(cls)
    if hasattr(cls, "__dataclass_fields__"):
        return _dataclass_node(cls)
    if hasattr(cls, "__attrs_attrs__"):
        return _attrs_node(cls)
    if issubclass(cls, range):
        return _List(cls)  # its items need not be a range any more
    if issubclass(cls, (str, bytes, bytearray, memoryview)) or cls.__module__ == "array":
        return None
    return _Node(cls) if issubclass(cls, Sequence) else None


def _dataclass_node(cls: Any) -> _Node:
    import dataclasses  # no cost: there is a dataclass, so it is loaded

    fields = dataclasses.fields(cls)
    names = [field.name for field in fields]
    plain = all(field.init for field in fields) and len(fields) == len(cls.__dataclass_fields__)
    owner: Any = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
    generated = "__dataclass_params__" in owner.__dict__ and owner.__dataclass_params__.init
    return _Record(cls, names, names if plain and generated else None)


def _attrs_node(cls: Any) -> _Node:
    fields = cls.__attrs_attrs__
    names = [field.name for field in fields]
    aliases = [getattr(field, "alias", None) or field.name.lstrip("_") for field in fields]
    return _Record(cls, names, aliases if all(field.init for field in fields) else None)


class _NodeTable(dict[type, "_Node | None"]):
    """Class -> its node, None for leaves; a class is classified when it is first met."""

    def __missing__(self, cls: type) -> _Node | None:
        node = self[cls] = _classify(cls)
        return node


class _ExpandedTable(dict[type, "_Node | None"]):
    """Class -> its node where composites are taken apart too."""

    def __missing__(self, cls: type) -> _Node | None:
        node = self[cls] = _NODES[cls]
        return node


_NODES = _NodeTable({list: _List(list), tuple: _Node(tuple), dict: _Dict(dict)})
_EXPANDED = _ExpandedTable()
_BUILTIN = (list, tuple, dict)


def register(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_fn: Callable[[Any, list[Any]], Any],
    composite: bool = False,
) -> None:
    """Make instances of exactly ``cls`` nested structures. A second registration replaces the first.

    Args:
        cls: the class; its subclasses are not meant.
        flatten_fn: an instance -> (its children, what else defines it; the latter hashable and free of leaves).
        unflatten_fn: (what else defines it, a list of children) -> an instance; the children may be of any kind.
        composite: an instance stands for one tensor: a leaf unless ``expand_composites`` is asked for. Traced functions take it apart always.

    Raises:
        ValueError: ``cls`` is list, tuple or dict.
    """
    if cls in _BUILTIN:
        raise ValueError(f"nest.register: {cls.__name__} is built in and cannot be replaced; register a subclass")
    node = _Registered(cls, flatten_fn, unflatten_fn)
    _NODES[cls] = None if composite else node
    _EXPANDED[cls] = node


def is_nested(seq: Any) -> bool:
    """Whether a value has children, or could have: ``[]`` is nested, a tensor is not."""
    return _NODES[type(seq)] is not None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, in order.

    Args:
        structure: any value; a leaf gives a list of itself.
        expand_composites: take apart what stands for one tensor and is made of several, such as ``td.IndexedSlices``.

    Returns:
        A new list; of a mapping, by sorted key.

    Raises:
        TypeError: the keys of a mapping do not sort.

    Sources:
        TensorFlow 2.21, ``tf.nest.flatten``.
    """
    leaves: list[Any] = []
    _flatten(structure, leaves, _EXPANDED if expand_composites else _NODES)
    return leaves


def _flatten(value: Any, leaves: list[Any], nodes: dict[type, _Node | None]) -> None:
    node = nodes[type(value)]
    if node is None:
        leaves.append(value)
        return
    for child in node.flatten(value)[0]:
        if nodes[type(child)] is None:
            leaves.append(child)
        else:
            _flatten(child, leaves, nodes)


def flatten_with_path(structure: Any) -> list[tuple[Path, Any]]:
    """The leaves in the order of ``flatten``, each with the steps that lead to it.

    Returns:
        Pairs of path and leaf. A step is an index, a key, or a ``Field``; ``format_path`` prints them.
    """
    result: list[tuple[Path, Any]] = []

    def walk(value: Any, path: Path) -> None:
        node = _NODES[type(value)]
        if node is None:
            result.append((path, value))
            return
        children, aux = node.flatten(value)
        for step, child in zip(node.steps(aux, len(children)), children, strict=True):
            walk(child, (*path, step))

    walk(structure, ())
    return result


def items(structure: Any) -> list[tuple[Any, Any]]:
    """The children of a nested structure, each with its step in a path; one level only."""
    node = _NODES[type(structure)]
    assert node is not None
    children, aux = node.flatten(structure)
    return list(zip(node.steps(aux, len(children)), children, strict=True))


def with_children(structure: Any, children: list[Any]) -> Any:
    """A nested structure like this one with other children, in the order of ``items``."""
    node = _NODES[type(structure)]
    assert node is not None
    return node.unflatten(node.flatten(structure)[1], children)


def format_path(path: Path, root: str = "structure") -> str:
    """A path as Python would write it: ``xs[8]['k'].field``."""
    return root + "".join(f".{step}" if isinstance(step, Field) else f"[{step!r}]" for step in path)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The structure with other leaves.

    Args:
        structure: what the result looks like: classes, keys and their order are kept. Its leaves are ignored.
        flat_sequence: a sequence of as many leaves.
        expand_composites: take apart what stands for one tensor and is made of several, such as ``td.IndexedSlices``.

    Returns:
        A new structure; the one leaf itself when ``structure`` is a leaf.

    Raises:
        TypeError: ``flat_sequence`` is no sequence.
        ValueError: it has too few or too many elements.

    Sources:
        TensorFlow 2.21, ``tf.nest.pack_sequence_as``.
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"nest.pack_sequence_as: flat_sequence must be a sequence of leaves, but it is {flat_sequence!r} of type {type(flat_sequence).__name__}"
        )
    leaves = list(flat_sequence)
    needed = len(flatten(structure, expand_composites))
    if len(leaves) != needed:
        raise ValueError(
            f"nest.pack_sequence_as: the structure has {needed} leaves, but flat_sequence has {len(leaves)} elements; "
            f"structure: {structure!r}, flat_sequence: {flat_sequence!r}"
        )
    return _pack(structure, iter(leaves), _EXPANDED if expand_composites else _NODES)


def _pack(value: Any, leaves: Iterator[Any], nodes: dict[type, _Node | None]) -> Any:
    node = nodes[type(value)]
    if node is None:
        return next(leaves)
    children, aux = node.flatten(value)
    return node.unflatten(aux, [_pack(child, leaves, nodes) for child in children])


def map_structure(func: Callable[..., Any], *structure: Any, check_types: bool = True, expand_composites: bool = False) -> Any:
    """Call a function on each leaf, or on the leaves that stand in the same place of several structures.

    Args:
        func: takes as many arguments as there are structures.
        *structure: one structure or more, of the same shape.
        check_types: whether the containers' classes must agree too.
        expand_composites: take apart what stands for one tensor and is made of several, such as ``td.IndexedSlices``.

    Returns:
        A structure like the first, made of the function's results.

    Raises:
        TypeError: ``func`` is not callable, or ``check_types`` and classes differ.
        ValueError: no structure is given, or the structures differ.

    Sources:
        TensorFlow 2.21, ``tf.nest.map_structure``.
    """
    if not callable(func):
        raise TypeError(f"nest.map_structure: func must be callable, but it is {func!r}")
    if not structure:
        raise ValueError("nest.map_structure: no structure is given; pass at least one after func")
    first = structure[0]
    nodes = _EXPANDED if expand_composites else _NODES
    for number, other in enumerate(structure[1:], 2):
        _check("map_structure", first, other, check_types, (), number, nodes)
    if len(structure) == 1:
        results = [func(leaf) for leaf in flatten(first, expand_composites)]
    else:
        results = [func(*leaves) for leaves in zip(*[flatten(s, expand_composites) for s in structure], strict=True)]
    return _pack(first, iter(results), nodes)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise unless two structures differ in their leaves only.

    Args:
        nest1: a structure.
        nest2: another.
        check_types: whether classes and the keys of mappings must agree. Even so any two mappings, any two
            lists, and namedtuples of the same name and fields count as alike.
        expand_composites: take apart what stands for one tensor and is made of several, such as ``td.IndexedSlices``.

    Raises:
        TypeError: ``check_types`` and the classes of two containers differ.
        ValueError: one has a leaf where the other is nested, or lengths or keys differ.

    Sources:
        TensorFlow 2.21, ``tf.nest.assert_same_structure``.
    """
    _check("assert_same_structure", nest1, nest2, check_types, (), 2, _EXPANDED if expand_composites else _NODES)


def _check(caller: str, a: Any, b: Any, check_types: bool, path: Path, number: int, nodes: dict[type, _Node | None]) -> None:
    node_a, node_b = nodes[type(a)], nodes[type(b)]
    if node_a is None and node_b is None:
        return

    def differ(error: type[Exception], why: str) -> Exception:
        return error(f"nest.{caller}: structures 1 and {number} differ at {format_path(path)}: {why}; 1: {_describe(a)}, {number}: {_describe(b)}")

    if node_a is None or node_b is None:
        raise differ(ValueError, "one is nested, the other is a leaf")
    children_a, aux_a = node_a.flatten(a)
    children_b, aux_b = node_b.flatten(b)
    steps = node_a.steps(aux_a, len(children_a))
    if check_types:
        if not _is_same_type(node_a, node_b):
            raise differ(TypeError, f"{type(a).__name__} is not {type(b).__name__}")
        if isinstance(node_a, _Mapping):
            if tuple(steps) != tuple(node_b.steps(aux_b, len(children_b))):
                raise differ(ValueError, "the keys differ")
        elif aux_a != aux_b:
            raise differ(ValueError, f"{aux_a!r} is not {aux_b!r}")
    if len(children_a) != len(children_b):
        raise differ(ValueError, f"the lengths {len(children_a)} and {len(children_b)} differ")
    for step, child_a, child_b in zip(steps, children_a, children_b, strict=True):
        _check(caller, child_a, child_b, check_types, (*path, step), number, nodes)


def _is_same_type(a: _Node, b: _Node) -> bool:
    if a.cls is b.cls or (isinstance(a, _Mapping) and isinstance(b, _Mapping)):
        return True
    if isinstance(a, _NamedTuple) and isinstance(b, _NamedTuple):
        return a.cls.__name__ == b.cls.__name__ and a.steps(None, 0) == b.steps(None, 0)
    return issubclass(a.cls, list) and issubclass(b.cls, list)


def _describe(value: Any) -> str:
    node = _NODES[type(value)]
    name = type(value).__name__
    if node is None:
        return f"a leaf of type {name}"
    children, aux = node.flatten(value)
    if isinstance(node, _Mapping):
        return f"{name} with keys {list(node.steps(aux, 0))!r}"
    return f"{name} of {len(children)}"
