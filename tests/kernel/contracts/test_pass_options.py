"""Which options fit the fields of a pass, and what a wrong one says."""

from __future__ import annotations

import pytest

from treadle.contracts.pass_options import check_options
from treadle.errors import ConfigError

FIELDS = {
    "max_bytes": int,
    "ratio": "float",
    "deep": "bool",
    "mode": str,
    "names": "list[str]",
    "axes": "tuple[int, ...]",
    "limit": "int | None",
    "plain": list,
    "other": "Path",
}


def test_good_options_come_back_ready_for_the_dataclass():
    options = {
        "max_bytes": 3, "ratio": 1, "deep": True, "mode": "x", "names": ["a"],
        "axes": [1, 2], "limit": None, "plain": [1, "a"], "other": {"left": "to the pass"},
    }  # fmt: skip
    checked = check_options("one", FIELDS, options)
    assert checked == {**options, "axes": (1, 2)}
    assert type(checked["ratio"]) is float


def test_an_unknown_option_lists_the_options():
    with pytest.raises(ConfigError) as caught:
        check_options("constant-folding", {"max_bytes": "int"}, {"max_byte": 3})
    assert str(caught.value) == ("treadle.toml [optimizer.constant-folding]: unknown option 'max_byte'; options: max_bytes")
    with pytest.raises(ConfigError, match=r"unknown option 'rato'; options: max_bytes, .*; did you mean 'ratio'\?"):
        check_options("one", FIELDS, {"rato": 3})
    with pytest.raises(ConfigError, match="unknown option 'x'; options: none"):
        check_options("one", {}, {"x": 3})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_bytes", True, "max_bytes is True (bool), expected int"),
        ("max_bytes", "3", "max_bytes is '3' (str), expected int"),
        ("max_bytes", 3.0, "max_bytes is 3.0 (float), expected int"),
        ("ratio", True, "ratio is True (bool), expected float"),
        ("ratio", 10**400, "(int), expected float"),
        ("deep", 1, "deep is 1 (int), expected bool"),
        ("mode", 1, "mode is 1 (int), expected str"),
        ("names", "a", "names is 'a' (str), expected list[str]"),
        ("names", ["a", 1], "names is ['a', 1] (list), expected list[str]"),
        ("axes", [True], "axes is [True] (list), expected tuple[int, ...]"),
        ("limit", "x", "limit is 'x' (str), expected int | None"),
        ("plain", {"a": 1}, "plain is {'a': 1} (table), expected list"),
    ],
)
def test_an_option_of_the_wrong_type_says_both(name, value, said):
    with pytest.raises(ConfigError) as caught:
        check_options("one", FIELDS, {name: value}, "/p/pyproject.toml")
    assert str(caught.value).startswith("/p/pyproject.toml [tool.treadle.optimizer.one]: ")
    assert said in str(caught.value)
