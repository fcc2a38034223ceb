"""Which jobs are changing, and which of them are to be decided for at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.unit.control.streaming import CALM, FAST, GROWING, RETURNS, Load, seen

from headgate.control.alertness import Alertness
from headgate.control.observation import Observation
from headgate.model.lag import LagOrigin, Outage
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.options.deviations import Parity
from headgate.options.reactive import ExecutionMode
from headgate.testing.builders import ORDERS, at


def noted(alertness: Alertness, *seconds: float, load: Load = GROWING, options: AutoscalerOptions = FAST) -> None:
    """Let a job be seen at these seconds, one after the other."""
    for second in seconds:
        alertness.note({ORDERS: seen(load, at(second), options=options)})


def dues(alertness: Alertness, *seconds: float, load: Load = GROWING) -> list[float]:
    """Give those of these seconds at which the job is due."""
    due: list[float] = []
    for second in seconds:
        noted(alertness, second, load=load)
        due += [second] if alertness.take_due() else []
    return due


@pytest.fixture
def alert() -> Alertness:
    """Have seen the job for a minute of an even load, every two seconds."""
    alertness = Alertness()
    noted(alertness, *range(0, 61, 2))
    return alertness


def test_a_job_under_an_even_load_is_not_changing(alert: Alertness) -> None:
    """It has its usual ticks, and is not decided for in between."""
    assert list(alert.changing) == []
    assert alert.take_due() == set()


def test_a_job_whose_load_changed_is_looked_at_and_decided_for(alert: Alertness) -> None:
    """As soon as one stretch of the new load lies whole behind it: the one in which it changed may be half of each."""
    noted(alert, 62)
    assert list(alert.changing) == [ORDERS]
    noted(alert, 64)

    assert alert.take_due() == {ORDERS}


def test_who_was_due_is_so_once(alert: Alertness) -> None:
    """Whoever takes it decides."""
    noted(alert, 62, 64)

    assert alert.take_due() == {ORDERS}
    assert alert.take_due() == set()


def test_a_job_is_due_again_once_something_more_is_known(alert: Alertness) -> None:
    """That is as the change has lasted 1.2 times as long, so less and less often."""
    due = dues(alert, *range(62, 121))

    spans = [second - 60 for second in due]
    assert len(spans) <= 20
    assert all(later >= 1.2 * earlier for earlier, later in pairwise(spans))
    assert spans[-1] > 30


def test_a_minute_after_its_change_a_job_has_its_usual_ticks(alert: Alertness) -> None:
    """By then they are often enough."""
    noted(alert, *range(62, 123, 2))

    assert list(alert.changing) == []


@pytest.mark.parametrize(("refresh_s", "until"), [(1.0, 9), (10.0, -1)])
def test_a_job_that_is_new_is_looked_at_until_its_input_is_known(refresh_s: float, until: int) -> None:
    """It takes eleven samples to tell a change, which are soon there where the engine measures as often."""
    alertness, closely = Alertness(), list[int]()
    for second in range(30):
        one = seen(GROWING, at(second))
        assert one.sample
        sample = replace(one.sample, settings=EngineSettings(metric_refresh_s=refresh_s))
        alertness.note({ORDERS: replace(one, sample=sample)})
        closely += [second] if alertness.changing else []

    assert closely == list(range(until + 1))


def test_a_job_whose_input_is_never_known_is_looked_at_for_a_minute() -> None:
    """As where its source counts nothing: then its usual ticks are as good."""
    alertness, closely = Alertness(), list[int]()
    for second in range(0, 90, 5):
        one = seen(GROWING, at(second))
        assert one.sample
        sample = replace(one.sample, vertices={}, settings=EngineSettings(metric_refresh_s=1.0))
        alertness.note({ORDERS: replace(one, sample=sample)})
        closely += [second] if alertness.changing else []

    assert closely == list(range(0, 61, 5))


def test_another_change_is_decided_for_as_soon_as_the_first(alert: Alertness) -> None:
    """A load that falls back while it is looked at closely does not wait for its turn among ever rarer ones."""
    back = Load(rates={**GROWING.rates, 89: CALM})
    dues(alert, *range(62, 90))

    assert dues(alert, *range(90, 95), load=back)[0] <= 91


def test_a_burst_that_goes_on_is_not_told_before_its_rate_is(alert: Alertness) -> None:
    """Of a change that is seen in its first stretch nobody knows how large it is."""
    noted(alert, 61)

    assert list(alert.changing) == [ORDERS]
    assert alert.take_due() == set()


@pytest.mark.parametrize(
    "options",
    [
        replace(FAST, reaction=Reaction.WINDOWED),
        replace(FAST, enabled=False),
        replace(FAST, parity=Parity.REFERENCE),
        replace(FAST, evaluator="mine"),
        replace(FAST, execution_mode=ExecutionMode.REACTIVE),
    ],
)
def test_only_jobs_that_go_by_their_last_change_are_followed(options: AutoscalerOptions) -> None:
    """Nobody else is looked at more often, whatever its load does."""
    alertness = Alertness()
    noted(alertness, *range(0, 71, 2), options=options)

    assert list(alertness.changing) == []
    assert alertness.take_due() == set()


def test_a_job_of_queries_in_micro_batches_is_not_followed(alert: Alertness) -> None:
    """They tell of their input themselves, once a batch."""
    one = seen(GROWING, at(64))
    assert one.sample
    batches = replace(one, sample=replace(one.sample, settings=EngineSettings(shared_workers=True)))

    alert.note({ORDERS: batches})

    assert list(alert.changing) == []


def test_a_job_that_was_not_seen_for_once_is_known_afterwards(alert: Alertness) -> None:
    """Its latest sample says nothing of now; nor does one that was taken in before."""
    latest = seen(GROWING, at(64))
    unseen = replace(latest, problem=NotReady(reason=Reason.JOB_UNREACHABLE, message="away"))
    alert.note({ORDERS: unseen, RETURNS: Observation(ctx=latest.ctx)})
    assert list(alert.changing) == []

    noted(alert, 62, 64)
    taken = alert.take_due()
    alert.note({ORDERS: latest})
    alert.note({ORDERS: latest})

    assert taken == {ORDERS}
    assert alert.take_due() == set()


def test_a_job_that_falls_behind_is_decided_for(alert: Alertness) -> None:
    """Its load is what it was, and yet more than five seconds of it wait: once, as it happens, until it is level."""
    level, behind = Load(lag=4.9 * CALM), Load(lag=5.1 * CALM)

    assert dues(alert, *range(62, 80, 2), load=level) == []
    assert dues(alert, *range(80, 90, 2), load=behind) == [80]
    assert dues(alert, *range(90, 100, 2), load=level) == []
    assert dues(alert, *range(100, 110, 2), load=behind) == [100]


def test_a_job_that_loses_workers_is_decided_for(alert: Alertness) -> None:
    """What it can do is less than it was; where nobody tells of slots nothing is lost, and more of them are no loss."""
    for second, slots, is_due in [(62, None, False), (64, 8, False), (66, 9, False), (68, 7, True), (70, 7, False)]:
        one = seen(Load(), at(second))
        assert one.sample
        alert.note({ORDERS: replace(one, sample=replace(one.sample, slots_total=slots))})
        assert bool(alert.take_due()) is is_due, second


def test_of_a_job_that_comes_nothing_is_a_surprise() -> None:
    """It may have been behind for long: its usual ticks have decided for it."""
    alertness = Alertness()
    noted(alertness, 0, load=Load(lag=100 * CALM))

    assert alertness.take_due() == set()


def test_jobs_do_not_mix(alert: Alertness) -> None:
    """One grows, the one beside it does not."""
    for second in (62, 64):
        alert.note({ORDERS: seen(GROWING, at(second)), RETURNS: seen(Load(), at(second), job=RETURNS)})

    assert list(alert.changing) == [ORDERS]
    assert alert.take_due() == {ORDERS}


def test_a_job_that_is_gone_is_forgotten(alert: Alertness) -> None:
    """Nobody looks for it any more."""
    noted(alert, 62, 64)

    alert.note({RETURNS: seen(Load(), at(66), job=RETURNS)})

    assert list(alert.changing) == []
    assert alert.take_due() == set()


def test_a_job_that_gives_no_sample_is_not_asked_every_second(alert: Alertness) -> None:
    """Its cluster may be gone; its next usual tick tells."""
    noted(alert, 62, 64)
    silent = replace(seen(GROWING, at(66)), problem=NotReady(reason=Reason.JOB_UNREACHABLE, message="no answer"))

    alert.note({ORDERS: silent})

    assert list(alert.changing) == []


def read_from_kafka(second: float, told: Mapping[JobMeasure, float], lag: Mapping[Measure, float]) -> Observation:
    """Observe a job of an even load, and what is told of its lag."""
    one = seen(Load(), at(second))
    assert one.sample
    vertices = {
        vertex: replace(known, values={Measure.NUM_RECORDS_IN: known.values[Measure.NUM_RECORDS_IN], **lag})
        for vertex, known in one.sample.vertices.items()
    }
    return replace(one, sample=replace(one.sample, vertices=vertices, values=told))


def test_a_job_whose_brokers_fall_silent_is_looked_at_again_soon(alert: Alertness) -> None:
    """One look without an answer is no outage, the next one a second later may tell it; so for as long as it lasts."""
    by_offsets = {JobMeasure.LAG_ORIGIN: float(LagOrigin.OFFSETS)}
    by_connector = {JobMeasure.LAG_ORIGIN: float(LagOrigin.CONNECTOR)}
    silent = read_from_kafka(64, by_offsets, {})
    assert silent.sample
    nothing_new = replace(silent, sample=replace(silent.sample, at=at(65), vertices={}))
    story = [
        (read_from_kafka(62, by_offsets, {Measure.LAG: 0.0}), []),
        (silent, [ORDERS]),
        (nothing_new, [ORDERS]),
        (read_from_kafka(66, by_offsets, {Measure.LAG: 0.0}), []),
        (read_from_kafka(68, by_connector, {}), []),
    ]

    for observation, changing in story:
        alert.note({ORDERS: observation})
        assert list(alert.changing) == changing
        assert alert.take_due() == set()


def test_a_job_that_is_cut_off_from_its_input_is_decided_for(alert: Alertness) -> None:
    """Once, as it is seen; its usual ticks are often enough until it reads again."""
    off = {JobMeasure.LAG_ORIGIN: float(LagOrigin.OFFSETS), JobMeasure.OUTAGE: float(Outage.UNANSWERED)}
    dues = []
    for second in (62, 64):
        alert.note({ORDERS: read_from_kafka(second, off, {})})
        dues.append(alert.take_due())

    assert dues == [{ORDERS}, set()]
    assert list(alert.changing) == []
