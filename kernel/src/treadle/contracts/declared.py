"""What modules have declared, until a plugin hands them to the registry."""

from __future__ import annotations

from typing import Any

from treadle.contracts.op import Op


class Declared:
    """What the decorators of one module have declared, until a plugin registers that module."""

    __slots__ = ("ops", "public")

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.public: dict[str, Any] = {}


declared: dict[str, Declared] = {}
"""Module name to its declarations. Kept so that a module imported before its plugin registers, or again after a roll-back, is complete."""


def declarations(module: str) -> Declared:
    """The (possibly empty) declarations of a module."""
    return declared.setdefault(module, Declared())
