"""The text form of symbolic sizes: what is printed, what is read, what is refused."""

from __future__ import annotations

import pytest

from treadle.dims import Dim, broadcast, maximum, minimum
from treadle.dims_text import parse

n, m = Dim.symbol("n"), Dim.symbol("m")


def test_text_prints_as_python_reads() -> None:
    batch = Dim.symbol("batch")
    names = {"batch": batch, "n": n}
    for size, text in (
        (2 * batch + 1, "2*batch+1"),
        (1 - batch, "-batch+1"),
        (3 * ((batch + 1) // 2) + 1, "3*((batch+1)//2)+1"),
        ((batch + 1) // 2, "(batch+1)//2"),
        (-(batch // 2), "-(batch//2)"),
        (batch * batch, "batch*batch"),
        (maximum(batch - 4, 0), "max(0,batch-4)"),
        (batch % 4, "batch%4"),
    ):
        assert str(size) == text
        assert parse(text, names) == size
    assert repr(n + 1) == "Dim(n+1)"
    assert (batch + n).text({n: "other"}) == "other+batch"  # type: ignore[union-attr]


def test_parse_reads_what_a_person_writes() -> None:
    names = {"n": n, "m": m}
    assert parse(" 2 * (n + 1) - 2 ", names) == 2 * n
    assert parse("7 // 2 * 2", names) == 6
    assert parse("--3", names) == 3
    assert parse("min(n, m, n)", names) == minimum(n, m)
    assert parse("broadcast(m,n)", names) == broadcast((n,), (m,))[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "found the end"),
        ("n +", "found the end"),
        ("n n", "unexpected 'n'"),
        ("(n", "expected '\\)'"),
        ("q", "unknown name 'q'; symbols: n"),
        ("n ? 1", "unexpected character '\\?'"),
        ("*n", "expected a size, found '\\*'"),
        ("max n", "expected '\\('"),
    ],
)
def test_parse_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse(text, {"n": n})
