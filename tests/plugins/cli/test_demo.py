"""``treadle demo``, run once."""

from __future__ import annotations

import re
import time
from importlib import resources

import numpy as np
import pytest


@pytest.fixture(scope="module")
def shown():
    from typer.testing import CliRunner

    from treadle_cli.app import app

    start = time.perf_counter()
    result = CliRunner().invoke(app, ["demo"], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    assert time.perf_counter() - start < 15
    return result.stdout


def test_the_digits_are_small_whole_and_attributed():
    folder = resources.files("treadle_cli")
    assert folder.joinpath("digits.npz").stat().st_size < 150_000
    with folder.joinpath("digits.npz").open("rb") as file, np.load(file) as stored:
        pixels, labels = stored["pixels"], stored["labels"]
    assert (pixels.shape, pixels.dtype, labels.shape, labels.dtype) == ((1797, 8, 8), np.uint8, (1797,), np.uint8)
    assert (pixels.min(), pixels.max(), sorted(set(labels.tolist()))) == (0, 16, list(range(10)))
    assert "CC BY 4.0" in folder.joinpath("digits.md").read_text()


def test_both_ways_learn_and_learn_the_same(shown):
    accuracies = dict(re.findall(r"^ (eager|traced) +([\d.]+)%", shown, re.MULTILINE))
    assert accuracies["eager"] == accuracies["traced"]
    assert float(accuracies["traced"]) >= 95
    assert "the same weights, bit for bit" in " ".join(shown.split())


def test_it_says_how_fast_each_way_was_and_what_the_optimizer_did(shown):
    assert len(re.findall(r"[\d,]+ steps/s", shown)) == 2
    assert re.search(r"The traced step is \d+\.\d times as fast", shown)
    assert re.search(r"^ constant-folding ", shown, re.MULTILINE)
    assert re.search(r"\d+ nodes became \d+ in \d+ rounds", shown)
    assert re.search(r"^ traced .* 1 *$", shown, re.MULTILINE)  # one trace


def test_the_source_of_the_digits_is_named(shown):
    assert "CC BY 4.0" in shown


def test_no_line_is_wider_than_the_terminal(shown):
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize(("plugin", "told"), [("core", "pip install treadle-ops"), ("cpu", "pip install treadle-cpu")])
def test_what_is_missing_is_one_line(process, plugin, told):
    done = process("demo", TREADLE_DISABLED_PLUGINS=plugin)
    assert done.returncode == 2
    assert told in done.stderr
    assert f"Plugin {plugin!r} (treadle-{'ops' if plugin == 'core' else 'cpu'}) is disabled" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
