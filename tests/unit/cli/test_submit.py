"""`headgate submit`: how a job is started is saved before it is started, and forgotten if that is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.model.identity import JobKey
from headgate.model.redeploy import Launch, Overlay
from headgate.model.state import JobState
from headgate.stores.sql import SqlStateStore
from headgate.testing.fake_job import chain
from headgate.testing.fake_redeploys import JAR, RedeployableFlink

ORDERS = JobKey("lab", "orders")
BEFORE = JobState(
    launch=Launch(jar="older.jar"),
    overlay=Overlay(overrides={"a": "1"}),
    deferred=Overlay(overrides={"b": "2"}),
    job_wide=2,
)


class WatchingFlink(RedeployableFlink):
    """
    A Flink without jobs that looks into the state store when it is asked to start one.

    Attributes:
        store: the place.
        remembered: what it found there.
    """

    def __init__(self, store: str) -> None:
        """Have a jar."""
        super().__init__([chain(job_id="a" * 32, name="orders", vertices=2)])
        self.jobs.clear()
        self.store = store
        self.remembered: list[JobState] = []

    def state(self) -> JobState:
        """Load what is remembered of the job."""
        with closing(SqlStateStore(self.store)) as store:
            return store.load(ORDERS).state

    async def _run_jar(self, request: web.Request) -> web.Response:
        self.remembered.append(await asyncio.to_thread(self.state))
        return await super()._run_jar(request)


@pytest.fixture
async def flink(tmp_path: Path) -> AsyncIterator[WatchingFlink]:
    """Serve, with the service's file beside it and what is remembered of an earlier start."""
    async with WatchingFlink(f"sqlite:///{tmp_path}/headgate.db") as flink:
        file = f"clusters: [{{name: lab, url: '{flink.url}'}}]\nstate-store: {flink.store}\n"
        (tmp_path / "headgate.yaml").write_text(file)
        with closing(SqlStateStore(flink.store)) as store:
            store.save(ORDERS, BEFORE, 0)
        yield flink


async def submit(tmp_path: Path, *words: str) -> Result:
    """Submit the job."""
    command = ["submit", "lab/orders", *words, "--config", str(tmp_path / "headgate.yaml")]
    return await asyncio.to_thread(CliRunner().invoke, app, command)


async def test_how_a_job_is_started_is_saved_before_it_is_started(flink: WatchingFlink, tmp_path: Path) -> None:
    """Whoever is killed in between leaves no job that nobody could redeploy; configuration that waited goes along."""
    result = await submit(tmp_path, "--jar", JAR, "--parallelism", "3")
    assert result.exit_code == 0, result.output
    wanted = JobState(
        launch=Launch(jar=JAR, parallelism=3), overlay=Overlay(overrides={"a": "1", "b": "2"}), job_wide=3
    )
    assert flink.remembered == [wanted]
    assert flink.state() == wanted


async def test_a_start_that_is_refused_leaves_what_was_remembered(flink: WatchingFlink, tmp_path: Path) -> None:
    """A job that somebody starts otherwise later is not redeployed from what never ran."""
    flink.start_failures.append("no such class")
    result = await submit(tmp_path, "--jar", JAR, "--entry-class", "Typo")
    assert result.exit_code != 0
    assert flink.remembered[0].launch == Launch(jar=JAR, entry_class="Typo")
    assert flink.state() == BEFORE


async def test_a_job_that_runs_keeps_what_it_was_started_from(flink: WatchingFlink, tmp_path: Path) -> None:
    """It is not started twice."""
    flink.add(chain(job_id="b" * 32, name="orders", vertices=2))
    result = await submit(tmp_path, "--jar", JAR)
    assert "runs already" in result.output
    assert flink.state() == BEFORE
