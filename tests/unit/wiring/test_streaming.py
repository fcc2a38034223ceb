"""A process that only collects decides nothing and keeps nothing; one that only decides asks no engine for samples."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headgate.config import load
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.options.service import Pipeline, ServiceOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.fakes import RecordingEvents
from headgate.wiring import service
from headgate.wiring.streaming import collecting_only

ORDERS = JobKey("lab", "orders")


@pytest.fixture
async def flink() -> AsyncIterator[FakeFlink]:
    """Serve a cluster with one job."""
    async with FakeFlink([chain(job_id="1" * 32, name="orders", vertices=2)]) as flink:
        yield flink


def options(flink: FakeFlink, folder: Path, on: str = "service", **samples: str) -> ServiceOptions:
    """Load options of a process, with brokers that live in the client itself."""
    clusters = {"HEADGATE_CLUSTERS": f"[{{name: lab, url: '{flink.url}'}}]"}
    flags = {
        "metrics.enabled": "false",
        "collect.on": on,
        "log.path": str(folder / "log"),
        "state-store": f"sqlite:///{folder}/state.db",
        "samples.kafka.bootstrap-servers": "nowhere:1",
        "samples.kafka.settings.test.mock.num.brokers": "1",
    }
    return load(None, clusters, {**flags, **{f"samples.{key}": text for key, text in samples.items()}}).options


async def test_a_process_that_only_collects_decides_nothing(flink: FakeFlink, tmp_path: Path) -> None:
    """It observes, sends, and leaves neither a log nor a state behind: another one's are what counts."""
    events = RecordingEvents()
    async with service(options(flink, tmp_path, to="kafka"), events=events) as runner:
        at = datetime.fromtimestamp(flink.now_ms / 1000, UTC)
        await runner.observe(at)
        assert runner.latest[ORDERS].sample is not None
        assert await runner.decide(at) == ()
    assert events.reasons == [EventReason.JOB_APPEARED]
    assert not any((tmp_path / kept).exists() for kept in ("log/samples", "log/decisions", "state.db"))


async def test_a_process_that_only_decides_waits_for_samples(flink: FakeFlink, tmp_path: Path) -> None:
    """Jobs are listed by their cluster; their metrics are not asked for, and their samples are not written again."""
    async with service(options(flink, tmp_path, **{"from": "kafka"}), events=RecordingEvents()) as runner:
        await runner.observe(datetime.fromtimestamp(flink.now_ms / 1000, UTC))
        (seen,) = runner.latest.values()
    assert seen.sample is None
    assert seen.problem is not None
    assert seen.problem.reason is Reason.JOB_UNREACHABLE
    assert "none has come through kafka" in seen.problem.message
    assert not [request for request in flink.requests if "metrics" in request.path]
    assert not (tmp_path / "log" / "samples").exists()


def test_spark_is_kept_where_it_collects(flink: FakeFlink, tmp_path: Path) -> None:
    """A process that only collects needs Spark only to do so on its executors."""
    alone, on_spark = options(flink, tmp_path, to="kafka"), options(flink, tmp_path, to="kafka", on="spark")
    assert collecting_only(alone).pipeline is Pipeline.IN_PROCESS
    assert collecting_only(on_spark).pipeline is Pipeline.SPARK
    assert collecting_only(options(flink, tmp_path)) == options(flink, tmp_path)
