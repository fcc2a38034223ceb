"""`headgate demo` as a user runs it: a real cluster, a real job, Headgate beside them, and nothing left afterwards."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.flink

COMMAND = (sys.executable, "-m", "headgate", "demo")
MARK = "HEADGATE_DEMO_TEST"
LIMIT_S = 400


@contextmanager
def demo(directory: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a demo whose processes can all be told by a mark, and whose temporary files all go into a directory."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env=os.environ | {MARK: str(directory), "TMPDIR": str(directory), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def play(directory: Path, *arguments: str, limit_s: float = LIMIT_S) -> tuple[int, str]:
    """Run a demo to its end; give its exit status and what it printed, which is also shown if the test fails."""
    with demo(directory, *arguments) as process:
        said, _ = process.communicate(timeout=limit_s)
    print(said)  # noqa: T201 (the seed and the run's course, for whoever has to repeat it)
    return process.returncode, said


def marked(directory: Path) -> list[str]:
    """Give the command lines of the demo's processes that still run."""
    return [" ".join(process.cmdline()) for process in psutil.process_iter() if _mark_of(process) == str(directory)]


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARK)
    except psutil.Error:
        return None


def left_behind(directory: Path) -> list[str]:
    """Give what is left of a demo: processes, after a second for the last of them to be gone, and files."""
    deadline = time.monotonic() + 1
    while marked(directory) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [*marked(directory), *map(str, directory.iterdir())]


RANDOM = str(secrets.randbelow(1_000_000))


@pytest.mark.parametrize(
    ("seed", "phase_seconds"), [("1", "35"), pytest.param(RANDOM, "50", marks=pytest.mark.long, id="random")]
)
def test_headgate_follows_the_load(tmp_path: Path, seed: str, phase_seconds: str) -> None:
    """Every phase reaches its optimum, whatever the seed, which is printed; then everything is gone."""
    status, said = play(tmp_path, "--seed", seed, "--phase-seconds", phase_seconds)
    assert status == 0, f"seed {seed}"
    assert f"seed {seed}" in said
    assert "PASSED" in said
    assert left_behind(tmp_path) == []


def test_the_judge_fails_a_dry_run(tmp_path: Path) -> None:
    """Headgate may only advise: the job keeps its wrong start, and the judge says so."""
    status, said = play(tmp_path, "--seed", "1", "--dry-run", "--phase-seconds", "8")
    assert status == 1
    assert "FAILED" in said
    assert "right for a dry run" in said
    assert left_behind(tmp_path) == []


def test_a_demo_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C while the job runs: no process, no file, and the status that a shell expects."""
    with demo(tmp_path, "--seed", "1") as process:
        assert process.stdout is not None
        assert any("low load" in line for line in process.stdout)
        assert len(marked(tmp_path)) > 6
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "everything that was started has ended" in said
    assert left_behind(tmp_path) == []


@pytest.mark.long
def test_a_demo_whose_headgate_dies_stops_and_shows_its_last_lines(tmp_path: Path) -> None:
    """Nobody waits for minutes in front of a job that nothing looks after."""
    with demo(tmp_path, "--seed", "1") as process:
        assert process.stdout is not None
        assert any("low load" in line for line in process.stdout)
        next(each for each in psutil.process_iter() if _is_service(each, tmp_path)).kill()
        said, _ = process.communicate(timeout=60)
    assert process.returncode not in {0, None}
    assert "headgate ended during the demo" in said
    assert '"event": "started"' in said
    assert left_behind(tmp_path) == []


def _is_service(process: psutil.Process, directory: Path) -> bool:
    return _mark_of(process) == str(directory) and process.cmdline()[1:4] == ["-m", "headgate", "run"]
