"""``docs/ops.md`` says what the registry says."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle import dtypes
from treadle.plugins import host
from treadle.registry import registry

reference = pytest.importorskip("treadle_cli.op_reference")
PAGE = Path(__file__).parents[2] / "docs" / "ops.md"


@pytest.fixture(scope="module")
def text():
    return reference.generate()


def test_the_page_is_fresh(text):
    assert PAGE.read_text(encoding="utf-8") == text, "run `make docs`"


def test_every_public_name_and_every_op_is_there(text):
    host.load_ops()
    for path, entry in registry.names.items():
        if entry.plugin == "core" and callable(entry.value):
            assert f"`{path}`" in text or f"`{path}(" in text, path
    shown = {word for line in text.splitlines() for word in line.replace("(", " ").replace("`", " ").replace(".", " ").split()}
    assert {name for name, entry in registry.ops.items() if entry.plugin == "core"} <= shown


def test_dtypes_are_what_inference_accepts():
    said = {
        name: reference.dtypes_of(registry.op(name))
        for name in ("add", "sin", "relu", "bitwise_and", "logical_not", "concat", "fft", "matmul", "gather")
    }
    assert said == {
        "add": "numeric",
        "sin": "floating, complex",
        "relu": "floating, integer",
        "bitwise_and": "integer",
        "logical_not": "bool",
        "concat": "any",
        "fft": "complex",
        "matmul": "numeric",
        "gather": "any",
    }
    assert reference.in_words([dtypes.float32, dtypes.complex64]) == "float32, complex64"


def test_writing_goes_where_it_is_asked_to(tmp_path, text):
    assert reference.main([str(tmp_path / "ops.md")]) == 0
    assert (tmp_path / "ops.md").read_text(encoding="utf-8") == text
    assert reference.main(["--help"]) == 2
