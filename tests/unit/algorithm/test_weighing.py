"""Whether a rescale after a change of the load is made now, or once more is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.weighing import eager, told_arrival
from headgate.model.arrival import Arrival
from headgate.model.decision import Decision, Outcome
from headgate.model.downtime import Downtime
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.state import UNSEEN, JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, chain, sample

OPTIONS = AutoscalerOptions(
    alignment_mode="OFF",
    metrics_window=timedelta(minutes=1),
    restart_time=timedelta(seconds=3),
    utilization_target=0.7,
    utilization_boundary=0.1,
)
UNSET = replace(OPTIONS, restart_time=AutoscalerOptions().restart_time)
AGG = VertexId("agg")
RESCALE = Outcome.RESCALE
LONG_AGO = START - timedelta(hours=1)
RATE = 100.0
"""Records/s that a subtask can do."""


def loaded(load: float, *, running: int) -> VertexMetrics:
    """Give the numbers of a vertex under a load, nothing of which is left to catch up."""
    capacity, needed = RATE * running, load / OPTIONS.utilization_target
    low, high = OPTIONS.utilization_band
    known: Mapping[ScalingMetric, float] = {
        ScalingMetric.TRUE_PROCESSING_RATE: capacity,
        ScalingMetric.TARGET_DATA_RATE: load,
        ScalingMetric.CATCH_UP_DATA_RATE: 0.0,
        ScalingMetric.SCALE_UP_RATE_THRESHOLD: load / high,
        ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: load / low,
        ScalingMetric.PARALLELISM: running,
        ScalingMetric.MAX_PARALLELISM: 128,
    }
    outside = not load / high <= capacity <= load / low
    return VertexMetrics(metrics=known, needed_capacity=needed, factor=needed / capacity, outside=outside)


def decided(
    load: float,
    *,
    running: int,
    lasted_s: float,
    error: float | None = 0.03,
    changed: bool = True,
    options: AutoscalerOptions = OPTIONS,
    downtime: Downtime | None = None,
    since: datetime = LONG_AGO,
    rising: bool = False,
    state: JobState = UNSEEN,
) -> Decision:
    """Decide for a vertex whose load changed some seconds ago and is known within an error, after thirty samples."""
    evaluated = EvaluatedMetrics(
        vertices={AGG: loaded(load, running=running)},
        backlog=False,
        coverage=1.0,
        samples=30,
        arrival=Arrival(per_s=load, error=error, lasted_s=lasted_s, changed=changed, rising=rising),
        downtime=downtime,
    )
    return decide(sample(chain({"agg": running}), running_since=since), evaluated, options, START, state)


def waits_s(
    load: float,
    *,
    running: int,
    error: float = 0.03,
    downtime: Downtime | None = None,
    options: AutoscalerOptions = OPTIONS,
) -> int | None:
    """Give the seconds after which the rescale is made; None where it waits for more than half a minute."""
    for second in range(31):
        made = decided(load, running=running, lasted_s=second, error=error, downtime=downtime, options=options)
        if made.outcome is Outcome.RESCALE:
            return second
    return None


def learnt(seconds: float) -> Downtime:
    """Give a downtime that was seen often."""
    took = timedelta(seconds=seconds)
    return Downtime(expected=took, low=took, high=took, basis="12 rescales of this job")


def test_an_overload_is_answered_within_seconds() -> None:
    """Four times what it was, input piles up: as soon as that is expected to cost what a restart costs."""
    quick, slow = waits_s(400.0, running=1), waits_s(400.0, running=1, downtime=learnt(12))

    assert quick is not None
    assert slow is not None
    assert 1 <= quick <= 3
    assert 5 <= slow <= 9
    assert decided(400.0, running=1, lasted_s=5).targets == {AGG: 6}


def test_a_restart_that_takes_no_time_still_costs_something() -> None:
    """Of queries that run on meanwhile, too: else every trifle would be answered at once."""
    assert waits_s(400.0, running=1, downtime=learnt(0)) in {1, 2}


def test_a_growth_that_may_prove_wrong_waits() -> None:
    """Just more than it can do, with a load known within two fifths: to have to go back would cost twenty rescales."""
    kept = decided(105.0, running=1, lasted_s=40, error=0.2)

    assert (kept.outcome, kept.reason) == (Outcome.KEEP, Reason.EVIDENCE_AWAITED)
    assert kept.targets == {AGG: 2}
    assert decided(105.0, running=1, lasted_s=40, error=0.01).outcome is Outcome.RESCALE


def test_the_first_of_two_steps_waits() -> None:
    """A load known only within a third may need one subtask more or less: better one rescale than two."""
    sure, unsure = (decided(400.0, running=1, lasted_s=5, error=error) for error in (0.03, 0.33))

    assert sure.outcome is Outcome.RESCALE
    assert unsure.reason is Reason.EVIDENCE_AWAITED


def test_a_load_of_unknown_error_is_answered_by_no_rescale_for_long() -> None:
    """As if it were surely to be taken back."""
    assert decided(400.0, running=1, lasted_s=15, error=None).reason is Reason.EVIDENCE_AWAITED
    assert decided(400.0, running=1, lasted_s=120, error=None).outcome is Outcome.RESCALE


def test_shrinking_waits_longer() -> None:
    """Nobody waits for a job that is too large: what it costs is idle, two fifths of what waits."""
    up, down = waits_s(400.0, running=1), waits_s(100.0, running=6)

    assert up is not None
    assert down is not None
    assert down >= 5 * up
    assert decided(100.0, running=6, lasted_s=60).outcome is Outcome.RESCALE


def test_a_growth_that_cannot_go_far_enough_is_made_all_the_same() -> None:
    """Who may have three and needs six does not wait to know whether it is five or seven: it is three in any case."""
    most = replace(OPTIONS, max_parallelism=3)

    capped = decided(400.0, running=1, lasted_s=8, error=0.33, options=most)

    assert capped.targets == {AGG: 3}
    assert capped.outcome is Outcome.RESCALE


@pytest.mark.parametrize(
    ("lasted_s", "error", "since", "outcome"),
    [
        (48.0, 0.04, LONG_AGO, Outcome.RESCALE),
        (47.9, 0.04, LONG_AGO, Outcome.KEEP),
        (48.0, 0.1, LONG_AGO, Outcome.KEEP),
        (48.0, 0.04, START - timedelta(seconds=40), Outcome.KEEP),
    ],
)
def test_a_load_that_is_settled_is_not_weighed(
    lasted_s: float, error: float, since: datetime, outcome: Outcome
) -> None:
    """Without a change for four fifths of the window, at the size that runs and surely so, its word is enough."""
    made = decided(120.0, running=1, lasted_s=lasted_s, error=error, changed=False, since=since, downtime=learnt(60))

    assert made.outcome is outcome
    assert ("come in" in made.message) is (outcome is Outcome.KEEP)


@pytest.mark.parametrize(("load", "outcome"), [(139.0, Outcome.KEEP), (120.0, Outcome.RESCALE)])
def test_a_settled_load_that_may_need_its_last_subtask_keeps_it(load: float, outcome: Outcome) -> None:
    """At 140/s three subtasks are right: who is asked all day says 139 at some time. Of 120 there is no doubt."""
    made = decided(load, running=3, lasted_s=900, error=0.02, changed=False)

    assert made.targets == {AGG: 2}
    assert made.outcome is outcome


def test_a_settled_load_that_is_not_surely_too_much_is_weighed() -> None:
    """What falls behind costs, however long it has done so; what is idle does not before that is sure."""
    assert decided(105.0, running=1, lasted_s=300, error=0.1, changed=False).outcome is Outcome.RESCALE


def test_a_window_of_few_samples_is_taken_at_its_word() -> None:
    """How much the load varies is told from ten samples on; who sets a shorter window wants to see it go by that."""
    assert decided(120.0, running=1, lasted_s=60, error=None, changed=False).outcome is Outcome.RESCALE
    assert decided(120.0, running=1, lasted_s=40, error=None, changed=False).outcome is Outcome.KEEP


def test_what_staying_has_cost_counts_from_the_begin_of_the_size_that_runs() -> None:
    """What the one before it has cost is no reason to leave this one at once."""
    fresh, old = (
        decided(400.0, running=1, lasted_s=600, since=START - timedelta(seconds=seconds)) for seconds in (1, 20)
    )

    assert fresh.reason is Reason.EVIDENCE_AWAITED
    assert old.outcome is Outcome.RESCALE


def test_a_lack_of_reserve_is_less_urgent_than_a_lack_of_capacity() -> None:
    """A vertex that is busier than it should be but reads all that comes loses nothing by it yet."""
    tight, short = (decided(load, running=1, lasted_s=12, error=0.001) for load in (95.0, 125.0))

    assert tight.reason is Reason.EVIDENCE_AWAITED
    assert short.outcome is Outcome.RESCALE


def test_a_change_is_weighed_however_long_ago_it_was() -> None:
    """Of that much is known, and the message tells it."""
    assert "the load changed 600 s ago" in decided(400.0, running=1, lasted_s=600.0).message


@pytest.mark.parametrize(
    ("changed", "words"), [(True, "the load changed 5 s ago"), (False, "the load has not changed for at least 5 s")]
)
def test_the_message_names_the_change_and_what_was_weighed(*, changed: bool, words: str) -> None:
    """Made or not: how long ago it was, how well it is known, and what the one and the other costs."""
    made = decided(400.0, running=1, lasted_s=5, changed=changed)
    kept = decided(89.0, running=1, lasted_s=5, error=0.1, changed=changed)

    assert made.message.startswith("agg: ")
    assert f"{words}: about 400/s come in (within 6%); staying at this size is expected to cost " in made.message
    assert "s of input, a rescale 3.0 s (0% risk of going back, 0% of a second step)" in made.message
    assert f"{words}: about 89/s come in (within 20%)" in kept.message
    assert "risk of going back" in kept.message


def test_chances_that_nobody_knows_are_not_told() -> None:
    """By too few samples to say how surely a rate is known, only what it is waited for, and the worst that it costs."""
    kept, made = (decided(400.0, running=1, lasted_s=seconds, error=None).message for seconds in (5, 120))
    unknown = Arrival(per_s=None, error=None, lasted_s=3.0, changed=True)

    assert "5 s ago: about 400/s come in, by too few samples to say how surely; staying at this size" in kept
    assert "s of input; a rescale waits for more samples, at most until that is 63 s" in kept
    assert "s of input, more than a rescale at worst (63 s)" in made
    assert "%" not in kept + made
    assert told_arrival(unknown) == "the load changed 3 s ago: how much comes in is not known yet"


def test_what_is_kept_asks_for_nothing_else() -> None:
    """The targets stay to be seen; no change is made, and nothing is remembered but what would be anyway."""
    kept = decided(89.0, running=1, lasted_s=5, error=0.1)

    assert kept.changes == {}
    assert kept.delayed == {}
    assert not kept.acts


def test_one_vertex_for_which_it_is_time_takes_the_others_along() -> None:
    """They change in the same restart, which is what a rescale costs."""
    small = VertexId("small")
    evaluated = EvaluatedMetrics(
        vertices={AGG: loaded(400.0, running=1), small: loaded(89.0, running=1)},
        backlog=False,
        coverage=1.0,
        samples=30,
        arrival=Arrival(per_s=400.0, error=0.1, lasted_s=8.0, changed=True),
    )

    graph = chain({"agg": 1, "small": 1})

    made = decide(sample(graph, running_since=LONG_AGO), evaluated, OPTIONS, START)

    assert made.outcome is Outcome.RESCALE
    assert made.targets == {AGG: 6, small: 2}


def test_a_cause_without_numbers_is_not_weighed() -> None:
    """It follows from something else than the load, so the load has no word in it."""
    unknown = VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: 100.0}, needed_capacity=None, factor=4.0, outside=True
    )
    evaluated = EvaluatedMetrics(
        vertices={AGG: replace(unknown, basis="somebody says so")},
        backlog=False,
        coverage=1.0,
        samples=3,
        arrival=Arrival(per_s=400.0, error=None, lasted_s=0.0, changed=True),
    )

    assert decide(sample(chain({"agg": 1})), evaluated, OPTIONS, START).outcome is Outcome.RESCALE


def test_what_nobody_set_does_not_hold_shrinking_back() -> None:
    """The hour's wait and the steps of 60 % are defaults for those who cannot tell how sure they are."""
    assert OPTIONS.scale_down_interval == timedelta(hours=1)

    made = decided(100.0, running=12, lasted_s=60, error=0.02)

    assert made.targets == {AGG: 2}
    assert made.outcome is Outcome.RESCALE


@pytest.mark.parametrize(
    ("options", "target"),
    [
        (replace(OPTIONS, scale_down_interval=timedelta(minutes=10)), 12),
        (replace(OPTIONS, scale_down_max_factor=0.5), 6),
    ],
)
def test_what_somebody_set_holds(options: AutoscalerOptions, target: int) -> None:
    """A wait of ten minutes, or half at a time."""
    assert decided(100.0, running=12, lasted_s=60, error=0.02, options=options).targets == {AGG: target}


def test_nothing_else_is_eager() -> None:
    """The other options are as they were."""
    assert eager(OPTIONS) == replace(OPTIONS, scale_down_interval=timedelta(), scale_down_max_factor=1.0)
    assert eager(eager(OPTIONS)) == eager(OPTIONS)


def test_a_job_that_goes_by_its_window_is_not_weighed() -> None:
    """Nothing is known of a change there."""
    evaluated = EvaluatedMetrics(vertices={AGG: loaded(89.0, running=1)}, backlog=False, coverage=1.0, samples=30)

    made = decide(sample(chain({"agg": 1})), evaluated, OPTIONS, START)

    assert made.outcome is Outcome.RESCALE
    assert "come in" not in made.message


def test_shrinking_waits_the_longer_the_longer_the_downtime_is() -> None:
    """More than in proportion: a wait of seconds is hardly noticed, one of a minute is, and nobody has to shrink."""
    short, long = (
        next(s for s in range(3000) if decided(100.0, running=6, lasted_s=s, downtime=learnt(d)).outcome is RESCALE)
        for d in (3, 30)
    )

    assert long > 20 * short


def test_a_rising_load_is_told_as_such() -> None:
    """What came in by now is no level: it is on its way."""
    arrival = Arrival(per_s=400.0, error=0.02, lasted_s=60.0, changed=True, rising=True)

    assert told_arrival(arrival) == "the load changed 60 s ago: about 400/s come in (within 4%, rising)"


@pytest.mark.parametrize("key", ["scale-down.interval", "scale-down.max-factor"])
def test_what_was_set_to_the_default_holds_as_well(key: str) -> None:
    """An hour, or six tenths at a time: whoever writes the default means it."""
    meant = replace(OPTIONS, keys_set=(key,))
    eager_to = {
        "scale-down.interval": replace(meant, scale_down_max_factor=1.0),
        "scale-down.max-factor": replace(meant, scale_down_interval=timedelta()),
    }
    assert eager(meant) == eager_to[key]


def test_a_saturated_job_grows_and_is_told_as_such() -> None:
    """How much comes in is not known; that it is more than can be read is."""
    arrival = Arrival(per_s=400.0, error=0.25, lasted_s=6.0, changed=True, saturated=True)

    said = told_arrival(arrival)

    assert said == (
        "for 6 s its sources have read all they can: more comes in, nobody knows how much, 400/s are assumed"
    )


def test_before_a_rescale_was_seen_a_job_with_little_state_waits_for_seconds() -> None:
    """In place it takes few; what nobody has set is no reason to let a job fall behind for half a minute."""
    assert waits_s(400.0, running=1, options=UNSET) == waits_s(400.0, running=1, downtime=learnt(3))
    assert waits_s(100.0, running=6, options=UNSET) == waits_s(100.0, running=6, downtime=learnt(3))


def test_a_guess_is_called_a_guess() -> None:
    """What was learnt is told with all that was evaluated."""
    guess = "; a rescale is expected to stop the job for 3 s (a guess: in place, state of unknown size, "

    assert guess in decided(400.0, running=1, lasted_s=1, options=UNSET).message
    assert "3 s (restart.time, no rescale was measured yet)" in decided(400.0, running=1, lasted_s=1).message
    assert "expected to stop" not in decided(400.0, running=1, lasted_s=1, downtime=learnt(3)).message
