"""The script for a machine with a card runs to its end, here against the stand-in."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "run_on_card.py"


def test_it_compares_measures_and_leaves_with_0(td, run_on_card, tmp_path, capsys, cards):
    out = tmp_path / "found.json"
    assert run_on_card.main(["--per-op", "1", "--repeat", "2", "--device", "/GPU:1", "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "probe: 2 card(s)" in shown
    assert "all agrees" in shown
    report = json.loads(out.read_text())
    assert report["cases"]["eager"]["wrong"] == 0
    assert report["cases"]["eager"]["passed"] > 200
    assert set(report["milliseconds"]) == {"add 1M", "matmul 1024", "MLP step"}
    assert all(t["card"] > 0 for t in report["milliseconds"].values())
    assert report["memory"]["held"] - report["memory"]["before"] == 4 << 20


def test_a_wrong_result_makes_it_leave_with_1(td, run_on_card, monkeypatch, capsys, cards):
    monkeypatch.setattr(run_on_card, "compare", lambda *args: {"passed": ["abs-01"], "wrong": ["add-01: output 0: 1 of 4 differ"]})
    assert run_on_card.main(["--repeat", "1"]) == 1
    assert "WRONG add-01" in capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed here")
def test_without_a_card_it_says_why_and_leaves_with_2():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin"})
    assert done.returncode == 2
    assert done.stdout.startswith("probe: 0 card(s) No module named 'cupy'")
