"""The command as a whole: help, unknown commands, what is imported, how errors are told."""

from __future__ import annotations

import subprocess
import sys

from treadle.version import __version__

COMMANDS = ("plugins", "devices", "ops", "passes", "explain", "demo")


def test_help_names_every_command(treadle):
    for arguments in ((), ("--help",), ("-h",)):
        shown = treadle(*arguments)
        assert all(f" {command} " in shown.stdout for command in COMMANDS)


def test_every_command_explains_itself(treadle):
    for command in COMMANDS:
        shown = treadle(command, "--help")
        assert shown.exit_code == 0
        assert f"Usage: treadle {command}" in shown.stdout


def test_version(treadle):
    assert treadle("--version").stdout == f"treadle {__version__}\n"


def test_an_unknown_command_is_answered_with_the_nearest(treadle):
    shown = treadle("opz")
    assert shown.exit_code == 2
    assert "'ops'" in shown.stderr


def test_help_imports_neither_numpy_nor_the_kernel():
    program = (
        "import sys; from treadle_cli import app; app.app(['--help'], standalone_mode=False); print(sorted({'numpy', 'treadle'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_wrong_setting_is_one_line_and_exit_code_2(process, tmp_path):
    (tmp_path / "treadle.toml").write_text("[optimizer]\nround = 3\n")
    for command in (["plugins"], ["passes"], ["devices"], ["ops"]):
        done = process(*command)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "treadle.toml [optimizer]: unknown key 'round'" in done.stderr
        assert "Traceback" not in done.stderr
    direct = process("passes", module="treadle_cli.app")
    assert (direct.returncode, direct.stderr.count("\n")) == (2, 1)
    assert "unknown key 'round'" in direct.stderr


def test_an_unknown_pass_is_one_line_and_exit_code_2(process):
    done = process("passes", TREADLE_SCHEDULE="nosuch")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no pass is called 'nosuch'; passes: arithmetic" in done.stderr


def test_a_closed_pipe_is_no_error(tmp_path):
    done = subprocess.run(f"{sys.executable} -m treadle ops | head -n 1", shell=True, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert "Traceback" not in done.stderr
