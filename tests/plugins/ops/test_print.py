"""``td.print``: TensorFlow's format, its streams, and its place in the program."""

from __future__ import annotations

import io
import logging
import sys
from typing import NamedTuple

import numpy as np
import pytest

import treadle as td


class Pair(NamedTuple):
    """A structure with names."""

    x: object
    y: object


C = td.constant
FORMATS = [
    (("hello",), "hello"),
    ((), ""),
    ((1, 2.5, True, None), "1 2.5 True None"),
    ((C([1.0, 2.5, 1e10, 1e-7, 3.14159274, -0.0]),), "[1 2.5 1e+10 1e-07 3.14159274 -0]"),
    ((C([0.1, 1 / 3, 1e100, 123456789.123456789], "float64"),), "[0.1 0.33333333333333331 1e+100 123456789.12345679]"),
    ((C([0.1, 65504.0], "float16"),), "[0.0999755859 65504]"),
    ((C([np.nan, np.inf, -np.inf]),), "[nan inf -inf]"),
    ((C([True, False]), C(True)), "[1 0] 1"),
    ((C([1 + 2j], "complex64"),), "[(1,2)]"),
    ((C([1, 2], "uint8"), C([-1], "int8")), "[1 2] [-1]"),
    ((C(np.arange(20).reshape(4, 5)),), "[[0 1 2 3 4]\n [5 6 7 8 9]\n [10 11 12 13 14]\n [15 16 17 18 19]]"),
    ((C(np.arange(8).reshape(2, 2, 2)),), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
    ((C(np.arange(7)),), "[0 1 2 ... 4 5 6]"),
    ((C(np.zeros([0])),), "[]"),
    (([1, 2], (1,), {"b": 1, "a": C([1, 2])}), "[1, 2] (1,) {'a': [1 2], 'b': 1}"),
    (([C(1), [C(2.5), "x"]],), "[1, [2.5, 'x']]"),
    ((Pair(C(1), 2),), "Pair(x=1, y=2)"),
    ((np.array([1, 2]), [np.float32(1.5)]), "array([1, 2]) [np.float32(1.5)]"),
    ((td.float32, td.TensorShape([1, None])), "tf.float32 TensorShape([1, None])"),
    (("100%", "{}", C(1)), "100% {} 1"),
]


@pytest.mark.parametrize(("values", "text"), FORMATS)
def test_the_format_is_tensorflows_eagerly_and_traced(values, text):
    for traced in (False, True):
        out = io.StringIO()

        def show(out=out):
            td.print(*values, output_stream=out)

        (td.function(show) if traced else show)()
        assert out.getvalue() == text + "\n"


def test_long_axes_are_cut_as_far_as_asked():
    out = io.StringIO()
    td.print(C(np.arange(100).reshape(10, 10)), summarize=1, output_stream=out, end="!")
    td.print(C(np.arange(8)), summarize=-1, output_stream=out, sep=", ")
    assert out.getvalue() == "[[0 ... 9]\n ...\n [90 ... 99]]![0 1 2 3 4 5 6 7]\n"


def test_variables_print_what_they_hold_when_the_program_gets_there(capsys):
    v = td.Variable([1, 2])

    @td.function
    def step():
        td.print("before", v, output_stream=sys.stdout)
        v.assign_add([1, 1])
        td.print("after", {"v": v}, sep=": ", output_stream=sys.stdout)

    step()
    step()
    assert capsys.readouterr().out == "before [1 2]\nafter: {'v': [2 3]}\nbefore [2 3]\nafter: {'v': [3 4]}\n"


def test_the_stream_is_stderr_a_file_or_a_log(capsys, tmp_path, caplog):
    td.print("to stderr")
    assert capsys.readouterr().err == "to stderr\n"
    path = tmp_path / "log.txt"
    for n in range(2):
        td.print("line", n, output_stream=f"file://{path}")
    assert path.read_text() == "line 0\nline 1\n"
    with caplog.at_level(logging.INFO, "treadle"):
        td.print("logged", C(1), output_stream=logging.INFO)
        td.print("warned", output_stream=logging.warning)
    assert [(r.levelname, r.message) for r in caplog.records] == [("INFO", "logged 1"), ("WARNING", "warned")]
    for bad in ("x.txt", 3, object()):
        with pytest.raises(ValueError, match="cannot write"):
            td.print("x", output_stream=bad)
    with pytest.raises(ValueError, match="colour"):
        td.print("x", colour=1)
