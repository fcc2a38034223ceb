"""`headgate preflight`: all that stands against reactive mode, before anything is switched on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain


@pytest.fixture
async def server() -> AsyncIterator[FakeFlink]:
    """Serve two jobs; the second is not fit, for two reasons."""
    orders = chain(job_id="a" * 32, name="orders", vertices=2, rate=10)
    billing = chain(job_id="b" * 32, name="billing", vertices=2, rate=10)
    billing.scheduler, billing.checkpoint_interval_ms = "Default", None
    async with FakeFlink([orders, billing]) as fake:
        yield fake


@pytest.fixture
def config(server: FakeFlink, tmp_path: Path) -> Path:
    """Give the service's file."""
    path = tmp_path / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: local, url: '{server.url}'}}]\njob.autoscaler.execution-mode: reactive\n", encoding="utf-8"
    )
    return path


async def preflight(*arguments: str) -> Result:
    """Run the command while the server goes on answering."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["preflight", *arguments])


async def test_a_fit_job_passes_and_the_schedulers_waits_are_told(config: Path) -> None:
    """Waits that nobody has set are there with Flink's defaults, and with what they mean."""
    done = await preflight("local/orders", "--config", str(config))
    assert done.exit_code == 0, done.output
    assert "local/orders: fit for reactive mode, execution-mode is reactive" in done.output
    assert "executing.cooldown-after-rescaling" in done.output
    assert "after a rescale" in done.output


async def test_every_reason_of_every_job_is_named_at_once(config: Path) -> None:
    """Without a job all are looked at; one that is not fit fails the command."""
    done = await preflight("--config", str(config))
    assert done.exit_code == 1
    assert "local/orders: fit" in done.output
    assert "local/billing: not fit" in done.output
    assert "  - checkpoints are off" in done.output
    assert "  - its scheduler cannot change parallelism" in done.output


async def test_an_address_is_enough_and_json_is_for_machines(server: FakeFlink) -> None:
    """A look before there is a file."""
    done = await preflight(server.url, "--json")
    found = {each["job"]: each for each in json.loads(done.stdout)}
    assert done.exit_code == 1
    assert found["127.0.0.1/orders"]["fit"] is True
    assert found["127.0.0.1/orders"]["execution_mode"] == "none"
    assert len(found["127.0.0.1/billing"]["unsuitable"]) == 2
    assert {"key", "value", "means"} == found["127.0.0.1/billing"]["waits"][0].keys()


async def test_a_job_that_does_not_run_and_a_cluster_that_does_not_answer_are_failures(config: Path) -> None:
    """Nobody takes silence for a pass."""
    missing = await preflight("returns", "--config", str(config))
    assert missing.exit_code == 1
    assert "no job 'returns' runs there" in missing.stderr
    silent = await preflight("http://127.0.0.1:9")
    assert silent.exit_code == 1
    assert "no connection to 127.0.0.1:9" in silent.stderr


async def test_it_looks_and_touches_nothing(config: Path, server: FakeFlink) -> None:
    """Every request is a GET."""
    await preflight("--config", str(config))
    assert {each.method for each in server.requests} == {"GET"}
