"""Operators with their operands the other way round: ``1 - x`` is ``x.__rsub__(1)``."""

from __future__ import annotations

from typing import Any

from treadle_ops import division, elementwise, powers, products


def reflected(function: Any) -> Any:
    """The operator with its operands the other way round."""

    def operator(x: Any, y: Any) -> Any:
        return function(y, x)

    return operator


add = reflected(elementwise.add)
sub = reflected(elementwise.subtract)
mul = reflected(elementwise.multiply)
truediv = reflected(division.divide)
floordiv = reflected(division.floordiv)
mod = reflected(division.floormod)
pow = reflected(powers.pow)
matmul = reflected(products.matmul)
