"""Traced methods: the traces of each instance, found by its identity and dropped when it goes.

Instances may be equal to each other, or not hashable at all, as those of a dataclass; neither makes one lend its traces to another.
"""

from __future__ import annotations

import copy
import pickle
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
        unbound: that of the class, which gives every instance its own.
    """

    __slots__ = ("__self__", "function", "unbound")

    def __init__(self, function: Any, instance: Any, unbound: Any) -> None:
        self.function = function
        self.__self__ = instance
        self.unbound = unbound

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

    def __copy__(self) -> BoundFunction:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The method of the copied instance."""
        return self.unbound.__get__(copy.deepcopy(self.__self__, memo))

    def __reduce__(self) -> Any:
        """Pickled by reference, by the name that the class has for it.

        Raises:
            PicklingError: the class has none.
        """
        for kind in type(self.__self__).__mro__:
            for name, thing in vars(kind).items():
                if thing is self.unbound:
                    return getattr, (self.__self__, name)
        owner = type(self.__self__).__name__
        raise pickle.PicklingError(f"the traced method {self.function.name!r} is no attribute of {owner}, so no reference leads to it")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundFunction) and self.function is other.function

    def __hash__(self) -> int:
        return hash(id(self.function))
