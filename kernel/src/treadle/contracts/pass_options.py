"""Whether the options that a user wrote for a pass fit the fields of its dataclass.

Where they were written, and which of several writings holds, is in `treadle.settings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from treadle.errors import ConfigError
from treadle.settings import heading, shown, suggestion


def check_options(
    pass_name: str,
    fields: Mapping[str, type | str],
    options: Mapping[str, object],
    origin: str = "treadle.toml",
) -> dict[str, Any]:
    """Check the options written for a pass against the fields of its dataclass.

    ``int``, ``float``, ``bool``, ``str``, ``dict``, ``list[T]``, ``tuple[T, ...]`` and
    unions of them are checked; any other annotation is left to the pass.

    Args:
        pass_name: the pass, for the message.
        fields: from option to its type or, as in a module with postponed annotations, the text of it.
        options: what was written, ``settings.pass_options[pass_name].options``.
        origin: where it was written, ``settings.pass_options[pass_name].origin``.
    Returns:
        The options ready for the dataclass: an int is a float where a float is
        expected, a list a tuple where a tuple is.
    Raises:
        ConfigError: an option is unknown or its value is not of the field's type; a bool is no int.
    """
    where = heading(origin, f"optimizer.{pass_name}")
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise ConfigError(f"{where}: unknown option {name!r}; options: {known}{suggestion(name, fields)}")
        declared = fields[name]
        expected = declared.__name__ if isinstance(declared, type) else str(declared)
        try:
            checked[name] = _fitted(value, expected)
        except (TypeError, OverflowError):  # 10**400 is no float
            raise ConfigError(f"{where}: {name} is {shown(value)}, expected {expected}") from None
    return checked


_ATOMS: dict[str, type] = {"int": int, "bool": bool, "str": str, "dict": dict, "None": type(None)}
_SEQUENCES: dict[str, Callable[[Iterable[object]], object]] = {"list": list, "tuple": tuple}


def _fitted(value: object, expected: str) -> object:
    alternatives = _alternatives(expected)
    if len(alternatives) > 1:
        # the exact type first: of "float | int" an int takes int
        for alternative in sorted(alternatives, key=lambda text: text != type(value).__name__):
            try:
                return _fitted(value, alternative)
            except TypeError:
                continue
        raise TypeError
    name, _, inner = expected.strip().partition("[")
    if name in _SEQUENCES:
        if not isinstance(value, list | tuple):
            raise TypeError
        item_type = inner.removesuffix("]").removesuffix(", ...")
        return _SEQUENCES[name](_fitted(item, item_type) for item in value)
    if name == "float":
        if type(value) not in (int, float):
            raise TypeError
        return float(cast(float, value))
    if name in _ATOMS and type(value) is not _ATOMS[name]:  # not isinstance: a bool is no int
        raise TypeError
    return value


def _alternatives(annotation: str) -> list[str]:
    """Split at each ``|`` that stands outside brackets."""
    parts, depth = [""], 0
    for char in annotation:
        depth += (char == "[") - (char == "]")
        if char == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]
