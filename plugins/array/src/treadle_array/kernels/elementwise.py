"""Arithmetic and exponentials, element by element."""

from __future__ import annotations

from treadle.declare import same_names

same_names(
    __name__,
    add="add",
    subtract="subtract",
    multiply="multiply",
    negative="negative",
    exp="exp",
    tanh="tanh",
    square="square",
    conj="conjugate",
)
