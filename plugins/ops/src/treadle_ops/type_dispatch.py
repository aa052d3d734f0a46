"""Public functions on a user's own types: ``td.experimental.dispatch_for_api`` and its kin.

A function that something is registered for is put under its public names once more, with a look at the types of its arguments before it runs;
all others stay as they are.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from treadle import public as names
from treadle.contracts.declared import declarations
from treadle.declare import public
from treadle.eager.entry import complete
from treadle.errors import InvalidArgumentError
from treadle.registry import registry

Target = Callable[..., Any]


class _Dispatched:
    """A public function, and what runs instead of it for some types."""

    def __init__(self, api: Target, paths: list[str]) -> None:
        self.api = api
        self.paths = paths
        self.signature = inspect.signature(api)
        self.targets: list[tuple[tuple[Mapping[Any, Any], ...], Target]] = []

        @functools.wraps(api)
        def call(*args: Any, **kwargs: Any) -> Any:
            target = self.find(args, kwargs)
            return api(*args, **kwargs) if target is None else target(*args, **kwargs)

        self.call = call

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Target | None:
        """What runs for these arguments; None for the function itself."""
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None  # the function says itself what is wrong
        positions = list(given.values())
        for signatures, target in reversed(self.targets):
            for signature in signatures:
                if all(_fits(given.get(key) if isinstance(key, str) else positions[key], hint) for key, hint in signature.items()):
                    return target
        return None


_dispatched: dict[Target, _Dispatched] = {}
"""The function, and what stands in its place, to the record of both."""


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotation: a class, a union, or a list or tuple of one."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in get_args(hint))
    if origin in (list, tuple):
        inner = [choice for choice in get_args(hint) if choice is not Ellipsis]
        return isinstance(value, origin) and all(any(_fits(item, choice) for choice in inner) for item in value)
    return value is None if hint is None else isinstance(value, hint)


def _record_of(api: Any) -> _Dispatched:
    record = _dispatched.get(api)
    if record is None:
        declared = declarations(getattr(api, "__module__", "")).public
        paths = [path for path, thing in declared.items() if thing is api and path in registry.names]
        if not paths:
            raise InvalidArgumentError(f"dispatch: {api!r} is none of treadle's public functions of ops; give one such as td.add")
        record = _Dispatched(api, paths)
        _dispatched[api] = _dispatched[record.call] = record
        for path in paths:
            names.replace(path, record.call)
    return record


def _put_back(record: _Dispatched) -> None:
    """Let a function be as it was before anything was registered for it."""
    del _dispatched[record.api], _dispatched[record.call]
    for path in record.paths:
        names.replace(path, record.api)


@public("experimental.dispatch_for_api")
def dispatch_for_api(api: Any, *signatures: Any) -> Callable[[Target], Target]:
    """Decorate a function that runs instead of a public one for a user's own types.

    Args:
        api: a public function of ops, such as ``td.add``.
        *signatures: parameter name or position to the class (or union, list or tuple of classes) that the argument must be of; by default the
            decorated function's annotations.

    Returns:
        A decorator, which gives the function back.

    Raises:
        InvalidArgumentError: ``api`` is no public function, or a signature names a parameter that it does not have.

    Sources:
        TensorFlow ``tf.experimental.dispatch_for_api``. Only calls by the public name are looked at.
    """
    record = _record_of(api)

    def decorate(target: Target) -> Target:
        hints = {name: p.annotation for name, p in inspect.signature(target, eval_str=True).parameters.items() if p.annotation is not p.empty}
        chosen = tuple(signatures) or (hints,)
        for signature in chosen:
            unknown = [key for key in signature if isinstance(key, str) and key not in record.signature.parameters]
            if unknown or not signature:
                parameters = ", ".join(record.signature.parameters)
                raise InvalidArgumentError(f"dispatch_for_api: the signature {signature!r} does not fit {api.__name__}; its parameters: {parameters}")
        record.targets.append((chosen, target))
        return target

    return decorate


@public("experimental.dispatch_for_unary_elementwise_apis")
def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Target], Target]:
    """Decorate ``handler(api_func, x)``, which runs for every elementwise function of one argument of a type.

    Args:
        x_type: the class of the argument.

    Sources:
        TensorFlow ``tf.experimental.dispatch_for_unary_elementwise_apis``.
    """
    return _for_all(1, (x_type,))


@public("experimental.dispatch_for_binary_elementwise_apis")
def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Target], Target]:
    """Decorate ``handler(api_func, x, y)``, which runs for every elementwise function of two arguments of these types.

    Args:
        x_type: the class of the first argument.
        y_type: the class of the second.

    Sources:
        TensorFlow ``tf.experimental.dispatch_for_binary_elementwise_apis``.
    """
    return _for_all(2, (x_type, y_type))


@public("experimental.dispatch_for_binary_elementwise_assert_apis")
def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Target], Target]:
    """Decorate ``handler(assert_func, x, y)``, which runs for every comparing assertion on arguments of these types.

    Args:
        x_type: the class of the first argument.
        y_type: the class of the second.

    Sources:
        TensorFlow ``tf.experimental.dispatch_for_binary_elementwise_assert_apis``.
    """
    asserts = ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal", "near")
    return _decorator([registry.names[f"debugging.assert_{name}"].value for name in asserts], (x_type, y_type))


def _for_all(count: int, types: tuple[Any, ...]) -> Callable[[Target], Target]:
    """A decorator for every public elementwise op of so many inputs."""
    apis = []
    for entry in list(registry.names.values()):
        api = complete(entry.value)
        op = getattr(api, "op", None)
        if op is not None and op.elementwise and len(op.inputs) == count and not op.variadic and api not in apis:
            apis.append(api)
    return _decorator(apis, types)


def _decorator(apis: list[Any], types: tuple[Any, ...]) -> Callable[[Target], Target]:
    def decorate(handler: Target) -> Target:
        for api in apis:
            target = functools.partial(handler, api)
            _owners.setdefault(handler, []).append(target)
            _record_of(api).targets.append(((dict(enumerate(types)),), target))
        return handler

    return decorate


_owners: dict[Target, list[Target]] = {}
"""A handler of many functions to what was registered for each of them."""


@public("experimental.unregister_dispatch_for")
def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Take back what a function was registered for.

    Args:
        dispatch_target: the decorated function.

    Raises:
        InvalidArgumentError: it is not registered.

    Sources:
        TensorFlow ``tf.experimental.unregister_dispatch_for``.
    """
    gone = [dispatch_target, *_owners.pop(dispatch_target, [])]
    found = False
    for record in {id(r): r for r in _dispatched.values()}.values():
        kept = [(signatures, target) for signatures, target in record.targets if not any(target is g for g in gone)]
        found = found or len(kept) != len(record.targets)
        record.targets = kept
        if not kept:
            _put_back(record)
    if not found:
        raise InvalidArgumentError(f"unregister_dispatch_for: {dispatch_target!r} is not registered for any function")
