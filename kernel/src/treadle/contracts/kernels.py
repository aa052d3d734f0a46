"""How kernels are declared: functions of an array module that give back the callable that computes.

``@kernel("softmax") def softmax(xp): ...`` declares one; ``same_names(add="add", subtract="subtract")`` declares those that the array
module offers as they are. A plugin registers the module: ``registry.add_kernels(for_="array", module=...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

KernelFactory = Callable[[Any], Callable[..., Any]]


class Kernel:
    """A declared kernel.

    Attributes:
        op: the op's name.
        factory: function of the array module.
        dtypes: names of the dtypes of the first tensor input that it takes; None for all.
        out: the callable takes ``out=``, a C-contiguous buffer of the result's shape and dtype, and gives it back.
    """

    __slots__ = ("dtypes", "factory", "op", "out")

    def __init__(self, op: str, factory: KernelFactory, dtypes: Iterable[str] | None = None, out: bool = False) -> None:
        self.op = op
        self.factory = factory
        self.dtypes = None if dtypes is None else frozenset(dtypes)
        self.out = out


declared: dict[str, list[Kernel]] = {}
"""Module name to the kernels that it declares."""


def kernel(op: str, *, dtypes: Iterable[str] | None = None, out: bool = False) -> Callable[[KernelFactory], KernelFactory]:
    """Declare the kernel of an op as a function of the array module.

    Args:
        op: the op's name.
        dtypes: names of the dtypes it takes, by its first tensor input; None for all.
        out: the callable takes ``out=`` and fills it.
    """

    def declare(factory: KernelFactory) -> KernelFactory:
        declared.setdefault(factory.__module__, []).append(Kernel(op, factory, dtypes, out))
        return factory

    return declare


def same_names(module: str, **names: str) -> None:
    """Declare kernels that are functions of the array module: op name to the module's name for it."""
    for op, name in names.items():
        declared.setdefault(module, []).append(Kernel(op, _getter(name)))


def _getter(name: str) -> KernelFactory:
    def factory(xp: Any) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(xp, name)
        return function

    return factory
