"""The service changes with its file, and tells whoever listens: a process of its own against a fake Flink."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headgate.cli import app
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.fake_receiver import FakeReceiver
from headgate.testing.process import HeadgateProcess

LIMIT = timedelta(seconds=60)
JOB = "lab/orders"


@pytest.fixture
async def flink() -> AsyncIterator[FakeFlink]:
    """Serve a job whose vertices get 1,500 records/s, of which each subtask does 1,000."""
    job = chain(job_id=f"{1:032x}", name="orders", vertices=3, rate=1_500, partitions=None)
    async with FakeFlink([job], wall_clock=True) as server:
        server.config["metrics.fetcher.update-interval"] = "500"
        yield server


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    """Give a receiver of webhooks."""
    with FakeReceiver() as server:
        yield server


def options(flink: FakeFlink) -> dict[str, object]:
    """Give options under which advice comes within seconds."""
    return {
        "clusters": [{"name": "lab", "url": flink.url}],
        "pipeline": "in-process",
        "collect.interval": "1 s",
        "decide.interval": "1 s",
        "job.autoscaler": {"metrics.window": "4 s", "stabilization.interval": "0 s", "restart.time": "5 s"},
        "jobs": [{"match": JOB, "autoscaler": {"scaling.enabled": "false"}}],
    }


def rewrite(service: HeadgateProcess, old: str, new: str) -> None:
    """Change a text of the service's file."""
    text = service.config.read_text(encoding="utf-8")
    assert old in text
    service.config.write_text(text.replace(old, new), encoding="utf-8")


async def until_said(service: HeadgateProcess, event: str, count: int = 1) -> str:
    """Wait for so many log lines of a kind; give the last one's message."""
    await asyncio.to_thread(service.until, lambda: len(service.lines(event)) >= count, limit=LIMIT)
    return str(service.lines(event)[-1]["message"])


async def test_a_running_service_takes_over_its_file(flink: FakeFlink, tmp_path: Path) -> None:
    """A faulty one is refused as a whole; then mode and one job's options make it act, without a restart."""
    with HeadgateProcess(options(flink), tmp_path) as service:
        await until_said(service, "ScalingReport")

        rewrite(service, "decide.interval: 1 s", "decide.interval: soon\nmode: atc")
        refused = await until_said(service, "OptionsRefused")
        assert "found 'soon'" in refused
        assert "found 'atc'" in refused

        rewrite(
            service, "decide.interval: soon\nmode: atc", "decide.interval: 500 ms\nmode: act\nspark.master: local[1]"
        )
        reloaded = await until_said(service, "OptionsReloaded")
        assert "mode advise -> act, decide.interval 1 s -> 500 ms" in reloaded
        assert "needs a restart: spark.master local[*] -> local[1]" in reloaded
        assert flink.asked("/resource-requirements", "PUT") == 0

        rewrite(service, "scaling.enabled: 'false'", "scaling.enabled: 'true'")
        assert service._child is not None
        os.kill(service._child.process.pid, signal.SIGHUP)
        assert "jobs[0].autoscaler.scaling.enabled false -> true" in await until_said(service, "OptionsReloaded", 2)
        await until_said(service, "RescaleReached")
        assert flink.asked("/resource-requirements", "PUT") == 1
        assert await asyncio.to_thread(service.stop) == 0


async def test_listeners_hear_of_a_rescale_once_they_can(
    flink: FakeFlink, receiver: FakeReceiver, tmp_path: Path
) -> None:
    """A hanging receiver delays no rescale, hears of it in order when it recovers, and a table has it as well."""
    receiver.hang()
    database = f"sqlite:///{tmp_path / 'events.db'}"
    events = {"handlers": "log,sql,webhook", "sql.url": database, "webhook.url": receiver.url}
    acting = {"mode": "act", "jobs": [], "events": events, "events.webhook.time-limit": "1 s"}
    with HeadgateProcess({**options(flink), **acting}, tmp_path) as service:
        await until_said(service, "RescaleReached")
        assert receiver.taken == []
        receiver.recover()

        def heard() -> list[str]:
            told = [posted.json["reason"] for posted in receiver.taken if posted.json.get("job") == JOB]
            return [reason for reason in told if reason not in {"JobAppeared", "ConfigurationRecommendation"}]

        await asyncio.to_thread(service.until, lambda: "RescaleReached" in heard(), limit=LIMIT)
        assert heard() == ["ScalingReport", "Scaling", "RescaleReached"]
        await asyncio.to_thread(service.until, lambda: service.state(JOB).outbox == (), limit=LIMIT)
        assert await asyncio.to_thread(service.stop) == 0
        shown = CliRunner().invoke(app, ["events", "orders", "--config", str(service.config)]).stdout
        for reason in ("ScalingReport", "Scaling", "RescaleReached"):
            assert f" {reason} {JOB}" in shown


async def test_what_was_saved_is_told_by_the_next_process(
    flink: FakeFlink, receiver: FakeReceiver, tmp_path: Path
) -> None:
    """Headgate is killed while nobody listens; what it has not delivered of a rescale it delivers after its restart."""
    receiver.go_away()
    acting: dict[str, object] = {"mode": "act", "jobs": [], "lease.duration": "2 s"}
    acting |= {"events": {"handlers": "log,webhook", "webhook.url": receiver.url}}
    with HeadgateProcess({**options(flink), **acting}, tmp_path) as service:
        await until_said(service, "RescaleReached")
        assert service._child is not None
        service._child.process.kill()
        service._child.process.wait()
    receiver.come_back()
    with HeadgateProcess({**options(flink), **acting}, tmp_path) as service:

        def heard() -> list[str]:
            return [posted.json["reason"] for posted in receiver.taken if posted.json["fields"].get("decision")]

        await asyncio.to_thread(service.until, lambda: "RescaleReached" in heard(), limit=LIMIT)
        assert heard()[:3] == ["ScalingReport", "Scaling", "RescaleReached"]
        await asyncio.to_thread(service.until, lambda: service.state(JOB).outbox == (), limit=LIMIT)
        assert len({posted.headers["idempotency-key"] for posted in receiver.taken}) == len(receiver.taken)
