"""The rules of an open intent, without a loop around them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.control.intents import accepted, metrics_at, open_intent, settle, time_to_reach
from headgate.control.runner import tick_of, until_next
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.model.state import DelayedScaleDown, JobState, Wish
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS, at, chain, evaluated, sample
from headgate.testing.reacting import reactive

AGG = VertexId("agg")
OPTIONS = AutoscalerOptions()


def _decision(wanted: int = 4, expected_rate: float | None = None, *, current: int = 1) -> Decision:
    """Decide that of source (1) -> agg (1), which does 100/s, agg is to change."""
    agg = Proposal(vertex=AGG, name="agg", current=current, wanted=wanted, outside=True, expected_rate=expected_rate)
    source = Proposal(vertex=VertexId("source"), name="source", current=1, wanted=1)
    return Decision(
        id="d1",
        job=ORDERS,
        at=at(0),
        outcome=Outcome.RESCALE,
        reason=Reason.RESCALED,
        message="",
        proposals=(source, agg),
        fingerprint=chain({"source": 1, "agg": 1}).fingerprint,
        evaluated=evaluated(chain({"source": 1, "agg": 1}), {"agg": 4.0}),
        acts=True,
    )


def _opened(state: JobState | None = None) -> JobState:
    running = sample(chain({"source": 1, "agg": 1}))
    return open_intent(state or JobState(), _decision(), running, OPTIONS, late=timedelta())


def _told(state: JobState) -> list[EventReason]:
    return [event.reason for event in state.outbox]


def test_the_limit_follows_from_the_clusters_own_settings() -> None:
    """Stock Flink with a 60 s checkpoint interval: two intervals, cooldown, slot stabilization, restart."""
    stock = EngineSettings(checkpoint_interval_s=60.0, rescale_cooldown_s=30.0, resource_stabilization_s=60.0)

    assert time_to_reach(stock, timedelta(seconds=20)) == timedelta(seconds=230)


def test_the_limit_is_never_so_short_that_a_poll_may_miss_the_change() -> None:
    """A laboratory cluster with no waits at all still gets ten seconds."""
    quick = EngineSettings(checkpoint_interval_s=None, rescale_cooldown_s=0.0, resource_stabilization_s=0.0)

    assert time_to_reach(quick, timedelta()) == timedelta(seconds=10)


def test_the_limit_counts_from_the_request_not_from_the_cycles_begin() -> None:
    """An evaluation that took longer than the engine may take does not make the engine late."""
    running = sample(chain({"source": 1}))
    decision = Decision(
        id="d1", job=ORDERS, at=at(0), outcome=Outcome.RESCALE, reason=Reason.RESCALED, message="", acts=True
    )

    opened = open_intent(JobState(), decision, running, AutoscalerOptions(), late=timedelta(minutes=3))

    limit = time_to_reach(running.settings, AutoscalerOptions().restart_time)
    assert opened.intent is not None
    assert opened.intent.deadline == at(180) + limit


@pytest.mark.parametrize(("options", "wanted", "more_s"), [(reactive(), 4, 50), (reactive(), 1, 0), (OPTIONS, 4, 0)])
def test_a_reactive_job_may_wait_to_grow_for_a_slot_of_another_one(
    options: AutoscalerOptions, wanted: int, more_s: int
) -> None:
    """Flink keeps it for the time of the cluster's settings first; shrinking and other jobs wait for none."""
    running = sample(chain({"source": 1, "agg": 2}), settings=EngineSettings(slot_idle_s=50.0))
    limit = time_to_reach(running.settings, options.restart_time) + timedelta(seconds=more_s)

    opened = open_intent(JobState(), _decision(wanted, current=2), running, options, late=timedelta())
    assert opened.intent is not None
    assert opened.intent.deadline == at(0) + limit

    late = settle(running, opened, options, opened.intent.deadline, may_act=True).state
    assert late.intent is not None
    assert late.intent.deadline == opened.intent.deadline + limit


@pytest.mark.parametrize(
    ("options", "wanted", "again_s"),
    [
        (reactive(), 4, 10),
        (replace(reactive(), rejection_expiry=timedelta(seconds=5)), 4, 5),
        (reactive(), 1, 1800),
        (OPTIONS, 4, 1800),
    ],
)
def test_a_growth_for_which_slots_were_late_is_tried_again_soon(
    options: AutoscalerOptions, wanted: int, again_s: int
) -> None:
    """A reactive job's: the next slots may be there already. What else is not reached stays so for half an hour."""
    running = sample(chain({"source": 1, "agg": 2}))
    opened = open_intent(JobState(), _decision(wanted, current=2), running, options, late=timedelta())
    assert opened.intent is not None
    tried_twice = replace(opened, intent=replace(opened.intent, attempts=1))
    given_up = settle(running, tried_twice, options, opened.intent.deadline, may_act=True).state

    assert given_up.intent is None
    assert given_up.rejections[0].expires_at == opened.intent.deadline + timedelta(seconds=again_s)


def test_ticks_have_the_same_names_in_every_process() -> None:
    """They lie on multiples of the interval, so that a restart within a tick rewrites its file."""
    interval = timedelta(seconds=10)

    assert tick_of(at(12.5), interval) == at(10)
    assert until_next(at(12.5), interval) == timedelta(seconds=7.5)
    assert until_next(at(10), interval) == interval


def test_the_history_knows_what_the_changing_vertices_did() -> None:
    """With it a later cycle judges what the growth has brought; the vertex that stays is not in it."""
    metrics = metrics_at(_decision())

    assert list(metrics) == [AGG]
    assert metrics[AGG][ScalingMetric.TRUE_PROCESSING_RATE] == 100.0
    assert metrics[AGG][ScalingMetric.EXPECTED_PROCESSING_RATE] == 400.0


def test_the_expected_rate_is_that_of_what_is_really_made() -> None:
    """The policies foretold 800/s for a wish of eight; four were granted. The reference keeps the 800."""
    metrics = metrics_at(_decision(wanted=4, expected_rate=800.0))

    assert metrics[AGG][ScalingMetric.EXPECTED_PROCESSING_RATE] == 400.0


def test_an_accepted_change_is_history_and_begins_all_delays_anew() -> None:
    """Also those of vertices that do not change: what they wished, they wished of another job."""
    pending = DelayedScaleDown(first_at=at(-60), wishes=(Wish(at=at(-60), parallelism=1, outside=True),))
    opened = _opened(JobState(delayed={VertexId("source"): pending}))
    assert opened.delayed

    state = accepted(ORDERS, opened, at(1), OPTIONS)

    assert state.delayed == {}
    assert [(record.at, record.after) for record in state.history] == [(at(0), {AGG: 4})]
    assert state.history[0].metrics == metrics_at(_decision())


def test_a_change_accepted_twice_is_one_rescale() -> None:
    """A request that is repeated after its deadline is not counted again."""
    state = accepted(ORDERS, _opened(), at(1), OPTIONS)
    assert state.intent is not None
    repeated = replace(state, intent=replace(state.intent, realized_at=None))

    assert len(accepted(ORDERS, repeated, at(900), OPTIONS).history) == 1


def test_a_request_is_told_even_if_who_sent_it_died_before_it_could() -> None:
    """Nothing is sent a second time then, or the change is only seen running; told once, unless it is sent again."""
    opened = _opened(JobState())
    found = accepted(ORDERS, opened, at(1), OPTIONS, sent=False)
    seen = settle(sample(chain({"source": 1, "agg": 4})), opened, OPTIONS, at(20), may_act=True).state
    assert found.intent is not None
    repeated = replace(found, intent=replace(found.intent, realized_at=None, attempts=1))

    assert _told(found) == [EventReason.SCALING_REPORT, EventReason.SCALING]
    assert _told(seen) == [EventReason.SCALING_REPORT, EventReason.SCALING, EventReason.RESCALE_REACHED]
    assert _told(accepted(ORDERS, repeated, at(900), OPTIONS, sent=False)) == _told(found)
    assert _told(accepted(ORDERS, repeated, at(900), OPTIONS, sent=True)) == [*_told(found), EventReason.SCALING]


def test_a_reached_change_knows_how_long_it_took() -> None:
    """From the decision until the job was running again, whenever it was looked at."""
    seen = sample(chain({"source": 1, "agg": 4}), running_since=at(25))

    state = settle(seen, accepted(ORDERS, _opened(), at(1), OPTIONS), OPTIONS, at(40), may_act=True).state

    assert state.intent is None
    assert (state.history[0].restart, state.history[0].reached_at) == (timedelta(seconds=25), at(40))


@pytest.mark.parametrize(
    ("began", "message"),
    [
        (4, "the new parallelism began to run 4.0 s after the decision"),
        (-500, "the new parallelism was seen running 30.0 s after the decision"),
        (90, "the new parallelism was seen running 30.0 s after the decision"),
    ],
)
def test_it_is_told_when_the_engine_ran_the_new_parallelism(began: int, message: str) -> None:
    """By its own time, not when a cycle saw it; a start of before, or of a clock that is ahead, tells nothing."""
    running = sample(chain({"source": 1, "agg": 4}), running_since=at(began))

    event = settle(running, accepted(ORDERS, _opened(), at(1), OPTIONS), OPTIONS, at(30), may_act=True).state.outbox[-1]

    assert event.reason is EventReason.RESCALE_REACHED
    assert event.message == message
    assert event.fields["took_s"] == (4.0 if began == 4 else 30.0)


def test_a_change_in_place_took_until_it_was_seen() -> None:
    """The job has been running since long before; the reference records a negative duration."""
    seen = sample(chain({"source": 1, "agg": 4}), running_since=at(-500))
    state = accepted(ORDERS, _opened(), at(1), OPTIONS)
    theirs = AutoscalerOptions(parity=Parity.REFERENCE)

    assert settle(seen, state, OPTIONS, at(40), may_act=True).state.history[0].restart == timedelta(seconds=40)
    assert settle(seen, state, theirs, at(40), may_act=True).state.history[0].restart == timedelta(seconds=-500)
