"""Who may report what: nothing out of time, and nothing about jobs that are somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.algorithm.decide import decide
from headgate.errors import RefusedError
from headgate.intake.gate import Gate, Reserved
from headgate.intake.reading import Report
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import JobSample, VertexSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.options.spark import SparkOptions
from headgate.options.yarn import YarnOptions
from headgate.testing.builders import at, chain, evaluated, sample

GRAPH = chain({"orders": 2})
APP = JobKey("spark", "orders")
SAMPLE = sample(GRAPH, job=APP, tick=at(60))
NOW = SAMPLE.at
SERVICE = ServiceOptions(
    clusters=(ClusterOptions(name="flink", url="http://127.0.0.1:1"),),
    spark=(SparkOptions(name="streams", master="http://127.0.0.1:1", event_log_dir=Path("/events")),),
    yarn=(YarnOptions(name="yarn", urls=("http://127.0.0.1:1",)),),
    job_lists=("mine",),
)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        """Begin with the sample's instant."""
        self.now = NOW

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Stand at the sample's instant."""
    return Clock()


@pytest.fixture
def gate(clock: Clock) -> Gate:
    """Keep the service's own clusters free."""
    return Gate(Reserved.of(SERVICE), clock=clock)


def report(*samples: JobSample) -> Report:
    """Give a report of samples."""
    return Report(version=1, samples=samples)


def measured(at_: datetime, *, epoch: int = 0) -> JobSample:
    """Give a sample of which one vertex was measured at another instant."""
    return replace(SAMPLE, vertices={VertexId("orders"): VertexSample(measured_at=at_, epoch=epoch, values={})})


def test_what_is_true_now_may_enter(gate: Gate, clock: Clock) -> None:
    """Also of an application that runs for weeks, and of an agent that was cut off for hours."""
    gate.check(report(replace(SAMPLE, running_since=NOW - timedelta(days=100))))
    clock.now += timedelta(hours=5)
    gate.check(report(SAMPLE))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: replace(SAMPLE, at=datetime(1, 1, 1, tzinfo=UTC)),
        lambda: replace(SAMPLE, at=NOW + timedelta(minutes=6)),
        lambda: replace(SAMPLE, at=NOW - timedelta(hours=7)),
        lambda: replace(SAMPLE, at=NOW.replace(tzinfo=None)),
        lambda: replace(SAMPLE, running_since=datetime(1, 1, 1, tzinfo=UTC)),
        lambda: replace(SAMPLE, running_since=NOW.replace(tzinfo=None)),
        lambda: measured(NOW + timedelta(minutes=6)),
        lambda: measured(NOW.replace(tzinfo=None)),
        lambda: measured(NOW, epoch=2**63),
    ],
)
def test_what_cannot_be_is_refused(gate: Gate, wrong: Callable[[], JobSample]) -> None:
    """One such instant would hide the log from every reader."""
    with pytest.raises(RefusedError, match=r"told at|tells of"):
        gate.check(report(wrong()))


@pytest.mark.parametrize("cluster", ["flink", "streams", "yarn", "yarn:app-1", "mine", "", "a/b"])
def test_nobody_speaks_for_the_services_own_jobs(gate: Gate, cluster: str) -> None:
    """Be it in a sample, a decision or an event."""
    job = JobKey(cluster, "orders")
    told = replace(SAMPLE, job=job)
    decision = decide(told, evaluated(GRAPH, {"orders": 2.0}), AutoscalerOptions(), NOW, JobState())
    event = Event(at=NOW, type=EventType.NORMAL, reason=EventReason.SCALING, message="", key="k", subject=job)
    about = [Report(version=1, decisions=(decision,)), Report(version=1, events=(event,)), report(told)]
    about.append(Report(version=1, events=(replace(event, subject=cluster),)))
    for one in about:
        with pytest.raises(RefusedError, match=r"service's own|no job key"):
            gate.check(one)


def test_two_applications_of_one_name_do_not_mix(gate: Gate, clock: Clock) -> None:
    """The one that reports goes on; the other enters once the first is silent."""
    other = replace(SAMPLE, job_id="another")
    gate.check(report(SAMPLE))
    with pytest.raises(RefusedError, match="which still reports"):
        gate.check(report(other))
    gate.check(report(SAMPLE))
    clock.now += timedelta(seconds=31)
    gate.check(report(other))
