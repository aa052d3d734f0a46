"""The tests of ``pipeline/`` in a process of their own, where every other plugin is switched off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treadle import plugins

OTHERS = sorted({record.name for record in plugins.host.records()})


@pytest.mark.skipif(
    all(r.disabled for r in plugins.host.records("treadle.ops")), reason="no other plugin is here: the tests of pipeline/ run in this process"
)
def test_the_pipelines_run_with_a_toy_plugin_alone():
    environment = {**os.environ, "TREADLE_DISABLED_PLUGINS": ",".join(OTHERS), "TREADLE_CONFIG": "none"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).with_name("pipeline"))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
