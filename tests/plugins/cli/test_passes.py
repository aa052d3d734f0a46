"""``treadle passes``."""

from __future__ import annotations


def test_the_default_schedule_comes_from_the_plugin_that_offers_it(treadle):
    shown = treadle("passes")
    assert shown.exit_code == 0
    assert "default of treadle-passes" in shown.stdout
    assert "max_bytes = 1000000  (default)" in shown.stdout


def test_each_line_says_where_it_was_decided(process, tmp_path):
    (tmp_path / "treadle.toml").write_text(
        '[optimizer]\nschedule = ["prune", "constant-folding"]\nrounds = 2\n[optimizer.constant-folding]\nmax_bytes = 64\n'
    )
    done = process("passes", TREADLE_FAST_MATH="1")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert "The schedule in force: 2 passes, from treadle.toml" in done.stdout
    assert ["1", "prune", "treadle-passes", "0.1.0"] in lines
    assert ["2", "constant-folding", "treadle-passes", "0.1.0", "max_bytes", "=", "64", "(treadle.toml)"] in lines
    assert ["rounds", "2", "(treadle.toml)"] in lines
    assert ["verify", "off", "(default)"] in lines
    assert ["fast_math", "true", "(environment", "TREADLE_FAST_MATH)"] in lines
    left_out = done.stdout.partition("not scheduled")[2]
    assert "arithmetic" in left_out
    assert "prune" not in left_out


def test_an_empty_schedule_is_said(process):
    done = process("passes", TREADLE_SCHEDULE="none")
    assert done.returncode == 0, done.stderr
    assert "0 passes, from environment TREADLE_SCHEDULE" in done.stdout
    assert "constant-folding" in done.stdout.partition("not scheduled")[2]
