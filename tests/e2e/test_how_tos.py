"""What the how-tos show is run: the Python of each page, in order, as one test file; and the example programs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (*sorted((ROOT / "docs" / "how-to").glob("write-a*.md")), ROOT / "docs" / "how-to" / "embed.md")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_of(page: Path) -> str:
    """Put the Python blocks of a page together; each line stands where it stands on the page, for tracebacks."""
    text, lines = page.read_text(), [""] * (page.read_text().count("\n") + 1)
    for block in PYTHON.finditer(text):
        first = text.count("\n", 0, block.start(1))
        lines[first : first + block[1].count("\n")] = block[1].splitlines()
    return "\n".join(lines)


def run(arguments: list[str], cwd: Path) -> str:
    """Run Python, and give what it printed; a failure shows it."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_a_suite(page: Path) -> None:
    """Every page ends with the test of what it shows."""
    last = PYTHON.findall(page.read_text())[-1]
    assert "Suite)" in last or "def test_" in last


def test_every_page_runs(tmp_path: Path) -> None:
    """All blocks of a page make one test file; whatever it defines is there, and all of its tests pass."""
    for page in PAGES:
        (tmp_path / f"test_{page.stem.replace('-', '_')}.py").write_text(code_of(page))
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    output = run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"], tmp_path)
    assert re.search(r"\d+ passed", output), output


def test_the_embedding_example_runs() -> None:
    """It grows what is too slow, shrinks what is too wide, and needs neither Spark nor Java."""
    program = "import runpy, sys; runpy.run_path('main.py', run_name='__main__'); assert 'pyspark' not in sys.modules"
    output = run(["-c", f"import sys; sys.path.insert(0, '.'); {program}"], ROOT / "examples" / "embed")
    assert "chairs: Rescaled: benches: 100/s true rate" in output
    assert "1 -> 3" in output
    assert "stools: Rescaled: benches: 600/s true rate" in output
    assert "tables: WithinBand" in output
