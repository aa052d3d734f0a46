"""The command line, inside this process and in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner


@pytest.fixture
def treadle():
    """Run a command in this process: ``treadle("ops", "-n", "nn", width=120)``; the result has exit_code, stdout and stderr."""
    from treadle_cli.app import app

    def run(*arguments, width=100):
        return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": str(width), "NO_COLOR": "1"}, prog_name="treadle")

    return run


@pytest.fixture
def process(tmp_path):
    """Run ``python -m treadle`` in a process and a folder of its own; extra environment by keyword."""

    def run(*arguments, module="treadle", **environment):
        command = [sys.executable, "-m", module, *map(str, arguments)]
        settings = {key: value for key, value in os.environ.items() if not key.startswith("TREADLE_")}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, cwd=tmp_path, env={**settings, "COLUMNS": "100", "NO_COLOR": "1", **environment}
        )

    return run


@pytest.fixture
def users_file(tmp_path):
    """Write a Python file; its path."""

    def write(text, name="model.py"):
        path = tmp_path / name
        path.write_text(f"import treadle as td\n{text}")
        return path

    return write
