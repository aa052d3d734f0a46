"""``treadle plugins``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture
def broken_path(tmp_path):
    """A search path on which the distribution ``treadle-plugin-broken`` is installed."""
    info = tmp_path / "site" / "treadle_plugin_broken-1.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: treadle-plugin-broken\nVersion: 1.0.0\n")
    (info / "entry_points.txt").write_text("[treadle.ops]\nbroken = treadle_plugin_broken.plugin\n")
    return f"{info.parent}:{FIXTURES / 'plugin_broken' / 'src'}"


def test_every_plugin_is_listed_with_where_it_comes_from(treadle):
    shown = treadle("plugins")
    assert shown.exit_code == 0
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["core", "treadle.ops", "treadle-ops", "0.1.0", "loaded"] in rows
    assert ["cli", "treadle.plugins", "treadle-cli", "0.1.0", "loaded"] in rows
    assert ["cpu", "treadle.devices", "treadle-cpu", "0.1.0", "loaded"] in rows


def test_json_is_for_programs(treadle):
    shown = treadle("plugins", "--json", width=20)
    assert shown.exit_code == 0
    found = {(entry["group"], entry["name"]): entry for entry in json.loads(shown.stdout)}
    core = found["treadle.ops", "core"]
    assert core == {
        "name": "core",
        "group": "treadle.ops",
        "distribution": "treadle-ops",
        "version": "0.1.0",
        "state": "loaded",
        "cause": "",
        "value": "treadle_ops.plugin",
    }


@pytest.mark.parametrize("strict", ["0", "1"])
def test_a_broken_plugin_is_shown_with_its_cause(process, broken_path, strict):
    done = process("plugins", PYTHONPATH=broken_path, TREADLE_STRICT_PLUGINS=strict)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert ["broken", "treadle.ops", "treadle-plugin-broken", "1.0.0", "failed"] in [line.split() for line in done.stdout.splitlines()]
    assert "    ImportError: libbroken.so.1: cannot open shared object file: No such file or directory\n" in done.stdout


def test_a_disabled_plugin_is_shown_with_what_disabled_it(process):
    done = process("plugins", "--json", TREADLE_DISABLED_PLUGINS="prune")
    (prune,) = [entry for entry in json.loads(done.stdout) if entry["name"] == "prune"]
    assert prune["state"] == "disabled"
    assert prune["cause"] == "disabled by environment TREADLE_DISABLED_PLUGINS"
