"""`headgate demo --reactive` as a user runs it: TaskManagers come, die and go, and nothing is left afterwards."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.flink, pytest.mark.long]

COMMAND = (sys.executable, "-m", "headgate", "demo", "--reactive")
MARK = "HEADGATE_REACTIVE_DEMO_TEST"
LIMIT_S = 400


def play(directory: Path, *arguments: str) -> tuple[int, str]:
    """Run a demo to its end; give its exit status and what it printed, which is also shown if the test fails."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        env=os.environ | {MARK: str(directory), "TMPDIR": str(directory), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    print(done.stdout)  # noqa: T201 (the seed and the run's course, for whoever has to repeat it)
    return done.returncode, done.stdout


def left_behind(directory: Path) -> list[str]:
    """Give what is left of a demo: processes, after a second for the last of them to be gone, and files."""
    deadline = time.monotonic() + 1
    while marked(directory) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [*marked(directory), *map(str, directory.iterdir())]


def marked(directory: Path) -> list[str]:
    """Give the command lines of the demo's processes that still run."""
    return [" ".join(process.cmdline()) for process in psutil.process_iter() if _mark_of(process) == str(directory)]


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARK)
    except psutil.Error:
        return None


def test_workers_come_with_the_load_are_replaced_and_go(tmp_path: Path) -> None:
    """Every phase ends on the TaskManagers that it needs, whatever the seed; one of them is killed on the way."""
    seed = str(secrets.randbelow(1_000_000))
    status, said = play(tmp_path, "--seed", seed)
    assert status == 0, f"seed {seed}"
    assert "was killed with SIGKILL" in said
    assert "WorkersRequested: asked again for 3 workers" in said
    assert "PASSED" in said
    assert left_behind(tmp_path) == []


def test_the_judge_fails_a_dry_run(tmp_path: Path) -> None:
    """Headgate may only advise: nobody starts a TaskManager, the demo stops at its first phase, the judge says so."""
    status, said = play(tmp_path, "--seed", "random", "--dry-run", "--phase-seconds", "10")
    assert status == 1
    assert "FAILED" in said
    assert "right for a dry run" in said
    assert left_behind(tmp_path) == []
