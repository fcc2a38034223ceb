"""Stories of a job that owes its users something: source -> sink, 4 subtasks of 100/s each, 280/s come in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.algorithm.agreement import at_risk
from headgate.algorithm.decide import LoadChain, decide
from headgate.algorithm.explain import explain
from headgate.algorithm.price import told
from headgate.algorithm.review import amended
from headgate.algorithm.shape import shape_of
from headgate.model.decision import Decision, Notice, Outcome
from headgate.model.downtime import Downtime
from headgate.model.events import EventReason
from headgate.model.forecast import Price
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.state import JobState, ScalingRecord
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.sla import SlaOptions
from headgate.testing.builders import START, chain, evaluated, sample

RECOVERS = SlaOptions(recovery_time=timedelta(minutes=5))
FRESH = SlaOptions(max_lag_time=timedelta(minutes=2))
NOTHING = SlaOptions()
JOB = chain({"source": 4, "sink": 4})
SINK = VertexId("sink")
A, B = VertexId("a"), VertexId("b")


def _options(sla: SlaOptions, **rest: Any) -> AutoscalerOptions:
    known: dict[str, Any] = {
        "alignment_mode": "OFF",
        "scale_down_interval": timedelta(),
        "restart_time": timedelta(seconds=60),
        "restart_time_tracking_limit": timedelta(hours=1),
    }
    return replace(AutoscalerOptions(), sla=sla, **{**known, **rest})


def _decided(
    sla: SlaOptions,
    factors: Mapping[str, float] | None = None,
    *,
    lag: float = 0.0,
    downtime: Downtime | None = None,
    state: JobState | None = None,
    **rest: Any,
) -> Decision:
    known = replace(_lagging(evaluated(JOB, factors or {}), lag), downtime=downtime)
    return decide(sample(JOB), known, _options(sla, **rest), START, state or JobState())


def _lagging(known: EvaluatedMetrics, lag: float) -> EvaluatedMetrics:
    source = known.vertices[VertexId("source")]
    source = replace(source, metrics={**source.metrics, ScalingMetric.LAG: lag})
    return replace(known, vertices={**known.vertices, VertexId("source"): source})


def _wanted(decision: Decision) -> list[int]:
    return list(decision.targets.values())


def _at_risk(decision: Decision) -> Notice:
    assert decision.forecast is not None
    assert decision.forecast.breaks
    return at_risk(decision.forecast)


def _learnt(high: float) -> Downtime:
    low, expected, upper = (timedelta(seconds=each) for each in (high / 4, high / 2, high))
    return Downtime(expected=expected, low=low, high=upper, basis="12 rescales of this job")


def test_a_job_that_would_recover_too_late_grows_though_every_vertex_is_within_its_band() -> None:
    """
    100,000 records wait, 120/s to spare work them off in 833 s; 300 s are agreed.

    A rescale adds 60 s of input, so 116,800 records within 300 s take 390/s to spare: 670/s, 7 subtasks.
    """
    found = _decided(RECOVERS, lag=100_000)

    assert (found.outcome, found.reason, _wanted(found)) == (Outcome.RESCALE, Reason.AGREEMENT, [7, 7])
    assert "level again within 4.6 min (5 min agreed)" in "".join(explain(found))
    assert _decided(NOTHING, lag=100_000).outcome is Outcome.KEEP


def test_a_job_that_recovers_in_time_as_it_runs_is_left_alone() -> None:
    """30,000 records are worked off in 250 s; a rescale would only make them more."""
    found = _decided(RECOVERS, lag=30_000)

    assert found.outcome is Outcome.KEEP
    assert found.forecast is not None
    assert found.forecast.recovery_s == pytest.approx(250)
    assert not found.forecast.breaks


def test_growth_that_is_made_anyway_recovers_in_time() -> None:
    """The sink alone has cause and would run at 6. A downtime of 200 s takes 8, and 6 of the source that feeds it."""
    grown = {"sink": 1.4, "source": 1.0}

    found = _decided(RECOVERS, grown, lag=30_000, downtime=_learnt(200))

    assert _wanted(_decided(NOTHING, grown, lag=30_000)) == [4, 6]
    assert found.outcome is Outcome.RESCALE
    assert found.reason is Reason.UTILIZATION_TARGET
    assert _wanted(found) == [6, 8]
    assert found.forecast is not None
    assert not found.forecast.breaks


def test_a_vertex_that_could_not_recover_from_a_rescale_is_no_cause_for_one() -> None:
    """As long as nothing stops the job there is nothing to recover from."""
    found = _decided(RECOVERS, downtime=_learnt(300))

    assert (found.outcome, found.reason) == (Outcome.KEEP, Reason.WITHIN_BAND)
    assert "source 4 -> 6" in found.message


def test_who_is_too_old_grows_and_who_is_not_does_not() -> None:
    """Two minutes are agreed: 28,000 records are 100 s old, 100,000 are 357 s old."""
    assert _decided(FRESH, lag=28_000).outcome is Outcome.KEEP

    found = _decided(FRESH, lag=100_000)

    assert (found.outcome, found.reason) == (Outcome.RESCALE, Reason.AGREEMENT)
    assert _at_risk(found).fields["max_lag_time_s"] == 120


def test_a_job_that_cannot_keep_up_will_be_too_old() -> None:
    """Nothing waits yet, but 420/s come in and 400/s go out; only its band says that this will do."""
    known = evaluated(JOB, {})
    source = known.vertices[VertexId("source")]
    source = replace(source, metrics={**source.metrics, ScalingMetric.TARGET_DATA_RATE: 420.0})
    known = replace(known, vertices={**known.vertices, VertexId("source"): source})

    assert decide(sample(JOB), known, _options(FRESH), START).reason is Reason.AGREEMENT
    assert decide(sample(JOB), known, _options(NOTHING), START).outcome is Outcome.KEEP


def test_who_is_late_has_cause_to_take_what_the_load_asks_for() -> None:
    """The load asks for 8, which is more than 7, but within its band it is no cause by itself."""
    known = _lagging(evaluated(JOB, {"source": 2.0}), 100_000)
    source = known.vertices[VertexId("source")]
    rates = {**source.metrics, ScalingMetric.TARGET_DATA_RATE: 280.0}
    known = replace(
        known, vertices={**known.vertices, VertexId("source"): replace(source, metrics=rates, outside=False)}
    )

    found = decide(sample(JOB), known, _options(RECOVERS), START)

    assert (found.outcome, _wanted(found)) == (Outcome.RESCALE, [8, 7])
    assert found.proposals[0].outside
    assert decide(sample(JOB), known, _options(NOTHING), START).outcome is Outcome.KEEP


def test_a_cause_of_its_own_is_told_beside_the_agreement() -> None:
    """The sink is too slow, the source would only recover too late."""
    found = _decided(RECOVERS, {"sink": 1.4}, lag=100_000)

    assert found.reason is Reason.UTILIZATION_TARGET
    assert "sink: 400/s true rate, needs 560/s" in found.message
    assert "source: 669/s work off 116800 records" in found.message


def test_what_a_plugin_makes_of_a_rescale_has_its_own_forecast() -> None:
    """A plugin that wants 20 instead of 7 gets the numbers of 20."""
    found = _decided(RECOVERS, lag=100_000)
    assert found.evaluated is not None
    rules = LoadChain.of(sample(JOB), found.evaluated, _options(RECOVERS), START)
    twenty = {VertexId("source"): 20, VertexId("sink"): 20}

    changed = amended(found, twenty, found.config, rules, plugin="mine")

    assert changed.forecast is not None
    assert changed.forecast.recovery_s == pytest.approx(116_800 / 1_720)
    assert changed.price is not None
    assert changed.price.saved_s == -32 * 3_600


def test_a_shrink_goes_no_further_than_a_rescale_allows() -> None:
    """The load asks for 1 of 4, which would work off the 4,200 records of a downtime of 60 s in 140 s, not in 30 s."""
    little = {"source": 0.25, "sink": 0.25}
    quick = SlaOptions(recovery_time=timedelta(seconds=30))

    assert _wanted(_decided(NOTHING, little, scale_down_max_factor=1.0)) == [1, 1]
    found = _decided(quick, little, scale_down_max_factor=1.0)

    assert _wanted(found) == [3, 3]
    assert "Agreement" in {step.reason for step in found.proposals[0].steps}


def test_a_shrink_that_its_own_downtime_makes_a_breach_is_not_made() -> None:
    """The downtime may be 180 s, and no record may wait for longer than 120 s; growth that is needed is made."""
    found = _decided(FRESH, {"source": 0.4, "sink": 0.4}, downtime=_learnt(180))

    assert (found.outcome, found.reason) == (Outcome.KEEP, Reason.LIMITED)
    assert "would leave it 3 min behind, 2 min are agreed" in found.message
    assert _decided(FRESH, {"source": 0.4, "sink": 0.4}, downtime=_learnt(100)).outcome is Outcome.RESCALE
    assert _decided(FRESH, {"source": 1.6, "sink": 1.6}, downtime=_learnt(180)).outcome is Outcome.RESCALE


def test_the_best_that_is_allowed_is_taken_and_told() -> None:
    """7 would do, 6 are allowed: it takes 390 s instead of 300 s, and somebody is told."""
    found = _decided(RECOVERS, lag=100_000, max_parallelism=6)

    assert (found.outcome, _wanted(found)) == (Outcome.RESCALE, [6, 6])
    notice = _at_risk(found)
    assert (notice.reason, notice.fields["recovery_time_s"]) == (EventReason.AGREEMENT_AT_RISK, 300)
    assert notice.fields["recovery_s"] == pytest.approx(365)


def test_no_rescale_is_made_that_helps_nobody() -> None:
    """Where 5 are the most, 60 s of downtime cost more than the one subtask brings: 16,800 records for 2 s less."""
    alone = replace(RECOVERS, recovery_time=timedelta(seconds=30))

    found = _decided(alone, lag=6_000, max_parallelism=5)

    assert found.outcome is Outcome.KEEP
    assert _at_risk(found).fields["recovery_s"] == 50


def _with_sink(known: EvaluatedMetrics, **metrics: float) -> EvaluatedMetrics:
    sink = known.vertices[SINK]
    changed = {**sink.metrics, **{ScalingMetric(name): value for name, value in metrics.items()}}
    return replace(known, vertices={**known.vertices, SINK: replace(sink, metrics=changed)})


def test_a_vertex_without_hope_takes_it_from_no_other() -> None:
    """The sink never keeps up and may not grow; the source is level again in 278 s instead of 833 s all the same."""
    known = _with_sink(_lagging(evaluated(JOB, {}), 100_000), TARGET_DATA_RATE=420.0)

    found = decide(sample(JOB), known, _options(RECOVERS, vertex_exclude_ids=(SINK,)), START)

    assert (found.outcome, found.reason, _wanted(found)) == (Outcome.RESCALE, Reason.AGREEMENT, [7, 4])
    assert _at_risk(found).fields["recovery_s"] == math.inf


def test_nobody_in_time_is_made_as_late_as_who_is_helped() -> None:
    """The source takes 310 s. Its rescale would let the sink, which may not grow, take 386 s instead of 266 s."""
    known = _with_sink(_lagging(evaluated(JOB, {}), 37_200), TRUE_PROCESSING_RATE=420.0)

    found = decide(sample(JOB), known, _options(RECOVERS, vertex_exclude_ids=(SINK,)), START)

    assert found.outcome is Outcome.KEEP
    assert decide(sample(JOB), known, _options(RECOVERS), START).outcome is Outcome.RESCALE


def test_one_step_up_is_enough_to_count() -> None:
    """A vertex within its band is not changed by one for another one's sake, but for the agreement it is."""
    found = _decided(RECOVERS, {"source": 1.8}, downtime=_learnt(140))

    assert _wanted(found)[1] == 5


def test_a_shrink_that_costs_more_than_it_saves_is_not_made() -> None:
    """8 subtasks stand still for up to 1,000 s; two fewer save 7,200 subtask-seconds in an hour."""
    found = _decided(NOTHING, {"source": 0.75, "sink": 0.75}, downtime=_learnt(1_000))

    assert (found.outcome, found.reason) == (Outcome.KEEP, Reason.NOT_WORTH_RESTART)
    assert "costs 8000 subtask-seconds, shrinking saves 7200 within 1 h" in found.message
    assert _decided(NOTHING, {"source": 0.75, "sink": 0.75}, downtime=_learnt(800)).outcome is Outcome.RESCALE


def test_one_rescale_that_took_hours_does_not_end_all_shrinking() -> None:
    """Nothing better would ever be learnt: the price reckons with no more than a restart may count as."""
    hours, limit = _learnt(36_000), timedelta(minutes=10)
    found = _decided(NOTHING, {"source": 0.75, "sink": 0.75}, downtime=hours, restart_time_tracking_limit=limit)

    assert found.outcome is Outcome.RESCALE
    assert found.price is not None
    assert found.price.downtime_s == 600


def test_what_is_predicted_counts_for_more_than_the_longest_restart() -> None:
    """One slow restart long ago does not keep a job large that is quick by now."""
    slow = ScalingRecord(decision_id="d", at=START, before={}, after={}, restart=timedelta(seconds=1_000))
    state = JobState(history=(slow,))
    smaller = {"source": 0.75, "sink": 0.75}

    assert _decided(NOTHING, smaller, state=state).reason is Reason.NOT_WORTH_RESTART
    assert _decided(NOTHING, smaller, state=state, downtime=_learnt(100)).outcome is Outcome.RESCALE


def test_an_agreement_is_held_against_the_tracked_restarts() -> None:
    """As the load is: the last restart took 200 s, `restart.time` says 60 s. Whoever does not track goes by that."""
    slow = ScalingRecord(decision_id="d", at=START, before={}, after={}, restart=timedelta(seconds=200))

    tracked, untracked = (
        _decided(RECOVERS, lag=30_000, state=JobState(history=(slow,)), restart_time_tracking_enabled=enabled)
        for enabled in (True, False)
    )

    assert tracked.forecast is not None
    assert tracked.forecast.downtime.high == timedelta(seconds=200)
    assert "the longest tracked restart" in explain(tracked)[3]
    assert untracked.forecast is not None
    assert untracked.forecast.downtime.high == timedelta(seconds=60)


def test_growth_that_only_goes_along_counts_against_what_is_saved() -> None:
    """One subtask goes and two come, and nobody needs those: that is no saving at all, where something is owed."""
    known = evaluated(JOB, {"source": 0.75, "sink": 1.5})
    sink = known.vertices[VertexId("sink")]
    rates = {**sink.metrics, ScalingMetric.TARGET_DATA_RATE: 280.0}
    known = replace(known, vertices={**known.vertices, VertexId("sink"): replace(sink, metrics=rates, outside=False)})

    found = decide(sample(JOB), known, _options(RECOVERS), START)

    assert (found.outcome, found.reason) == (Outcome.KEEP, Reason.NOT_WORTH_RESTART)
    assert decide(sample(JOB), known, _options(NOTHING), START).outcome is Outcome.RESCALE


def test_it_is_explained_in_numbers() -> None:
    """What is predicted and from what, what is agreed, what it costs and saves."""
    lines = explain(_decided(RECOVERS, {"source": 0.5, "sink": 0.5}, downtime=_learnt(40)))

    assert lines[3:6] == (
        "  a rescale stops the job for 20 s, 10 s to 40 s in 9 of 10 cases (12 rescales of this job)",
        "  agreement kept: stopped for up to 40 s, then 40 s behind, level again within 93 s (5 min agreed)",
        "  price: a restart of 40 s costs 320 subtask-seconds, shrinking saves 14400 within 1 h",
    )


@pytest.mark.parametrize("forbids", [{"scaling_enabled": False}, {"excluded_periods": ("00:00-23:59",)}])
def test_a_rescale_that_is_only_advised_keeps_no_agreement(forbids: dict[str, Any]) -> None:
    """It would be level again in 278 s; as nobody makes it, the job takes 833 s."""
    found = _decided(RECOVERS, lag=100_000, **forbids)

    assert found.outcome is Outcome.RESCALE
    assert not found.is_made
    assert _at_risk(found).message == "6 min behind, level again within 13.9 min (5 min agreed)"


def test_never_level_again_breaks_whatever_is_agreed() -> None:
    """Nothing waits yet, but 420/s come in, 400/s go out, and it may not grow: it falls behind for ever."""
    known = evaluated(JOB, {})
    source = known.vertices[VertexId("source")]
    source = replace(source, metrics={**source.metrics, ScalingMetric.TARGET_DATA_RATE: 420.0, ScalingMetric.LAG: 0.0})
    known = replace(known, vertices={**known.vertices, VertexId("source"): source})

    found = decide(sample(JOB), known, _options(FRESH, max_parallelism=4), START)

    assert found.outcome is Outcome.KEEP
    assert _at_risk(found).message == "0 s behind (2 min agreed), never level again"


def test_what_no_source_tells_is_not_taken_for_kept() -> None:
    """Without a lag nobody knows how far behind it is; a downtime that is too long by itself breaks all the same."""
    known = evaluated(JOB, {})
    grows = evaluated(JOB, {"source": 1.6, "sink": 1.6})

    quiet = decide(sample(JOB), known, _options(FRESH), START)
    broken = decide(sample(JOB), replace(grows, downtime=_learnt(180)), _options(FRESH), START)

    assert "agreement uncertain: lag unknown, at least 0 s behind (2 min agreed)" in explain(quiet)[4]
    assert "agreement broken: lag unknown, stopped for up to 3 min, then at least 3 min" in explain(broken)[4]


def test_the_lag_of_a_finished_source_tells_nothing() -> None:
    """Of two sources one is done, with nothing left; the other one does not tell."""
    done = Vertex(id=A, name="a", parallelism=4, max_parallelism=8, finished=True)
    graph = Topology(vertices=(done, Vertex(id=B, name="b", parallelism=4, max_parallelism=8)))
    known = evaluated(graph, {})
    first = known.vertices[A]
    told = replace(first, metrics={**first.metrics, ScalingMetric.LAG: 0.0})

    found = decide(sample(graph), replace(known, vertices={**known.vertices, A: told}), _options(FRESH), START)

    assert found.forecast is not None
    assert not found.forecast.lag_known


def test_an_equal_exchange_takes_nothing_more() -> None:
    """One goes and one comes: no `-0` for people."""
    even = Price(downtime_s=10, cost_s=80, saved_s=0.0, horizon=timedelta(hours=1))
    assert "growing takes 0 more" in told(even)


def test_a_job_in_danger_is_never_taken_for_balanced() -> None:
    """The numbers of one vertex alone do not tell, so the short way is not open to any job that owes something."""
    assert shape_of(JOB, _options(NOTHING)).settled
    assert not shape_of(JOB, _options(RECOVERS)).settled
    assert not shape_of(JOB, _options(FRESH)).settled
