"""Logic on bools."""

from __future__ import annotations

from treadle.declare import same_names

same_names(__name__, logical_and="logical_and", logical_or="logical_or", logical_xor="logical_xor", logical_not="logical_not")
