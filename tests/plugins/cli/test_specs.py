"""Arguments as they are written on the command line."""

from __future__ import annotations

import pytest

import treadle as td
from treadle_cli.failures import CommandError
from treadle_cli.specs import parse, parse_all


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("float32[None,784]", [None, 784], "float32"),
        (" int64 [ 3 , ? ] ", [3, None], "int64"),
        ("float32", [], "float32"),
        ("bool[]", [], "bool"),
        ("half[2,]", [2], "float16"),
    ],
)
def test_a_tensor(text, shape, dtype):
    spec = parse(text)
    assert spec.shape.as_list() == shape
    assert spec.dtype.name == dtype


@pytest.mark.parametrize("text", ["float32[?]", "float32[...]"])
def test_an_unknown_rank(text):
    assert parse(text) == td.TensorSpec(None, td.float32)


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("-2.5", -2.5), ("True", True), ("None", None), ("'relu'", "relu"), ("(1, 2)", (1, 2))])
def test_a_python_value(text, value):
    assert parse(text) == value


def test_by_name():
    assert parse_all(["float32[2]", "training=False", "x = int32"]) == ([td.TensorSpec([2])], {"training": False, "x": td.TensorSpec([], td.int32)})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("flot32[3]", "no dtype 'flot32'; dtypes: float16"),
        ("float32[a]", "'a' is not a size"),
        ("float32[-1]", "'-1' is not a size"),
        ("float32[", "cannot be read"),
    ],
)
def test_what_cannot_be_read_says_how_to_write_it(text, told):
    with pytest.raises(CommandError, match=r"--spec") as caught:
        parse(text)
    assert told in str(caught.value)


def test_a_name_given_twice():
    with pytest.raises(CommandError, match="'x' is given twice"):
        parse_all(["x=1", "x=2"])
