"""A rescale that makes its job sick is taken back: by whom it was made, where the job goes, and what holds then."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from headgate.control.deciding import Answer, PlainDecider
from headgate.control.rollback.step import RollbackStep
from headgate.errors import HeadgateError, RefusedError, UnreachableError
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.rollback import Aftermath, JobFailure, JobFailures, Side, Trial
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackOptions, RollbackTarget
from headgate.options.service import Mode
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.scenario import Scenario

AGG = VertexId("agg")
BROKEN = JobKey("prod", "broken")


@dataclass(frozen=True)
class Doctor(PlainDecider):
    """Condemns a job whose rescale is under observation and that is down, or runs at what is too many."""

    too_many: int | None = None

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> NotReady | None:
        """Say so."""
        aftermath = ctx.aftermath
        if aftermath is None or not self._is_sick(aftermath):
            return None
        return NotReady(reason=Reason.JOB_UNRECOVERABLE, message="checker never-running: it does not run")

    def _is_sick(self, aftermath: Aftermath) -> bool:
        heavy = self.too_many is not None and aftermath.running.get(AGG, 0) >= self.too_many
        return heavy or aftermath.status is not JobStatus.RUNNING


def options(**rollback: object) -> AutoscalerOptions:
    """Return options of a job that is decided for at once."""
    chosen = replace(RollbackOptions(), **rollback)  # type: ignore[arg-type]
    return AutoscalerOptions(rollback=chosen)


@pytest.fixture
def ward(world: Scenario) -> Scenario:
    """One running job, source -> agg, whose agg needs four times its capacity, and a doctor."""
    world.decider = Doctor()
    return world


def lie_down(ward: Scenario, status: JobStatus = JobStatus.RESTARTING, **changes: object) -> None:
    """Let the job fail over."""
    ward.engine.contexts[ORDERS] = replace(ward.engine.contexts[ORDERS], status=status, **changes)  # type: ignore[arg-type]


def get_up(ward: Scenario) -> None:
    """Let the job run."""
    lie_down(ward, JobStatus.RUNNING)


def state(ward: Scenario) -> JobState:
    """Return what is remembered of the job."""
    return ward.store.load(ORDERS).state


def told(ward: Scenario, reason: EventReason) -> list[str]:
    """Return the messages of one kind of event."""
    return [event.message for event in ward.events.told if event.reason is reason]


async def fall_ill(ward: Scenario) -> None:
    """Let the job be rescaled from 1 to 4, and then fail over."""
    await ward.tick(0)
    ward.factors = {}
    await ward.tick(30)
    lie_down(ward)


async def test_a_job_that_its_rescale_made_sick_goes_back(ward: Scenario) -> None:
    """It does not run, and is asked to have what it had: one event tells of it with the evidence."""
    await fall_ill(ward)

    decision = (await ward.tick(60))["orders"]

    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert decision.reason is Reason.ROLLED_BACK
    (message,) = told(ward, EventReason.ROLLBACK)
    assert "agg 1 -> 4" in message
    assert "checker never-running: it does not run" in message
    assert "goes back to agg 1" in message


async def test_a_rollback_is_a_rescale_like_any_other_in_the_history(ward: Scenario) -> None:
    """It was made, it takes back the one before, and it is seen to hold once the job runs."""
    await fall_ill(ward)
    await ward.tick(60)
    get_up(ward)
    await ward.tick(90)

    grown, back = state(ward).history
    assert (dict(grown.after), dict(back.after)) == ({"agg": 4}, {"agg": 1})
    assert back.reached_at == at(90)
    assert state(ward).intent is None


async def test_a_headgate_that_never_saw_the_job_run_takes_it_back_all_the_same(ward: Scenario) -> None:
    """It was killed between rescale and verdict: only the store remembers, and there is no sample at all."""
    await ward.tick(0)
    lie_down(ward)
    later = Scenario(store=ward.store, engine=ward.engine, decider=Doctor())

    await later.tick(3_600)

    assert later.log.samples == []
    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]


async def test_a_rescale_whose_answer_was_lost_is_taken_back_too(ward: Scenario) -> None:
    """It may be what made the job sick; the rollback takes the place of its open intent."""
    ward.engine.realize_faults = [UnreachableError("no answer")]
    await ward.tick(0)
    sick = state(ward).intent
    ward.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 4}))
    lie_down(ward)

    await ward.tick(30)

    back = state(ward).intent
    assert sick
    assert back
    assert back.takes_back == sick.decision_id
    assert ward.engine.requests == [{"agg": 1}]


async def test_a_rollback_that_had_no_answer_is_asked_for_again(ward: Scenario) -> None:
    """It is the same intent, told of once, and asked for while the job does not run."""
    await fall_ill(ward)
    ward.engine.realize_faults = [UnreachableError("no answer")]

    await ward.tick(60)
    await ward.tick(90)

    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert len(told(ward, EventReason.ROLLBACK)) == 1


async def test_a_parallelism_that_made_the_job_sick_stays_a_bound_until_it_expires(ward: Scenario) -> None:
    """A vertex that had grown stays below; after a day it may try again."""
    await fall_ill(ward)
    await ward.tick(60)

    (bound,) = state(ward).bounds
    assert (bound.vertex, bound.parallelism, bound.side) == ("agg", 4, Side.BELOW)
    assert bound.expires_at == at(60) + timedelta(hours=24)

    get_up(ward)
    await ward.tick(60 + 24 * 3_600)
    assert state(ward).bounds == ()


async def test_a_vertex_that_shrank_too_far_stays_above(ward: Scenario) -> None:
    """The bound is on the other side."""
    ward.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 4}))
    ward.factors = {"agg": 0.5}
    ward.engine.contexts[ORDERS] = context(options=AutoscalerOptions(scale_down_interval=timedelta()))
    await fall_ill(ward)
    await ward.tick(60)

    (bound,) = state(ward).bounds
    assert (bound.parallelism, bound.side) == (2, Side.ABOVE)


async def test_nothing_is_scaled_until_the_cluster_is_restarted(ward: Scenario) -> None:
    """Without an own time the pause lasts until the engine has the job anew, however long that takes."""
    lie_down(ward, JobStatus.RUNNING, started_at=at(-60))
    await fall_ill(ward)
    await ward.tick(60)
    get_up(ward)
    ward.factors = {"agg": 2.0}

    assert (await ward.tick(90))["orders"].reason is Reason.ROLLED_BACK
    decision = (await ward.tick(90_000))["orders"]
    assert decision.reason is Reason.ROLLED_BACK
    assert "until the cluster is restarted" in decision.message

    lie_down(ward, JobStatus.RUNNING, started_at=at(90_010))
    assert (await ward.tick(90_030))["orders"].acts
    assert state(ward).rollback is None


async def test_a_job_that_was_submitted_anew_is_scaled_again(ward: Scenario) -> None:
    """Another job id ends the pause as well."""
    await fall_ill(ward)
    await ward.tick(60)
    get_up(ward)
    await ward.tick(90)
    ward.engine.add(context(job_id="j2"), sample(chain({"source": 1, "agg": 1}), job_id="j2"))
    ward.factors = {"agg": 2.0}

    assert (await ward.tick(120))["orders"].acts


async def test_a_pause_may_have_a_time(ward: Scenario) -> None:
    """When it is over the job is scaled, on its side of the bound."""
    ward.engine.contexts[ORDERS] = context(options=options(pause=timedelta(hours=1)))
    await fall_ill(ward)
    await ward.tick(60)
    get_up(ward)
    ward.factors = {"agg": 2.0}

    assert (await ward.tick(3_600))["orders"].reason is Reason.ROLLED_BACK
    assert (await ward.tick(3_661))["orders"].acts


async def test_a_job_that_is_still_sick_after_its_rollback_is_left_alone(ward: Scenario) -> None:
    """Never a loop: one event says so, and nothing more is asked of the engine until it is well."""
    await fall_ill(ward)

    for seconds in range(60, 7_200, 300):
        await ward.tick(seconds)

    assert told(ward, EventReason.ROLLBACK_IN_VAIN) == [
        "the job is sick also after its rollback to agg 1, and is left alone: checker never-running: it does not run"
    ]
    assert {request[AGG] for request in ward.engine.requests[1:]} == {1}
    assert len(told(ward, EventReason.ROLLBACK)) == 1


async def test_a_rescale_that_was_observed_long_enough_is_good(ward: Scenario) -> None:
    """What makes the job sick later is not its rescale; where it goes back to the next time is what ran well."""
    await ward.tick(0)
    ward.factors = {}
    await ward.tick(30)
    await ward.tick(30 + 15 * 60)
    assert state(ward).trial is None

    lie_down(ward)
    await ward.tick(1_000)
    get_up(ward)
    ward.factors = {"agg": 2.0}
    await ward.tick(1_030)
    trial = state(ward).trial
    assert trial
    assert dict(trial.before.parallelism) == {"source": 1, "agg": 4}
    assert EventReason.ROLLBACK not in ward.events.reasons


async def test_a_second_rescale_before_the_first_has_proved_good_goes_back_before_both(ward: Scenario) -> None:
    """Nobody knows whether the job would have stayed well in between."""
    await ward.tick(0)
    ward.factors = {"agg": 2.0}
    await ward.tick(30)
    lie_down(ward)
    await ward.tick(60)

    assert ward.engine.requests == [{"agg": 4}, {"agg": 8}, {"agg": 1}]


async def test_the_first_parallelism_can_be_the_target(ward: Scenario) -> None:
    """Not what ran last, but what the user once submitted."""
    ward.engine.contexts[ORDERS] = context(options=options(target=RollbackTarget.FIRST))
    await ward.tick(0)
    ward.factors = {}
    await ward.tick(30)
    await ward.tick(30 + 15 * 60)
    ward.factors = {"agg": 2.0}
    await ward.tick(1_000)
    lie_down(ward)
    await ward.tick(1_030)

    assert ward.engine.requests == [{"agg": 4}, {"agg": 8}, {"agg": 1}]
    assert [bound.parallelism for bound in state(ward).bounds] == [8]


async def test_a_job_that_was_submitted_anew_is_not_touched(ward: Scenario) -> None:
    """The user's own bad deployment is the user's: it is said once why nothing is done."""
    await ward.tick(0)
    ward.factors = {}
    ward.engine.add(
        context(job_id="j2", status=JobStatus.RESTARTING), sample(chain({"source": 1, "agg": 4}), job_id="j2")
    )

    for seconds in (30, 60, 90):
        await ward.tick(seconds)

    (message,) = told(ward, EventReason.ROLLBACK_WITHHELD)
    assert "the job was submitted anew since then" in message
    assert len(ward.engine.requests) == 1


async def test_a_job_whose_job_manager_was_restarted_is_not_touched(ward: Scenario) -> None:
    """Whoever restarted it may have changed anything."""
    lie_down(ward, JobStatus.RUNNING, started_at=at(-60))
    await fall_ill(ward)
    lie_down(ward, started_at=at(40))

    await ward.tick(60)

    assert "its JobManager was restarted since then" in told(ward, EventReason.ROLLBACK_WITHHELD)[0]
    assert len(ward.engine.requests) == 1


async def test_a_rescale_by_the_user_is_not_taken_back(ward: Scenario) -> None:
    """The job runs at what nobody here has asked for, so whatever is wrong with it is not ours."""
    ward.decider = Doctor(too_many=4)
    await ward.tick(0)
    ward.factors = {}
    ward.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 6}))

    for seconds in (30, 60, 90):
        await ward.tick(seconds)

    assert len(ward.engine.requests) == 1
    assert EventReason.ROLLBACK not in ward.events.reasons


async def test_a_change_of_the_graph_is_not_ours(ward: Scenario) -> None:
    """A job of the same id with other vertices is another program."""
    ward.decider = Doctor(too_many=4)
    await ward.tick(0)
    ward.factors = {}
    ward.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 4, "sink": 1}))

    await ward.tick(30)

    assert len(ward.engine.requests) == 1


async def test_a_job_that_runs_but_is_sick_goes_back(ward: Scenario) -> None:
    """Short of memory, it may well be running."""
    ward.decider = Doctor(too_many=4)
    await ward.tick(0)
    ward.factors = {}

    await ward.tick(30)
    await ward.tick(60)

    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert state(ward).intent is None
    assert EventReason.RESCALE_REACHED in ward.events.reasons


@pytest.mark.parametrize("how", ["option", "mode", "excluded"])
async def test_where_nothing_may_be_changed_it_is_only_told(ward: Scenario, how: str) -> None:
    """One event says that the job is sick since its rescale, and why it stays so."""
    await fall_ill(ward)
    if how == "option":
        lie_down(ward, options=options(enabled=False))
    elif how == "excluded":
        lie_down(ward, options=AutoscalerOptions(excluded_periods=("00:00-23:59",)))
    else:
        ward.mode = Mode.ADVISE

    for seconds in (60, 90, 120):
        await ward.tick(seconds)

    assert len(told(ward, EventReason.ROLLBACK_WITHHELD)) == 1
    assert len(ward.engine.requests) == 1


async def test_what_was_only_told_is_done_once_it_may_be(ward: Scenario) -> None:
    """The operator lets Headgate act: the job is still sick, and still by the same rescale."""
    await fall_ill(ward)
    ward.mode = Mode.ADVISE
    await ward.tick(60)
    ward.mode = Mode.ACT
    await ward.tick(90)

    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]


async def test_a_cluster_that_does_not_answer_says_nothing_about_the_job(ward: Scenario) -> None:
    """Not seen is not sick."""
    await ward.tick(0)
    ward.engine.failures = {"prod": "connection refused"}
    ward.engine.contexts[ORDERS] = replace(ward.engine.contexts[ORDERS], status=JobStatus.RESTARTING)

    await ward.tick(600)

    assert len(ward.engine.requests) == 1


async def test_a_rollback_that_the_engine_refuses_is_told_and_not_tried_again(ward: Scenario) -> None:
    """Nothing more can be done, and nothing is scaled."""
    await fall_ill(ward)
    ward.engine.realize_faults = [RefusedError("no such vertex")]

    for seconds in (60, 90, 120):
        await ward.tick(seconds)

    assert len(ward.engine.requests) == 1
    assert "the engine refused: no such vertex" in told(ward, EventReason.RESCALE_NOT_REACHED)[0]
    assert len(told(ward, EventReason.ROLLBACK_IN_VAIN)) == 1


async def test_of_a_job_that_has_failed_for_good_it_is_told_that_its_rescale_may_be_why(ward: Scenario) -> None:
    """In place nothing can be taken back of what has ended; other jobs that have failed are nobody's business here."""
    await ward.tick(0)
    ward.engine.add(context(BROKEN, status=JobStatus.FAILED), sample(chain({"agg": 1}), job=BROKEN))
    lie_down(ward, JobStatus.FAILED)

    for seconds in (30, 60):
        assert "broken" not in await ward.tick(seconds)

    (message,) = told(ward, EventReason.ROLLBACK_WITHHELD)
    assert "it has ended, and nobody here can start it again" in message
    assert len(ward.engine.requests) == 1


async def test_since_when_a_job_is_down_survives_a_restart(ward: Scenario) -> None:
    """Each tick is a process of its own here; the first that saw it is what counts."""
    ward.decider = PlainDecider()
    await fall_ill(ward)
    await ward.tick(60)
    await ward.tick(90)
    trial = state(ward).trial
    assert trial
    assert trial.down_since == at(60)

    get_up(ward)
    await ward.tick(120)
    trial = state(ward).trial
    assert trial
    assert trial.down_since is None


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
