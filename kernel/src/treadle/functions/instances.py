"""Traced methods: the traces of each instance, found by its identity and dropped when it goes.

Instances may be equal to each other, or not hashable at all, as those of a dataclass; neither makes one lend its traces to another.
"""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

from treadle.tracebacks import show_users_lines

T = TypeVar("T")


class PerInstance(Generic[T]):
    """Values per living object, each dropped when its object goes."""

    __slots__ = ("__weakref__", "_entries")

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], T]] = {}

    def get(self, instance: Any) -> T | None:
        """The value of this very object, or None."""
        entry = self._entries.get(id(instance))
        return entry[1] if entry is not None and entry[0]() is instance else None

    def put(self, instance: Any, value: T) -> None:
        """Give an object its value.

        Raises:
            TypeError: the object cannot be referred to weakly.
        """
        number, entries = id(instance), self._entries

        def forget(gone: weakref.ref[Any]) -> None:
            entry = entries.get(number)
            if entry is not None and entry[0] is gone:  # the number may be another object's by now
                entries.pop(number, None)

        entries[number] = (weakref.ref(instance, forget), value)

    def values(self) -> list[T]:
        """Every value there is."""
        return [value for _, value in list(self._entries.values())]


class BoundFunction:
    """A traced method of one instance.

    Attributes:
        function: the traced function, which lives as long as the instance.
    """

    __slots__ = ("__self__", "function")

    def __init__(self, function: Any, instance: Any) -> None:
        self.function = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            show_users_lines(error)
            raise

    @property
    def __signature__(self) -> Any:
        return self.function.signature.python

    @property
    def __func__(self) -> Any:
        return self.function.python_function

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.function.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundFunction) and self.function is other.function

    def __hash__(self) -> int:
        return hash(id(self.function))
