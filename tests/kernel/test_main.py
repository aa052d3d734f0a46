"""``python -m treadle``, with the plugin ``cli`` in each state that it can be in."""

from __future__ import annotations

import pytest

from treadle import __main__ as command
from treadle.errors import ConfigError, PluginError
from treadle.plugins import PluginRecord


@pytest.fixture
def load(monkeypatch):
    """Let the host answer with a record, or raise."""

    def answer(given):
        def load(group, name):
            assert (group, name) == ("treadle.plugins", "cli")
            if isinstance(given, Exception):
                raise given
            return given

        monkeypatch.setattr(command.host, "load", load)

    return answer


def record(**changes):
    return PluginRecord("cli", "treadle.plugins", "a.b:main", "some-cli", "1.2", **changes)


def test_it_hands_over(load):
    load(record(thing=lambda: 5, loaded=True))
    assert command.main() == 5
    load(record(thing=lambda: None, loaded=True))
    assert command.main() == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "pip install treadle-cli"),
        (record(disabled=True), "'cli' (some-cli 1.2) is disabled"),
        (record(error=ImportError("no typer")), "'cli' (some-cli 1.2) failed: ImportError: no typer"),
        (ConfigError("treadle.toml: wrong"), "treadle: treadle.toml: wrong"),
        (PluginError("plugin 'cli' failed"), "treadle: plugin 'cli' failed"),
    ],
)
def test_what_is_in_the_way_is_one_line_and_exit_code_2(load, capsys, given, told):
    load(given)
    assert command.main() == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
