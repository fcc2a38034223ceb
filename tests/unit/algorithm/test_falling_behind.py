"""When a scale-down after which a job does not keep up was too much, and when something else is to blame."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.algorithm.sickness import falls_behind
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.rollback import Aftermath, Evidence, JobFailure, Run, Trial
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import at

WORK, SINK = VertexId("work"), VertexId("sink")
OPTIONS = AutoscalerOptions(stabilization_interval=timedelta(seconds=10), catch_up_duration=timedelta(minutes=1))


def rescaled(old: int, new: int, *, seconds: float = 300, asked: float | None = 100.0) -> Aftermath:
    """Give a job whose `work` was rescaled a minute after the beginning, when it had so many records/s to do."""
    trial = Trial(
        decision_id="d1",
        began_at=at(0),
        before=Run(job_id="j1", fingerprint="f", parallelism={WORK: old, SINK: 1}),
        after={WORK: new},
        demand={} if asked is None else {WORK: asked},
        reached_at=at(60),
    )
    running = {WORK: new, SINK: 1}
    return Aftermath(trial=trial, now=at(seconds), status=JobStatus.RUNNING, running=running)


def evaluated(arriving: float | None = 100.0, *, backlog: bool = True) -> EvaluatedMetrics:
    """Give a job with so many records/s for `work` to do, and more waiting than there may be."""
    rates = {} if arriving is None else {ScalingMetric.TARGET_DATA_RATE: arriving}
    work = VertexMetrics(metrics=rates, needed_capacity=None, factor=None, outside=False)
    return EvaluatedMetrics(vertices={WORK: work}, backlog=backlog, coverage=1.0, samples=10)


def test_a_job_that_falls_behind_with_fewer_subtasks() -> None:
    """No more arrives than before, and it does not keep up: what it was thought to be able to do was wrong."""
    said = "behind 4 min after a scale-down that its load does not explain: 100 records/s arrive, 100 before it"
    assert falls_behind(rescaled(8, 2), OPTIONS, evaluated()) == Evidence(found=said)
    assert falls_behind(rescaled(8, 2), OPTIONS, evaluated(109.0)), "rates that were measured twice differ a little"


def test_a_job_that_keeps_up_is_left_alone() -> None:
    """So is one of which nobody knows."""
    assert falls_behind(rescaled(8, 2), OPTIONS, evaluated(backlog=False)) is None
    assert falls_behind(rescaled(8, 2), OPTIONS, None) is None


def test_a_job_with_more_to_do_than_before_is_left_to_grow_again() -> None:
    """A rollback would stop all scaling just when it is needed; what nobody knows may be more."""
    assert falls_behind(rescaled(8, 2), OPTIONS, evaluated(150.0)) is None
    assert falls_behind(rescaled(8, 2), OPTIONS, evaluated(None)) is None
    assert falls_behind(rescaled(8, 2, asked=None), OPTIONS, evaluated()) is None


def test_what_a_scale_down_leaves_waiting_has_its_time_to_be_worked_off() -> None:
    """The batch in which it came was a slow one."""
    assert falls_behind(rescaled(8, 2, seconds=129), OPTIONS, evaluated()) is None
    assert falls_behind(rescaled(8, 2, seconds=130), OPTIONS, evaluated())


def test_what_a_failure_leaves_waiting_is_not_the_parallelism_s_fault() -> None:
    """Something died, or is still missing."""
    lost = rescaled(8, 2)
    failure = JobFailure(at=at(200), text="java.lang.IllegalStateException: no")
    assert falls_behind(replace(lost, failures=(failure,)), OPTIONS, evaluated()) is None
    assert falls_behind(replace(lost, running={WORK: 1, SINK: 1}), OPTIONS, evaluated()) is None
    assert falls_behind(replace(lost, running={}), OPTIONS, evaluated()) is None


def test_a_growth_that_does_not_suffice_is_not_taken_back() -> None:
    """Less would help even less."""
    assert falls_behind(rescaled(2, 8, seconds=3600), OPTIONS, evaluated()) is None
