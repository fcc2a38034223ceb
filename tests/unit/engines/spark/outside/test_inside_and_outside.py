"""From inside and from outside come the same samples, from the same batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from headgate.engines.spark.application import Application, Executors, QuerySettings, RunningQuery, StageRun
from headgate.engines.spark.attached.batches import Batches
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import BatchWork, QueryFailure
from headgate.engines.spark.outside.event_log import Event, EventLog
from headgate.engines.spark.outside.ledger import Ledger
from headgate.engines.spark.sampling import Sampler
from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample

RECORDED = Path(__file__).parents[4] / "fixtures" / "spark"
APP = "app-20261122150318-0000"
JOB = JobKey("spark", "orders")
SETTINGS = {
    "clean": QuerySettings(interval=timedelta(seconds=2), takes_all=False),
    "count": QuerySettings(interval=timedelta(seconds=3), row_limit=400, takes_all=False),
    "doomed": QuerySettings(interval=timedelta(seconds=4), row_limit=400, takes_all=False),
}
"""As the recorded queries were started; the limit of `clean` was never reached."""
GUESSED = {Measure.BATCH_INTERVAL, Measure.BATCH_LIMIT, Measure.LOAD}
"""What follows from how a query was started, which an event log does not tell."""


@dataclass(slots=True, kw_only=True)
class RecordedGateway:
    """A gateway to a driver whose books are the stages of the recorded log, by Spark's own sums."""

    stages: dict[tuple[str, int], list[StageRun]] = field(default_factory=dict)
    ledger: Ledger

    def application(self) -> Application:
        """Nobody asks."""
        raise NotImplementedError

    def executors(self) -> Executors:
        """Nobody asks."""
        raise NotImplementedError

    def queries(self) -> Sequence[RunningQuery]:
        """Nobody asks."""
        raise NotImplementedError

    def settings(self, run_id: str) -> QuerySettings:
        """Tell how a query was started."""
        return SETTINGS[self.ledger.queries[run_id].query]

    def work(self, run_id: str, batch_id: int) -> BatchWork:
        """Give the stages that have ended."""
        return BatchWork(stages=tuple(self.stages[run_id, batch_id]), complete=True)

    def progress_since(self, run_id: str, batch_id: int) -> Sequence[str]:
        """Nobody asks: there is a feed."""
        raise NotImplementedError

    def failures(self) -> Sequence[QueryFailure]:
        """Nobody asks."""
        raise NotImplementedError

    def note(self, event: Mapping[str, Any], jobs: dict[int, tuple[int, str, int]]) -> None:
        """Take in the jobs and the stages that ended."""
        if event["Event"] == "SparkListenerJobStart":
            told = event["Properties"]
            for stage in event["Stage Infos"]:
                batch = told["spark.jobGroup.id"], int(told["streaming.sql.batchId"])
                jobs.setdefault(stage["Stage ID"], (event["Job ID"], *batch))
        elif event["Event"] == "SparkListenerStageCompleted":
            job, run, number = jobs[event["Stage Info"]["Stage ID"]]
            self.stages.setdefault((run, number), []).append(stage_run(job, event["Stage Info"]))


def stage_run(job: int, stage: Mapping[str, Any]) -> StageRun:
    """Read a stage as the driver's status store sums it up."""
    sums = {each["Name"]: each["Value"] for each in stage["Accumulables"]}
    read = sum(value for name, value in sums.items() if name.startswith("internal.metrics.shuffle.read."))
    return StageRun(
        job=job,
        id=stage["Stage ID"],
        tasks=stage["Number of Tasks"],
        task_time=timedelta(milliseconds=sums["internal.metrics.executorRunTime"]),
        reads_shuffle=read > 0,
    )


def recorded() -> Iterator[tuple[Mapping[str, Any], Event | None]]:
    """Give every line of the log, and what of it the event log's reader gives, if anything."""
    events = EventLog(RECORDED, APP).read()
    pending = next(events, None)
    for line in (RECORDED / APP).read_text().splitlines():
        event = json.loads(line)
        if pending is not None and event == {**pending, "Event": event["Event"]}:
            yield event, pending
            pending = next(events, None)
        else:
            yield event, None


def comparable(sample: JobSample) -> JobSample:
    """Leave aside what is guessed: how often batches begin, and how long the first on new executors is waited for."""
    vertices = {name: without_guesses(one) for name, one in sample.vertices.items()}
    settings = replace(sample.settings, metric_refresh_s=0.0)
    return replace(sample, vertices=vertices, settings=settings, running_since=sample.at)


def without_guesses(sample: VertexSample) -> VertexSample:
    """Leave aside what is guessed of a vertex."""
    return replace(sample, values={key: value for key, value in sample.values.items() if key not in GUESSED})


def test_the_samples_are_the_same_after_each_batch() -> None:
    """Counters, costs, lag and the graph: learnt from the driver's books or from the log."""
    ledger, jobs = Ledger(), dict[int, tuple[int, str, int]]()
    inside, outside = Sampler(), Sampler()
    gateway, feed = RecordedGateway(ledger=ledger), ProgressFeed()
    feed.is_fed = True
    batches = Batches(gateway, feed)
    compared = 0
    for line, event in recorded():
        gateway.note(line, jobs)
        if event is None:
            continue
        ledger.note(event)
        if event["Event"] != "QueryProgressEvent":
            continue
        queries = tuple(ledger.queries.values())
        feed.put(json.dumps(event["progress"]))
        for ended in ledger.take_batches():
            outside.note(ended.batch, ended.executors)
            at = ended.batch.started_at + ended.batch.duration
            for batch in batches.take(queries, cores=ended.executors.cores):
                inside.note(batch, ended.executors)
            seen = [
                sampler.sample(JOB, at, job_id=APP, executors=ended.executors, queries=queries)
                for sampler in (inside, outside)
            ]
            assert comparable(seen[0]) == comparable(seen[1])
            compared += bool(seen[1].vertices)
    assert compared == 57
