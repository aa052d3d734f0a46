"""Local identities that hold for every bit of every value, NaN, infinity and signed zero included."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.contracts.passes import Pass, PassContext
from treadle.grappler.item import GrapplerItem


@dataclass(frozen=True)
class Arithmetic(Pass):
    """Applies the rules."""

    name = "arithmetic"

    def run(self, item: GrapplerItem, context: PassContext) -> bool:
        """See the module."""
        return False
