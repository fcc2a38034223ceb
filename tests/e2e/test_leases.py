"""Two real processes share a store: one is killed or frozen at any point, and every step is taken exactly once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from tests.e2e.lease_program import KUBECONFIG, NAMESPACE
from tests.services.kubernetes import Kubernetes

from headgate.stores.sql import SqlStateStore

PROGRAM = Path(__file__).with_name("lease_program.py")
PATIENCE_S = 120.0
POINTS = ["intent", "effect", "outcome"]
STEPS = ["2", "3", "4"]

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(params=["sqlite", "postgresql", "kubernetes"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a store in which nothing is known of the job and no lease is held, there or in Kubernetes."""
    if request.param == "kubernetes":
        kubernetes: Kubernetes = request.getfixturevalue("kubernetes")
        monkeypatch.setenv(KUBECONFIG, str(kubernetes.kubeconfig))
        monkeypatch.setenv(NAMESPACE, kubernetes.create_namespace())
    if request.param != "postgresql":
        return f"sqlite:///{tmp_path / 'headgate.db'}"
    url = str(request.getfixturevalue("postgresql_url"))
    with closing(SqlStateStore(url)) as store:
        for lease in store.leases():
            store.release(lease)
        for job in store.in_flight():
            store.forget(job)
    return url


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """Give the file in which every effect is a line."""
    return tmp_path / "engine"


@pytest.fixture
def start(url: str, engine: Path) -> Iterator[Start]:
    """Start processes by name; whatever happens, none is left."""
    started: list[subprocess.Popen[str]] = []

    def start(name: str, *point: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(PROGRAM), name, url, str(engine), *point]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("point", POINTS)
def test_another_takes_over_from_a_process_that_was_killed(start: Start, engine: Path, point: str) -> None:
    """When the lease has expired; what was open is finished, and nothing is done twice."""
    anna = start("anna", point, str(int(signal.SIGKILL)))
    anna.wait(PATIENCE_S)
    bert = start("bert")
    assert bert.wait(PATIENCE_S) == 0
    assert anna.returncode == -signal.SIGKILL
    assert _steps(engine) == STEPS
    assert _last(engine) == "bert"


@pytest.mark.parametrize("point", POINTS)
def test_a_process_that_was_frozen_past_its_lease_does_nothing_more(start: Start, engine: Path, point: str) -> None:
    """It wakes up in the middle of a cycle: its save is refused, and no effect of it is left to come."""
    anna = start("anna", point, str(int(signal.SIGSTOP)))
    _wait_until_stopped(anna)
    done_before = _steps(engine)
    bert = start("bert")
    assert bert.wait(PATIENCE_S) == 0
    anna.send_signal(signal.SIGCONT)
    said, _ = anna.communicate(timeout=PATIENCE_S)
    assert anna.returncode == 0, said
    assert "refused: " in said
    assert ("may not act" in said) == (point == "effect")
    assert _steps(engine) == STEPS
    assert [line.split()[0] for line in engine.read_text().splitlines()].count("anna") == len(done_before)


def _wait_until_stopped(process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE_S
    while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def _steps(engine: Path) -> list[str]:
    return [line.split()[1] for line in engine.read_text().splitlines()] if engine.exists() else []


def _last(engine: Path) -> str:
    return engine.read_text().splitlines()[-1].split()[0]
