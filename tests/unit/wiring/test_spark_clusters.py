"""The whole service over a Spark cluster on paper: workers follow the load of an application that knows of nothing."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml

from headgate.config import load
from headgate.control.runner import Runner
from headgate.model.decision import Decision
from headgate.model.measures import Measure
from headgate.testing.fake_spark import FakeBatch, FakeSpark, FakeSparkApplication
from headgate.testing.fakes import RecordingEvents
from headgate.wiring import service

ROW_MS, OVERHEAD_MS, PARTITIONS = 10, 200, 4
TRIGGER = timedelta(seconds=2)
_MS = timedelta(milliseconds=1)


class Stage:
    """An application whose batches take what a formula says, on as many workers as a file names."""

    def __init__(self, spark: FakeSpark, directory: Path) -> None:
        """Start it, with a first worker that the service has not asked for."""
        self.spark = spark
        self.count = directory / "count"
        self.count.write_text("1")
        self.application: FakeSparkApplication = spark.applications[spark.start("orders")]
        self.application.add_executor()
        self.application.start_query("clean")
        self.waiting = 0

    @property
    def workers(self) -> int:
        """How many were asked for."""
        return int(self.count.read_text())

    def run_batch(self, rate: float) -> datetime:
        """Run the next batch, and give when it ended; the clock then stands at the trigger after it."""
        self._follow_workers()
        rows, begun = self.waiting, self.application.now
        waves = math.ceil(PARTITIONS / len(self.application.executors)) / PARTITIONS
        task_ms = ROW_MS * rows / PARTITIONS
        duration = (OVERHEAD_MS + ROW_MS * rows * waves) * _MS
        batch = FakeBatch(rows=rows, duration=duration, tasks=(PARTITIONS,), task_time=task_ms * _MS)
        self.application.run_batch("clean", batch)
        ended, triggers = self.application.now, math.ceil(duration / TRIGGER)
        self.application.now = begun + max(triggers, 1) * TRIGGER
        self.waiting = round(rate * (self.application.now - begun).total_seconds())
        return ended

    def _follow_workers(self) -> None:
        while len(self.application.executors) < self.workers:
            self.application.add_executor()
        while len(self.application.executors) > self.workers:
            self.application.remove_executor(self.application.executors[-1])
        self.spark.workers = [1] * self.workers


def config_of(spark: FakeSpark, directory: Path) -> Path:
    """Write the service's configuration."""
    count = directory / "count"
    options = {
        "clusters": [],
        "spark-clusters": [
            {
                "name": "streams",
                "master": spark.url,
                "event-log-dir": str(spark.log_dir),
                "workers": {"provider": "machine", "min": 1, "max": 4},
            }
        ],
        "headgate.plugins.machine": {
            "class": "command",
            "count": f"cat {count}",
            "request": f"sh -c 'echo {{count}} >{count}'",
        },
        "mode": "act",
        "pipeline": "in-process",
        "state-store": "memory",
        "log.path": str(directory / "samples"),
        "collect.interval": "2 s",
    }
    path = directory / "headgate.yaml"
    path.write_text(yaml.safe_dump(options))
    return path


@asynccontextmanager
async def serving(config: Path) -> AsyncIterator[Runner]:
    """Give the service; it ticks when it is told to."""
    async with service(load(config, {}, {}).options, events=RecordingEvents()) as runner:
        yield runner


async def cycles(runner: Runner, stage: Stage, rate: float, count: int) -> list[Decision]:
    """Let batches run at a rate, each followed by a look and a decision."""
    decided: list[Decision] = []
    (observer,) = runner.observers
    for _ in range(count):
        at = stage.run_batch(rate)
        await observer.observe(at)
        decided += await runner.cycle.run(runner.latest, at)
    return decided


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Serve a master with one application."""
    (tmp_path / "log").mkdir()
    async with FakeSpark(tmp_path / "log") as spark:
        yield Stage(spark, tmp_path)


async def test_workers_follow_the_load(stage: Stage, tmp_path: Path) -> None:
    """One is enough for thirty rows a second; a hundred and twenty take more; and one is enough again."""
    async with serving(config_of(stage.spark, tmp_path)) as runner:
        await cycles(runner, stage, 30, 10)
        assert stage.workers == 1
        said = [each.message for each in await cycles(runner, stage, 120, 20)]
        assert stage.workers in {2, 4}, said
        said = [each.message for each in await cycles(runner, stage, 30, 35)]
        assert stage.workers == 1, said


async def test_an_application_has_what_its_samples_need(stage: Stage, tmp_path: Path) -> None:
    """The options of its kind, and measures that the evaluator reads again from what was kept."""
    async with serving(config_of(stage.spark, tmp_path)) as runner:
        for rate in (30, 60):
            await cycles(runner, stage, rate, 5)
        (seen,) = runner.latest.values()
        assert seen.ctx.options.evaluator == "micro-batch"
        assert seen.sample is not None
        assert seen.sample.settings.shared_workers
        (vertex,) = seen.sample.vertices.values()
        assert vertex.values[Measure.ROW_COST] == pytest.approx(ROW_MS * 1000, rel=0.05)
        assert vertex.values[Measure.BATCH_OVERHEAD] == pytest.approx(OVERHEAD_MS, rel=0.1)
