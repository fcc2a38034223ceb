"""What checkers are shown of a rescale, and what is tried before it is taken back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from math import nan
from typing import Any

import pytest
from tests.unit.control.ward import AGG, fall_ill, get_up, lie_down, state, told

from headgate.algorithm.history import restart_time
from headgate.control.deciding import Answer, PlainDecider
from headgate.control.outbox import Outbox
from headgate.control.rollback.step import RollbackStep
from headgate.errors import UnreachableError
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.reasons import Reason
from headgate.model.rollback import Aftermath, Evidence, JobFailure, JobFailures, Trial
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, context
from headgate.testing.scenario import Scenario

WINDOW = AutoscalerOptions().rollback.restart_window


@dataclass
class Pharmacy:
    """Gives more memory, or says why not; and notes what was saved when it was asked."""

    ward: Scenario
    why_not: str | None = None
    fault: Exception | None = None
    asked: list[datetime | None] = field(default_factory=list)

    async def raise_for(
        self, ctx: JobContext, trial: Trial, evidence: Evidence, _sample: JobSample | None, /
    ) -> str | None:
        """Answer."""
        assert (ctx.key, trial.after) == (ORDERS, {AGG: 4})
        assert str(evidence).startswith("checker never-running: ")
        known = state(self.ward).trial
        self.asked.append(known.memory_raised_at if known else None)
        if self.fault:
            raise self.fault
        return self.why_not


def with_tuning(ward: Scenario, **answer: Any) -> Pharmacy:
    """Let memory be tuned, and somebody raise it."""
    pharmacy = Pharmacy(ward, **answer)
    ward.rollback = RollbackStep(memory=pharmacy)
    ward.engine.contexts[ORDERS] = context(options=AutoscalerOptions(memory_tuning_enabled=True))
    return pharmacy


async def test_more_memory_is_tried_first_where_memory_is_tuned(ward: Scenario) -> None:
    """That it is asked for is saved before; only a job that is still sick then goes back, and it is said."""
    pharmacy = with_tuning(ward)
    await fall_ill(ward)

    decision = (await ward.tick(60))["orders"]
    assert (decision.reason, pharmacy.asked) == (Reason.JOB_UNRECOVERABLE, [at(60)])
    assert len(told(ward, EventReason.MEMORY_RAISED)) == 1
    assert len(ward.engine.requests) == 1

    await ward.tick(90)
    assert pharmacy.asked == [at(60)]
    assert ward.engine.requests[1:] == [{"agg": 1}]
    assert "more memory since 00:01:00 UTC did not help" in told(ward, EventReason.ROLLBACK)[0]


async def test_a_job_that_more_memory_has_cured_keeps_its_parallelism(ward: Scenario) -> None:
    """The rescale is observed anew, and then it is good."""
    with_tuning(ward)
    await fall_ill(ward)
    await ward.tick(60)
    get_up(ward)
    await ward.tick(90)
    await ward.tick(90 + 15 * 60)

    assert state(ward).trial is None
    assert len(ward.engine.requests) == 1
    assert EventReason.ROLLBACK not in ward.events.reasons


@pytest.mark.parametrize("answer", [{"why_not": "no provider"}, {"fault": RuntimeError("no provider")}])
async def test_without_more_memory_the_job_goes_back_at_once(ward: Scenario, answer: dict[str, Any]) -> None:
    """The event says why it could not be had."""
    with_tuning(ward, **answer)
    await fall_ill(ward)
    await ward.tick(60)

    assert ward.engine.requests[1:] == [{"agg": 1}]
    assert "its memory was not raised: no provider" in told(ward, EventReason.ROLLBACK)[0]


@dataclass
class Files:
    """Remembers the failures of a job, or does not answer."""

    failures: tuple[JobFailure, ...] = ()
    fault: Exception | None = None
    asked: list[datetime] = field(default_factory=list)

    async def query_failures(self, _ctx: JobContext, since: datetime, /) -> JobFailures:
        """Answer."""
        self.asked.append(since)
        if self.fault:
            raise self.fault
        return JobFailures(failures=self.failures)


class Overtaken(Outbox):
    """Saves still, and finds before an effect that the job is another process's."""

    async def may_act(self, _job: JobKey) -> bool:
        """Say so."""
        return False


async def test_no_memory_is_asked_for_a_job_that_is_another_process_by_now(ward: Scenario) -> None:
    """Its TaskManagers are restarted by whoever looks after it."""
    pharmacy = with_tuning(ward)
    await fall_ill(ward)
    await ward.observer.observe(at(60))
    outbox = Overtaken(store=ward.store, events=ward.events)
    await replace(ward.cycle(), outbox=outbox).run(ward.observer.latest, at(60))

    trial = state(ward).trial
    assert trial
    assert (trial.memory_raised_at, pharmacy.asked) == (at(60), [])


def failing(*seconds: float) -> tuple[JobFailure, ...]:
    """Give a failure at each of these seconds."""
    return tuple(JobFailure(at=at(second), text="java.io.IOException") for second in seconds)


async def test_failures_are_asked_for_while_a_rescale_is_observed(ward: Scenario) -> None:
    """With those shortly before it, apart from them; one that does not answer holds nothing up, and is told of."""
    files = Files(failures=failing(-601, -5, 20))
    ward.rollback = RollbackStep(failures=files)
    shown = Shown()
    ward.decider = shown
    await fall_ill(ward)
    await ward.tick(60)
    assert set(files.asked) == {shown.aftermaths[-1].trial.began_at - WINDOW}
    assert shown.aftermaths[-1].failures == failing(20)
    assert shown.aftermaths[-1].failures_before == failing(-5)

    for seconds, fault in ((90, UnreachableError("no answer")), (120, KeyError("exceptionHistory"))):
        files.fault = fault
        await ward.tick(seconds)
        assert (shown.aftermaths[-1].now, shown.aftermaths[-1].failures) == (at(seconds), ())
    assert told(ward, EventReason.AUTOSCALER_ERROR) == [
        "the job's failures are not known, and its last rescale is judged without them: no answer",
        "the job's failures are not known, and its last rescale is judged without them: 'exceptionHistory'",
    ]


async def test_failures_that_nobody_tells_while_a_rescale_is_under_way_are_no_error(ward: Scenario) -> None:
    """The job stands still because of us; what is still silent afterwards is told of."""
    ward.rollback = RollbackStep(failures=Files(fault=UnreachableError("no answer")))
    ward.engine.obeys = False
    await ward.tick(0)
    ward.factors = {}
    for seconds in (10, 20):
        await ward.tick(seconds)
    running = ward.engine.jobs[ORDERS]
    ward.engine.jobs[ORDERS] = replace(running, topology=running.topology.with_parallelism({AGG: 4}))
    await ward.tick(30)
    under_way = told(ward, EventReason.AUTOSCALER_ERROR)
    await ward.tick(40)

    assert under_way == []
    assert len(told(ward, EventReason.AUTOSCALER_ERROR)) == 1


async def test_failures_of_an_unproved_rescale_are_not_those_before_the_next_one(ward: Scenario) -> None:
    """The job was last well before the first of them, and that is what it is held against."""
    shown = Shown()
    ward.rollback, ward.decider = RollbackStep(failures=Files(failures=failing(-5, 50, 90))), shown
    await ward.tick(0)
    ward.factors = {"agg": 2.0}
    await ward.tick(60)
    ward.factors = {}
    await ward.tick(100)

    after = shown.aftermaths[-1]
    assert ward.engine.requests == [{"agg": 4}, {"agg": 8}]
    assert (after.failures, after.failures_before) == (failing(90), failing(-5))


@pytest.mark.parametrize(
    ("failed", "down"),
    [((), 400), ((20,), 400), ((250,), 360), ((380,), 380)],
    ids=["never", "long-ago", "before-it-was-seen-well", "since"],
)
async def test_a_job_is_down_since_it_failed_if_it_did_not_get_over_that(
    ward: Scenario, failed: tuple[float, ...], down: float
) -> None:
    """It was seen to run after an earlier failure: then nobody knows when it went down but not before that."""
    shown = Shown()
    ward.rollback, ward.decider = RollbackStep(failures=Files(failures=failing(*failed))), shown
    await ward.tick(0)
    ward.factors = {}
    for seconds in (30, 360):
        ward.engine.jobs[ORDERS] = replace(ward.engine.jobs[ORDERS], at=at(seconds))
        await ward.tick(seconds)
    lie_down(ward)
    await ward.tick(400)
    assert shown.aftermaths[-1].down_since == at(down)


async def test_checkers_are_shown_how_long_the_job_is_known_to_restart(ward: Scenario) -> None:
    """By what was measured, where that is tracked."""
    shown = Shown()
    ward.decider = shown
    tracked = AutoscalerOptions(restart_time_tracking_enabled=True)
    ward.engine.contexts[ORDERS] = context(options=tracked)
    await fall_ill(ward)
    await ward.tick(60)
    assert shown.aftermaths[-1].restart_time == restart_time(tracked, state(ward).history)
    assert shown.aftermaths[-1].restart_time != tracked.restart_time


async def test_a_wish_that_was_never_granted_is_taken_back_without_a_bound(ward: Scenario) -> None:
    """The job ran on as before: it goes without a pause until the cluster's restart, and the wish may come again."""
    ward.decider = Impatient()
    ward.engine.obeys = False
    for seconds in range(0, 1_200, 30):
        await ward.tick(seconds)

    rollback = state(ward).rollback
    assert told(ward, EventReason.ROLLBACK)
    assert rollback is not None
    assert rollback.paused_until is not None
    assert rollback.paused_until - rollback.at == AutoscalerOptions().rejection_expiry
    assert state(ward).bounds == ()


async def test_a_value_that_is_unknown_once_does_not_spoil_the_mean(ward: Scenario) -> None:
    """It is left out."""
    shown = Shown()
    ward.decider = shown
    for seconds, heap in ((0, 0.5), (30, 0.8), (60, nan), (90, 1.0), (120, 0.9)):
        seen = replace(ward.engine.jobs[ORDERS], at=at(seconds), values={JobMeasure.HEAP_MAX_USAGE_RATIO: heap})
        ward.engine.jobs[ORDERS] = seen
        await ward.tick(seconds)
        ward.factors = {}

    assert shown.aftermaths[-2].values == {}
    assert shown.aftermaths[-1].values == {JobMeasure.HEAP_MAX_USAGE_RATIO: pytest.approx(0.9)}


async def test_checkers_are_shown_means_since_the_rescale_was_reached(ward: Scenario) -> None:
    """And the values before it beside them; one or two samples are none, as garbage may be about to be collected."""
    shown = Shown()
    ward.decider = shown
    for seconds, heap in ((0, 0.5), (30, 0.8), (60, 1.0), (90, 0.9)):
        seen = replace(ward.engine.jobs[ORDERS], at=at(seconds), values={JobMeasure.HEAP_MAX_USAGE_RATIO: heap})
        ward.engine.jobs[ORDERS] = seen
        await ward.tick(seconds)
        ward.factors = {}

    assert [after.values for after in shown.aftermaths[:-1]] == [{}, {}]
    after = shown.aftermaths[-1]
    assert after.values == {JobMeasure.HEAP_MAX_USAGE_RATIO: pytest.approx(0.9)}
    assert after.trial.values == {JobMeasure.HEAP_MAX_USAGE_RATIO: 0.5}
    assert after.trial.reached_at == at(30)


@dataclass(frozen=True)
class Impatient(PlainDecider):
    """Condemns a rescale that nobody waits for any more."""

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        if ctx.aftermath is None or not ctx.aftermath.given_up:
            return None
        return Evidence(checker="not-reached", found="it was given up")


@dataclass(frozen=True)
class Shown(PlainDecider):
    """Keeps what it is shown."""

    aftermaths: list[Aftermath] = field(default_factory=list)

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Find nothing wrong."""
        self.aftermaths.extend([ctx.aftermath] if ctx.aftermath else [])
        return None
