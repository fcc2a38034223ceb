"""What the observer keeps of jobs and clusters that come, go, fail and hang."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.control.observation import Observation, Observer, candidate
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus, Measure
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.model.state import UNSEEN, JobState, ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import Candidate
from headgate.testing.builders import ORDERS, at, chain, context, evaluated, sample
from headgate.testing.scenario import Scenario


async def test_samples_of_one_tick_are_kept_together(world: Scenario) -> None:
    """The log receives what the collector gave."""
    await world.observer.observe(at(0))

    assert [kept.job for kept in world.log.samples] == [ORDERS]


async def test_a_counter_that_fell_begins_an_epoch_though_its_collector_does_not_say_so(world: Scenario) -> None:
    """The log tells of the reset, so that nothing which reads it takes the fall for less input."""
    for second, read in enumerate((1000.0, 2000.0, 500.0, 1500.0)):
        seen = VertexSample(measured_at=at(second), epoch=7, values={Measure.NUM_RECORDS_IN: read})
        told = replace(world.engine.jobs[ORDERS], at=at(second), vertices={VertexId("source"): seen})
        world.engine.jobs[ORDERS] = told
        await world.observer.observe(at(second))

    assert [each.vertices[VertexId("source")].epoch for each in world.log.samples] == [7, 7, 8, 8]
    assert world.observer.latest[ORDERS].sample == world.log.samples[-1]


async def test_a_job_that_is_not_running_is_observed_without_a_sample(world: Scenario) -> None:
    """Its state is the answer to why nothing is done."""
    world.engine.contexts[ORDERS] = context(status=JobStatus.RESTARTING)

    await world.observer.observe(at(0))

    problem = world.observer.latest[ORDERS].problem
    assert problem is not None
    assert problem.reason is Reason.JOB_NOT_RUNNING


async def test_a_job_that_vanishes_between_list_and_sample_is_gone_with_one_event(world: Scenario) -> None:
    """Not found in the middle of a tick is the same as no longer listed."""
    await world.observer.observe(at(0))
    world.engine.faults[ORDERS] = NotFoundError("gone")

    await world.observer.observe(at(1))
    await world.observer.observe(at(2))

    assert ORDERS not in world.observer.latest
    assert world.events.reasons == [EventReason.JOB_APPEARED, EventReason.JOB_VANISHED]
    assert "forget prod/orders" in world.engine.diary


async def test_a_finished_job_is_said_to_be_finished(world: Scenario) -> None:
    """An ended job stays listed by its cluster, and is no longer looked after."""
    await world.observer.observe(at(0))
    world.engine.contexts[ORDERS] = context(status=JobStatus.FINISHED)

    await world.observer.observe(at(1))

    assert not world.observer.latest
    assert "FINISHED" in world.events.told[-1].message


async def test_a_cluster_that_is_away_keeps_its_jobs(world: Scenario) -> None:
    """Not seen is not gone: one event when it goes, one when it is back, none in between."""
    await world.observer.observe(at(0))
    world.engine.failures["prod"] = "connection refused"
    await world.observer.observe(at(1))
    await world.observer.observe(at(2))

    problem = world.observer.latest[ORDERS].problem
    assert problem is not None
    assert problem.reason is Reason.JOB_UNREACHABLE

    world.engine.failures.clear()
    await world.observer.observe(at(3))
    assert world.observer.latest[ORDERS].problem is None
    assert world.events.reasons == [
        EventReason.JOB_APPEARED,
        EventReason.CLUSTER_UNREACHABLE,
        EventReason.CLUSTER_REACHABLE,
    ]


async def test_one_failing_job_does_not_stop_the_others(world: Scenario) -> None:
    """The healthy job's sample is kept, the failing one's problem is remembered."""
    ill = JobKey("prod", "ill")
    world.engine.add(context(ill), sample(chain({"source": 1}), job=ill))
    world.engine.faults[ill] = UnreachableError("500")

    await world.observer.observe(at(0))

    assert world.observer.latest[ORDERS].problem is None
    assert world.observer.latest[ill].problem is not None
    assert [kept.job for kept in world.log.samples] == [ORDERS]


@pytest.mark.parametrize("fault", [UnreachableError("500"), TimeoutError(), RuntimeError("a fault of ours")])
async def test_a_job_that_does_not_answer_while_it_is_rescaled_is_no_error(world: Scenario, fault: Exception) -> None:
    """It stands still because of us, and comes back; what else fails is told, and so is its silence afterwards."""
    world.engine.obeys = False
    cycle = world.cycle()
    world.observer = Observer(
        fetcher=world.engine,
        collector=world.engine,
        sink=world.log,
        events=world.events,
        time_limit=timedelta(seconds=5),
        is_changing=cycle.outbox.is_changing,
    )
    await world.observer.observe(at(0))
    await cycle.run(world.observer.latest, at(0))
    world.factors = {}
    world.engine.faults[ORDERS] = fault  # type: ignore[assignment]
    await world.observer.observe(at(10))
    during = world.events.reasons.count(EventReason.AUTOSCALER_ERROR)

    del world.engine.faults[ORDERS]
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 4}), running_since=at(12))
    await world.observer.observe(at(20))
    await cycle.run(world.observer.latest, at(20))
    world.engine.faults[ORDERS] = UnreachableError("HTTP 500")
    await world.observer.observe(at(30))

    assert during == int(isinstance(fault, RuntimeError))
    assert world.events.reasons.count(EventReason.AUTOSCALER_ERROR) == during + 1
    assert EventReason.RESCALE_REACHED in world.events.reasons


@pytest.mark.parametrize("fault", [UnreachableError("disk full"), OSError("stale handle"), RuntimeError()])
async def test_a_log_that_cannot_be_written_is_an_event_and_no_more(world: Scenario, fault: Exception) -> None:
    """Watching goes on, whatever fails; the next tick may be kept again."""
    world.log.fault = fault

    await world.observer.observe(at(0))

    assert world.events.reasons[-1] is EventReason.AUTOSCALER_ERROR
    assert world.observer.latest[ORDERS].sample is not None


async def test_samples_of_the_job_that_had_the_name_before_do_not_count(world: Scenario) -> None:
    """A key that passes to another running job begins its window there, however long that job has run."""
    await world.observer.observe(at(0))
    world.engine.contexts[ORDERS] = context(job_id="j2")
    await world.observer.observe(at(1_000))
    await world.observer.observe(at(1_010))

    begun = candidate(world.observer.latest[ORDERS], UNSEEN, at(1_010))

    assert begun is not None
    assert begun.window_from == at(1_000)


@pytest.mark.parametrize(
    ("running_since_s", "begins_s"),
    [(1_015, 1_015), (1_010, 1_010.001), (1_005, 1_010.001), (995, 1_010.001), (990, 990)],
)
async def test_no_sample_of_an_earlier_run_counts(world: Scenario, running_since_s: float, begins_s: float) -> None:
    """
    A tick of the run before may lie in the new one by the engine's clock: the window begins after it all the same.

    One that began before the first sample that is known is the run that was seen all along.
    """
    options = AutoscalerOptions(stabilization_interval=timedelta())
    for tick_s, began_s in [(990, 0), (1_000, 0), (1_010, 0), (1_020, running_since_s), (1_030, running_since_s)]:
        world.engine.add(context(options=options), sample(chain({"v": 1}), tick=at(tick_s), running_since=at(began_s)))
        await world.observer.observe(at(tick_s))

    known = candidate(world.observer.latest[ORDERS], UNSEEN, at(1_030))

    assert known is not None
    assert known.window_from == max(at(begins_s), at(1_030) - options.metrics_window)


async def test_a_resubmitted_job_does_not_inherit_the_old_sample(world: Scenario) -> None:
    """While the new submission starts, nothing of the old one counts as its latest sample."""
    await world.observer.observe(at(0))
    world.engine.contexts[ORDERS] = replace(context(job_id="j2"), status=JobStatus.STARTING)

    await world.observer.observe(at(1))

    assert world.observer.latest[ORDERS].sample is None


@pytest.mark.parametrize(("running_since_s", "begins_s"), [(0, 700), (580, 700), (581, 701), (800, 920)])
async def test_a_window_is_cut_where_stabilization_ended(
    world: Scenario, running_since_s: float, begins_s: float
) -> None:
    """What a job did while it settled counts for nothing, however much of the window lies there."""
    options = AutoscalerOptions(stabilization_interval=timedelta(minutes=2), metrics_window=timedelta(minutes=5))
    world.engine.add(context(options=options), sample(chain({"source": 1}), running_since=at(running_since_s)))
    begins: list[datetime] = []

    def note(asked: Candidate) -> EvaluatedMetrics:
        begins.append(asked.window_from)
        return evaluated(asked.sample.topology, {})

    world.evaluator.answer = note
    await world.tick(1_000)

    assert begins == [at(begins_s)]


@pytest.mark.parametrize(("tracking", "restart_s"), [(True, 42), (False, 300)])
def test_a_job_is_evaluated_with_the_restart_it_is_known_to_take(*, tracking: bool, restart_s: int) -> None:
    """The longest that was measured stands in for the option where tracking is on; all else stays."""
    options = AutoscalerOptions(restart_time_tracking_enabled=tracking)
    seen = Observation(ctx=context(options=options), sample=sample(chain({"source": 1})))
    records = (
        ScalingRecord(decision_id=f"d{took}", at=at(0), before={}, after={}, restart=timedelta(seconds=took))
        for took in (10, 42)
    )

    known = candidate(seen, JobState(history=tuple(records)), at(1_000))

    assert known is not None
    assert known.options == replace(options, restart_time=timedelta(seconds=restart_s))


V = VertexId("v")
GROWN_IN_VAIN = ScalingRecord(
    decision_id="d",
    at=at(0),
    before={V: 2},
    after={V: 4},
    metrics={V: {ScalingMetric.TRUE_PROCESSING_RATE: 400.0, ScalingMetric.EXPECTED_PROCESSING_RATE: 800.0}},
)


def test_an_old_restart_is_not_reckoned_with() -> None:
    """Of two measured restarts the older one is past history.max.age: only the newest always stays."""
    history = (
        ScalingRecord(decision_id="d1", at=at(0), before={V: 1}, after={V: 2}, restart=timedelta(seconds=800)),
        ScalingRecord(decision_id="d2", at=at(10), before={V: 2}, after={V: 3}, restart=timedelta(seconds=20)),
    )
    options = AutoscalerOptions(restart_time_tracking_enabled=True)
    now = at(30 * 24 * 3_600)
    seen = Observation(ctx=context(options=options), sample=sample(chain({"v": 3}), tick=now))

    known = candidate(seen, JobState(history=history), now)

    assert known is not None
    assert known.options.restart_time == timedelta(seconds=20)


def test_a_sink_is_not_called_saturated_for_ever() -> None:
    """A growth that is older than history.max.age says nothing of today, though no rescale has come since."""
    now = at(30 * 24 * 3_600)
    seen = Observation(ctx=context(), sample=sample(chain({"v": 4}), tick=now))

    known = candidate(seen, JobState(history=(GROWN_IN_VAIN,)), now)

    assert known is not None
    assert known.growths == {}


async def test_a_sample_is_kept_before_it_is_known(world: Scenario) -> None:
    """A cycle that begins in between goes by no sample that its evaluation would not find."""
    known: list[bool] = []

    class Noting(list[JobSample]):
        def extend(self, samples: Iterable[JobSample], /) -> None:
            known.append(ORDERS in world.observer.latest)
            super().extend(samples)

    world.log.samples = Noting()
    await world.observer.observe(at(0))

    assert known == [False]
    assert ORDERS in world.observer.latest
