"""Only what Headgate itself changed is taken back, where it may be, and of jobs that are known to be sick."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.control.ward import BROKEN, Doctor, fall_ill, get_up, lie_down, options, state, told

from headgate.control.deciding import PlainDecider
from headgate.errors import OvertakenError, RefusedError, UnreachableError
from headgate.model.events import EventReason
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.scenario import Scenario


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


async def test_what_a_user_was_seen_to_have_changed_stays_the_users(ward: Scenario) -> None:
    """Also once the job does not run any more, and nothing can be seen of it: it is not even left alone aloud."""
    await ward.tick(0)
    ward.factors = {}
    ward.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 8}))
    await ward.tick(30)
    lie_down(ward)
    await ward.tick(60)

    assert state(ward).trial is None
    assert len(ward.engine.requests) == 1
    assert not {EventReason.ROLLBACK, EventReason.ROLLBACK_WITHHELD} & set(ward.events.reasons)


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


async def test_a_job_that_was_down_before_its_cluster_went_silent_is_not_condemned(ward: Scenario) -> None:
    """It may run by now: what is not seen is not judged by what was seen last."""
    ward.decider = PlainDecider()
    await fall_ill(ward)
    await ward.tick(60)
    ward.decider = Doctor()
    ward.engine.failures = {"prod": "connection refused"}
    for seconds in (90, 600):
        await ward.tick(seconds)
    assert EventReason.ROLLBACK not in ward.events.reasons

    ward.engine.failures = {}
    await ward.tick(630)
    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]


async def test_a_rollback_is_not_asked_of_a_job_manager_that_was_restarted_meanwhile(ward: Scenario) -> None:
    """It had no answer yet: whoever restarted it may have changed anything, so the open rollback is closed."""
    lie_down(ward, JobStatus.RUNNING, started_at=at(-60))
    await fall_ill(ward)
    ward.engine.realize_faults = [UnreachableError("no answer")]
    await ward.tick(60)
    lie_down(ward, started_at=at(70))

    await ward.tick(90)

    assert len(ward.engine.requests) == 1
    assert state(ward).intent is None
    assert EventReason.INTENT_RECOVERED in ward.events.reasons


async def test_a_rollback_that_the_engine_refuses_is_told_and_not_tried_again(ward: Scenario) -> None:
    """Nothing more can be done, and nothing is scaled."""
    await fall_ill(ward)
    ward.engine.realize_faults = [RefusedError("no such vertex")]

    for seconds in (60, 90, 120):
        await ward.tick(seconds)

    assert len(ward.engine.requests) == 1
    assert "the engine refused: no such vertex" in told(ward, EventReason.RESCALE_NOT_REACHED)[0]
    assert len(told(ward, EventReason.ROLLBACK_IN_VAIN)) == 1


async def test_a_job_that_its_user_has_changed_meanwhile_is_the_users(ward: Scenario) -> None:
    """Whether it runs or not: it is not taken back, nothing is paused, and no bound blames what was ours."""
    await fall_ill(ward)
    ward.engine.realize_faults = [OvertakenError("agg is asked to have 16 by somebody else, not 4")]

    await ward.tick(60)

    after = state(ward)
    assert (after.intent, after.trial, after.rollback, after.bounds) == (None, None, None, ())
    (message,) = told(ward, EventReason.ROLLBACK_WITHHELD)
    assert "by somebody else" in message


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
