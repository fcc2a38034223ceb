"""What checkers are shown of a rescale, and what is tried before it is taken back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest
from tests.unit.control.ward import AGG, fall_ill, get_up, state, told

from headgate.control.deciding import Answer, PlainDecider
from headgate.control.rollback.step import RollbackStep
from headgate.errors import HeadgateError, UnreachableError
from headgate.model.events import EventReason
from headgate.model.measures import JobMeasure
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.rollback import Aftermath, JobFailure, JobFailures, Trial
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, context
from headgate.testing.scenario import Scenario


@dataclass
class Pharmacy:
    """Gives more memory, or says why not; and notes what was saved when it was asked."""

    ward: Scenario
    why_not: str | None = None
    fault: Exception | None = None
    asked: list[datetime | None] = field(default_factory=list)

    async def raise_for(self, ctx: JobContext, trial: Trial, evidence: str, _sample: JobSample | None, /) -> str | None:
        """Answer."""
        assert (ctx.key, trial.after) == (ORDERS, {AGG: 4})
        assert evidence.startswith("checker never-running: ")
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
    fault: HeadgateError | None = None
    asked: list[datetime] = field(default_factory=list)

    async def query_failures(self, _ctx: JobContext, since: datetime, /) -> JobFailures:
        """Answer."""
        self.asked.append(since)
        if self.fault:
            raise self.fault
        return JobFailures(failures=self.failures)


async def test_failures_are_asked_for_while_a_rescale_is_observed(ward: Scenario) -> None:
    """Those before it are not shown to checkers, and a history that does not answer holds nothing up."""
    files = Files(failures=(JobFailure(at=at(-5), text="old"), JobFailure(at=at(20), text="new")))
    ward.rollback = RollbackStep(failures=files)
    shown = Shown()
    ward.decider = shown
    await fall_ill(ward)
    await ward.tick(60)
    assert set(files.asked) == {shown.aftermaths[-1].trial.began_at}
    assert [failure.text for failure in shown.aftermaths[-1].failures] == ["new"]
    assert shown.aftermaths[-1].down_since == at(20)

    files.fault = UnreachableError("no answer")
    await ward.tick(90)
    assert shown.aftermaths[-1].failures == ()


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

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> NotReady | None:
        """Say so."""
        if ctx.aftermath is None or not ctx.aftermath.given_up:
            return None
        return NotReady(reason=Reason.JOB_UNRECOVERABLE, message="checker not-reached: it was given up")


@dataclass(frozen=True)
class Shown(PlainDecider):
    """Keeps what it is shown."""

    aftermaths: list[Aftermath] = field(default_factory=list)

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> NotReady | None:
        """Find nothing wrong."""
        self.aftermaths.extend([ctx.aftermath] if ctx.aftermath else [])
        return None
