"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from treadle.declare import same_names

same_names(
    __name__,
    sin="sin",
    cos="cos",
    tan="tan",
    asin="arcsin",
    acos="arccos",
    atan="arctan",
    sinh="sinh",
    cosh="cosh",
    asinh="arcsinh",
    acosh="arccosh",
    atanh="arctanh",
    atan2="arctan2",
)
