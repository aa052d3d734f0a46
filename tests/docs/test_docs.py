"""Every Python block of the documentation runs, those of one page as one program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


def program(page: Path) -> str:
    """The page's Python blocks, each on the lines where it stands, so that errors point there."""
    lines: list[str] = []
    inside = False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            inside = line.strip() == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


def run(file: Path, folder: Path) -> None:
    environment = {**os.environ, "TREADLE_CONFIG": "none"}
    command = [sys.executable, "-W", "error", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_python_of_a_page_runs(page, tmp_path):
    text = program(page)
    if not text.strip():
        pytest.skip("no Python on this page")
    file = tmp_path / f"{page.stem.replace('-', '_')}.py"
    file.write_text(text)
    run(file, tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_an_example_runs(example, tmp_path):
    run(example, tmp_path)


def test_links_lead_somewhere():
    for page in [*PAGES, *(ROOT / "docs" / "adr").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
