"""The log keeps every row exactly once while its writer and its compactions are killed at random, wherever it is."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest
from tests.services import object_store

from headgate.samplelog import files
from headgate.samplelog.layout import Layout
from headgate.samplelog.reader import LogReader

PROGRAMS = Path(__file__).with_name("log_programs.py")
SHORT = (1, 10)
LONG = (
    int(os.environ.get("HEADGATE_KILL_TEST_SEED", str(random.SystemRandom().randrange(10**6)))),
    int(os.environ.get("HEADGATE_KILL_TEST_SECONDS", "60")),
)
LIMIT_S = 60
"""For what a busy machine takes longer."""
TICKS_OF_A_DAY = 144
WORKING = ("write", "compact", "compact")
seed_and_seconds = pytest.mark.parametrize(
    ("seed", "seconds"), [SHORT, pytest.param(*LONG, marks=pytest.mark.long, id="long")]
)


@seed_and_seconds
def test_no_row_is_lost_or_doubled_when_processes_are_killed(tmp_path: Path, seed: int, seconds: int) -> None:
    """A reader that checks all along sees no error; in the end each appended tick stands in the log once."""
    survive(tmp_path, None, random.Random(seed), seconds)  # noqa: S311 (chaos, no secret)


@seed_and_seconds
@pytest.mark.long
def test_no_row_is_lost_or_doubled_in_a_bucket(tmp_path: Path, seed: int, seconds: int) -> None:
    """Where no lock is given back for the dead, and no file gets its name by a rename."""
    with object_store.running() as store:
        survive(tmp_path, store.endpoint, random.Random(seed), seconds)  # noqa: S311 (chaos, no secret)


def survive(folder: Path, endpoint: str | None, choice: random.Random, seconds: int) -> None:
    """Kill at random under a reader that checks all along; in the end check the whole log."""
    with ExitStack() as stack:
        reader = start(stack, "read", folder, endpoint)
        kills = kill_at_random(folder, endpoint, reader, choice, seconds)
        (folder / "stop").touch()
        output, _ = reader.communicate(timeout=60)
    assert reader.returncode == 0, output
    assert int(output) > 0
    assert kills > seconds / 30
    assert every_tick_once(folder, endpoint) > TICKS_OF_A_DAY, "no file has outlived its grace"


def kill_at_random(
    folder: Path, endpoint: str | None, reader: subprocess.Popen[str], choice: random.Random, seconds: int
) -> int:
    """
    Run the writer and two compactions, kill one of them every few moments, start it again; return the kills.

    For so many seconds, and on until a day was written, after which the first files go.
    """
    programs_of, kills = load_programs(), 0
    end, limit = time.monotonic() + seconds, time.monotonic() + seconds + LIMIT_S
    with ExitStack() as stack:
        programs = {number: start(stack, name, folder, endpoint) for number, name in enumerate(WORKING)}
        while time.monotonic() < end or programs_of.count_acknowledged(folder) <= 1.1 * TICKS_OF_A_DAY:
            assert time.monotonic() < limit, "the log is written too slowly"
            time.sleep(choice.uniform(0.0, 1.5))
            for program in [reader, *programs.values()]:
                assert program.poll() is None, f"{program.args!r} ended by itself: {program.communicate()[0]}"
            victim = choice.choice(sorted(programs))
            programs[victim].kill()
            programs[victim].wait()
            programs[victim] = start(stack, WORKING[victim], folder, endpoint)
            kills += 1
    return kills


def every_tick_once(folder: Path, endpoint: str | None) -> int:
    """Check the whole log, before and after a last compaction that leaves a file an hour. Gives the ticks."""
    programs = load_programs()
    log, ticks = programs.log_of(folder, endpoint), programs.count_acknowledged(folder)
    whole = (programs.at_tick(0), programs.at_tick(ticks - 1))
    programs.check(LogReader(log).read("samples", *whole), range(ticks))
    files.remove([Layout(log).upkeep_lock])  # in a bucket nobody gives it back for the dead
    for _ in range(2):
        programs.compact_once(log, grace=-timedelta(minutes=1))  # a manifest is as young as the run that made it
    programs.check(LogReader(log).read("samples", *whole), range(ticks))
    for hour in Layout(log).hours("samples")[:-1]:
        assert len([name for name in files.names(hour.folder) if name.endswith(".parquet")]) == 1
    return int(ticks)


def start(stack: ExitStack, name: str, folder: Path, endpoint: str | None) -> subprocess.Popen[str]:
    """Start a program that ends at the latest with the stack, and wait until it is at work."""
    program = stack.enter_context(running(name, folder, endpoint))
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


@contextmanager
def running(name: str, folder: Path, endpoint: str | None) -> Iterator[subprocess.Popen[str]]:
    """Run one of the programs in a process of its own."""
    arguments = [sys.executable, str(PROGRAMS), name, str(folder), *filter(None, [endpoint])]
    program = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with program:
        try:
            yield program
        finally:
            program.kill()


def load_programs() -> ModuleType:
    """Import what the programs know of their own rows."""
    spec = importlib.util.spec_from_file_location("log_programs", PROGRAMS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
