"""A rescale that makes its job sick is taken back: where the job goes, and what holds then."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.control.ward import AGG, Doctor, fall_ill, get_up, lie_down, options, state, told

from headgate.errors import UnreachableError
from headgate.model.events import EventReason
from headgate.model.measures import JobStatus
from headgate.model.reasons import Reason
from headgate.model.rollback import Side
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackTarget
from headgate.options.service import Mode
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.scenario import Scenario


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


@pytest.mark.parametrize("how", ["mode", "excluded"])
async def test_a_rollback_waits_while_nothing_may_be_changed(ward: Scenario, how: str) -> None:
    """It was decided and had no answer: however long that takes, the job is still sick, and it is asked for later."""
    await fall_ill(ward)
    ward.engine.realize_faults = [UnreachableError("no answer")]
    await ward.tick(60)
    excluded = AutoscalerOptions(excluded_periods=("00:00-23:59",))
    ward.mode = Mode.ADVISE if how == "mode" else Mode.ACT
    lie_down(ward, options=excluded if how == "excluded" else options())
    for seconds in range(90, 1_800, 300):
        await ward.tick(seconds)
    assert len(ward.engine.requests) == 1

    ward.mode = Mode.ACT
    lie_down(ward, options=options())
    await ward.tick(1_800)
    await ward.tick(1_830)
    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert told(ward, EventReason.ROLLBACK_IN_VAIN) == []


async def test_a_rollback_that_the_engine_never_took_is_not_given_up(ward: Scenario) -> None:
    """Time tells nothing of it before it was asked for, nor that it was in vain."""
    await fall_ill(ward)
    ward.engine.realize_faults = [UnreachableError("no answer")] * 10
    for seconds in range(60, 3_060, 300):
        await ward.tick(seconds)
    assert len(ward.engine.requests) == 1
    assert told(ward, EventReason.ROLLBACK_IN_VAIN) == []

    await ward.tick(3_060)
    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]


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
