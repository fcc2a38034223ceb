"""The log keeps every row exactly once while its writer and its compaction are killed at random."""

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

from headgate.samplelog.layout import Layout
from headgate.samplelog.reader import LogReader

PROGRAMS = Path(__file__).with_name("log_programs.py")
SECONDS = float(os.environ.get("HEADGATE_KILL_TEST_SECONDS", "120"))
SEED = int(os.environ.get("HEADGATE_KILL_TEST_SEED", str(random.SystemRandom().randrange(10**6))))

TICKS_OF_THREE_HOURS = 18


@pytest.mark.parametrize("seed", [SEED])
def test_no_row_is_lost_or_doubled_when_processes_are_killed(tmp_path: Path, seed: int) -> None:
    """A reader that checks all along sees no error; in the end each appended tick stands in the log once."""
    with ExitStack() as stack:
        reader = start(stack, "read", tmp_path)
        kills = kill_at_random(tmp_path, reader, random.Random(seed))  # noqa: S311 (chaos, no secret)
        (tmp_path / "stop").touch()
        output, _ = reader.communicate(timeout=60)
    assert reader.returncode == 0, output
    assert int(output) > 0
    assert kills > SECONDS / 30
    assert every_tick_once(tmp_path) > TICKS_OF_THREE_HOURS


def kill_at_random(folder: Path, reader: subprocess.Popen[str], choice: random.Random) -> int:
    """Run the writer and the compaction, kill one of them every few moments, start it again. Gives the kills."""
    end, kills = time.monotonic() + SECONDS, 0
    with ExitStack() as stack:
        programs = {name: start(stack, name, folder) for name in ("write", "compact")}
        while time.monotonic() < end:
            time.sleep(choice.uniform(0.0, 1.5))
            for name, program in [("read", reader), *programs.items()]:
                assert program.poll() is None, f"{name} ended by itself: {program.communicate()[0]}"
            victim = choice.choice(sorted(programs))
            programs[victim].kill()
            programs[victim].wait()
            programs[victim] = start(stack, victim, folder)
            kills += 1
    return kills


def every_tick_once(folder: Path) -> int:
    """Check the whole log, before and after a last compaction that leaves a file an hour. Gives the ticks."""
    programs = load_programs()
    log, ticks = programs.log_of(folder), programs.count_acknowledged(folder)
    whole = (programs.at_tick(0), programs.at_tick(ticks - 1))
    programs.check(LogReader(log).read("samples", *whole), range(ticks))
    for _ in range(2):
        programs.compact_once(folder, grace=timedelta())
    programs.check(LogReader(log).read("samples", *whole), range(ticks))
    for hour in Layout(log).hours("samples")[:-1]:
        assert len(list(hour.folder.glob("*.parquet"))) == 1
    return int(ticks)


def start(stack: ExitStack, name: str, folder: Path) -> subprocess.Popen[str]:
    """Start a program that ends at the latest with the stack, and wait until it is at work."""
    program = stack.enter_context(running(name, folder))
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


@contextmanager
def running(name: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run one of the programs in a process of its own."""
    arguments = [sys.executable, str(PROGRAMS), name, str(folder)]
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
