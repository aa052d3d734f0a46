"""Rounding to whole numbers, and the next number of a dtype."""

from __future__ import annotations

from treadle.declare import same_names

same_names(__name__, floor="floor", ceil="ceil", rint="rint", round="rint", nextafter="nextafter")
