"""Decisions of whole jobs, with their reasons."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from headgate.algorithm.decide import decide, decision_id
from headgate.algorithm.propose import propose
from headgate.model.decision import Outcome, Proposal
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import JobMetric, JobValue, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.state import JobState, ScalingRecord
from headgate.model.topology import ShipStrategy, Topology
from headgate.options.autoscaler import AutoscalerOptions, LegacyAdjustMode
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS, START, chain, evaluated, sample

PLAIN = AutoscalerOptions(alignment_mode="OFF", scale_down_interval=timedelta())
"""Nothing is aligned, nothing waits."""


def _altered(topology: Topology, name: str, **changes: object) -> Topology:
    vertices = tuple(replace(v, **changes) if v.name == name else v for v in topology.vertices)  # type: ignore[arg-type]
    return replace(topology, vertices=vertices)


def test_a_slow_vertex_is_scaled_up() -> None:
    """The message has the numbers that mattered; the other vertex stays; nothing is carried out yet."""
    topology = chain({"in": 2, "agg": 1})

    decision = decide(sample(topology), evaluated(topology, {"agg": 3.46}), PLAIN, START)

    assert (decision.outcome, decision.reason) == (Outcome.RESCALE, Reason.UTILIZATION_TARGET)
    assert decision.targets == {"in": 2, "agg": 4}
    assert decision.message == "agg: 100/s true rate, needs 346/s (target 242/s at 0.70), 1 -> 4"
    assert decision.fingerprint == topology.fingerprint
    assert not decision.acts


def test_lag_and_restart_are_named_where_they_count() -> None:
    """What is needed beyond the target is told apart."""
    topology = chain({"agg": 1})
    metrics = evaluated(topology, {"agg": 2.0})
    agg = replace(metrics.vertices[VertexId("agg")], needed_capacity=320.0, factor=3.2)

    decision = decide(sample(topology), replace(metrics, vertices={VertexId("agg"): agg}), PLAIN, START)

    assert "needs 320/s (target 140/s at 0.70 plus 120/s for lag and restart), 1 -> 4" in decision.message


def test_a_balanced_job_is_kept() -> None:
    """Every vertex runs at what it wants."""
    topology = chain({"in": 2, "agg": 3})

    decision = decide(sample(topology), evaluated(topology, {}), PLAIN, START)

    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.BALANCED)
    assert not decision.changes


def test_a_wish_within_the_band_is_not_enough() -> None:
    """A rescale needs a vertex outside its band; the wish is told all the same."""
    topology = chain({"in": 2, "agg": 10})
    metrics = evaluated(topology, {"agg": 1.1})
    within = {vertex: replace(known, outside=False) for vertex, known in metrics.vertices.items()}

    decision = decide(sample(topology), replace(metrics, vertices=within), PLAIN, START)

    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.WITHIN_BAND)
    assert "agg 10 -> 11" in decision.message


def test_an_outside_vertex_that_cannot_change_is_no_cause() -> None:
    """The source is outside its band but at its partitions; the other one's wish within the band stays a wish."""
    topology = _altered(chain({"in": 2, "agg": 10}), "in", partitions=2)
    metrics = evaluated(topology, {"in": 5.0, "agg": 1.1})
    agg = replace(metrics.vertices[VertexId("agg")], outside=False)
    known = replace(metrics, vertices={**metrics.vertices, VertexId("agg"): agg})

    assert decide(sample(topology), known, PLAIN, START).reason is Reason.WITHIN_BAND


def test_one_cause_changes_all_that_would() -> None:
    """Once a vertex is outside its band, the others move too."""
    topology = chain({"in": 10, "agg": 10})
    metrics = evaluated(topology, {"in": 1.2, "agg": 2.0})
    known = {**metrics.vertices, VertexId("in"): replace(metrics.vertices[VertexId("in")], outside=False)}

    decision = decide(sample(topology), replace(metrics, vertices=known), PLAIN, START)

    assert {vertex: proposal.wanted for vertex, proposal in decision.changes.items()} == {"in": 12, "agg": 20}


def test_many_causes_are_counted() -> None:
    """Three vertices are named, the rest is a number."""
    topology = chain({f"v{i}": 1 for i in range(5)})

    message = decide(sample(topology), evaluated(topology, {f"v{i}": 2.0 for i in range(5)}), PLAIN, START).message

    assert message.count("true rate") == 3
    assert message.endswith("; and 2 more")


@pytest.mark.parametrize("change", ["finished", "excluded"])
def test_finished_and_excluded_vertices_never_change(change: str) -> None:
    """They keep their parallelism whatever their numbers say, and are no cause for others."""
    topology = _altered(chain({"in": 4, "agg": 4}), "agg", finished=change == "finished")
    options = AutoscalerOptions(vertex_exclude_ids=("agg",) if change == "excluded" else ())

    decision = decide(sample(topology), evaluated(topology, {"agg": 3.0}), options, START)

    assert decision.reason is Reason.LIMITED
    assert decision.proposals[1].steps[-1].reason is Reason.EXCLUDED


@pytest.mark.parametrize(("parity", "wanted"), [(Parity.CURRENT, [4, 8]), (Parity.REFERENCE, [2, 8])])
def test_nothing_shrinks_in_a_backlog(parity: Parity, wanted: list[int]) -> None:
    """Another vertex's growth does not take this one's subtasks away, as it does in the reference."""
    topology = chain({"in": 4, "agg": 4})
    options = replace(PLAIN, parity=parity)

    proposals = propose(topology, evaluated(topology, {"in": 0.5, "agg": 2.0}, backlog=True), options, START)

    assert [proposal.wanted for proposal in proposals] == wanted


def test_one_step_within_the_band_is_not_made_because_another_vertex_changes() -> None:
    """The reference makes it: one vertex outside its band moves all that differ at all."""
    topology = chain({"in": 10, "agg": 10})
    metrics = evaluated(topology, {"in": 1.1, "agg": 2.0})
    calm = replace(metrics.vertices[VertexId("in")], outside=False)
    known = replace(metrics, vertices={**metrics.vertices, VertexId("in"): calm})

    assert decide(sample(topology), known, PLAIN, START).targets == {"in": 10, "agg": 20}
    theirs = replace(PLAIN, parity=Parity.REFERENCE)
    assert decide(sample(topology), known, theirs, START).targets == {"in": 11, "agg": 20}


def test_memory_pressure_keeps_everything() -> None:
    """What a starving job measures says nothing; even the wishes to shrink stay as they are."""
    topology = chain({"in": 2, "agg": 1})
    job = {JobMetric.GC_PRESSURE: JobValue(current=0.9)}
    metrics = replace(evaluated(topology, {"agg": 4.0}), job=job)

    decision = decide(sample(topology), metrics, replace(PLAIN, gc_pressure_threshold=0.5), START)

    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.MEMORY_PRESSURE)
    assert [notice.reason for notice in decision.notices] == [EventReason.MEMORY_PRESSURE]
    assert (decision.proposals, decision.delayed) == ((), None)
    assert decide(sample(topology), metrics, PLAIN, START).outcome is Outcome.RESCALE


def test_a_wish_to_shrink_is_handed_on_although_nothing_changes() -> None:
    """The decision of this cycle carries what the next ones have to know; a vertex that grows has no wish."""
    topology = chain({"in": 10, "agg": 10})
    options = replace(PLAIN, scale_down_interval=timedelta(hours=1))

    decision = decide(sample(topology), evaluated(topology, {"in": 0.5}), options, START)

    assert decision.reason is Reason.LIMITED
    assert decision.delayed is not None
    assert [(vertex, pending.first_at) for vertex, pending in decision.delayed.items()] == [("in", START)]


def test_what_a_policy_noticed_stands_in_the_decision() -> None:
    """Alignment of the older kind stops the source, and the decision tells so although nothing changes."""
    topology = _altered(chain({"in": 4}), "in", partitions=7)
    options = AutoscalerOptions(legacy_adjust_mode=LegacyAdjustMode.EVENLY_SPREAD, max_parallelism=5)

    decision = decide(sample(topology), evaluated(topology, {"in": 2.0}), options, START)

    assert decision.outcome is Outcome.KEEP
    assert [notice.reason for notice in decision.notices] == [EventReason.SCALING_LIMITED]


def test_the_past_of_a_vertex_is_its_own() -> None:
    """`in` grew in vain and grows no more; `agg`, of which nothing is known, does."""
    topology = chain({"in": 4, "agg": 4})
    grew = ScalingRecord(
        decision_id="d",
        at=START,
        before={VertexId("in"): 2},
        after={VertexId("in"): 4},
        metrics={
            VertexId("in"): {
                ScalingMetric.TRUE_PROCESSING_RATE: 400.0,
                ScalingMetric.EXPECTED_PROCESSING_RATE: 800.0,
            }
        },
    )
    options = replace(PLAIN, effectiveness_detection_enabled=True)

    decision = decide(
        sample(topology), evaluated(topology, {"in": 2.0, "agg": 2.0}), options, START, JobState(history=(grew,))
    )

    assert decision.targets == {"in": 4, "agg": 8}


def test_partitions_hold_whatever_the_user_allows() -> None:
    """A source with 6 partitions and at least 10 subtasks asked for runs 6."""
    topology = _altered(chain({"in": 12}), "in", partitions=6)
    options = replace(PLAIN, min_parallelism=10)

    proposal = propose(topology, evaluated(topology, {"in": 0.1}), options, START)[0]

    assert proposal.wanted == 6
    assert [step.reason for step in proposal.steps] == [
        Reason.UTILIZATION_TARGET,
        Reason.SCALE_DOWN_FACTOR,
        Reason.MIN_PARALLELISM,
        Reason.PARTITIONS,
    ]


def test_a_vertex_without_metrics_keeps_its_parallelism() -> None:
    """A vertex that evaluation did not know is proposed as it runs."""
    topology = chain({"in": 4, "new": 3})
    known = evaluated(chain({"in": 4}), {"in": 2.0})

    assert [proposal.wanted for proposal in propose(topology, known, PLAIN, START)] == [8, 3]


def test_an_unlimited_need_is_limited() -> None:
    """An infinite factor ends at the user's upper bound."""
    topology = chain({"in": 4}, max_parallelism=1000)
    infinite = VertexMetrics(metrics={}, needed_capacity=10.0, factor=math.inf, outside=True)
    known = replace(evaluated(topology, {}), vertices={VertexId("in"): infinite})

    assert propose(topology, known, PLAIN, START)[0].wanted == 200


def test_not_ready_passes_through() -> None:
    """A job that could not be evaluated keeps its reason and its sentence, and proposes nothing."""
    why = NotReady(reason=Reason.WINDOW_FILLING, message="half of the window is there")

    decision = decide(sample(chain({"in": 1})), why, PLAIN, START)

    assert (decision.outcome, decision.reason, decision.message) == (Outcome.NOT_READY, why.reason, why.message)
    assert decision.proposals == ()


def test_the_id_is_that_of_the_decision() -> None:
    """Job, instant and what is wanted make it, in whatever order or time zone they come."""
    wanted = [Proposal(vertex=VertexId(name), name=name, current=1, wanted=2) for name in ("a", "b")]
    known = decision_id(ORDERS, START, wanted)

    assert decision_id(ORDERS, START.astimezone(timezone(timedelta(hours=2))), reversed(wanted)) == known
    assert decision_id(JobKey("prod", "other"), START, wanted) != known
    assert decision_id(ORDERS, START + timedelta(seconds=1), wanted) != known
    assert decision_id(ORDERS, START, [wanted[0], replace(wanted[1], wanted=3)]) != known


AGG = VertexId("agg")


def _grew_in_vain() -> ScalingRecord:
    metrics = {ScalingMetric.TRUE_PROCESSING_RATE: 400.0, ScalingMetric.EXPECTED_PROCESSING_RATE: 800.0}
    return ScalingRecord(decision_id="d", at=START, before={AGG: 2}, after={AGG: 4}, metrics={AGG: metrics})


def test_a_growth_that_is_too_old_stops_nothing() -> None:
    """After history.max.age (24 h) the vertex may try again, as in the reference."""
    topology = chain({"agg": 4})
    options = AutoscalerOptions(alignment_mode="OFF", effectiveness_detection_enabled=True)
    state = JobState(history=(_grew_in_vain(),))

    decision = decide(sample(topology), evaluated(topology, {"agg": 2.0}), options, START + timedelta(days=30), state)

    assert decision.outcome is Outcome.RESCALE


def test_no_growth_is_caused_by_a_vertex_that_is_too_large() -> None:
    """The source is within its band (no cause), the map wants to shrink and must not: nothing is to be changed."""
    graph = chain({"source": 4, "map": 4})
    graph = replace(graph, edges=tuple(replace(edge, ship_strategy=ShipStrategy.FORWARD) for edge in graph.edges))
    options = AutoscalerOptions(alignment_mode="OFF", scale_down_interval=timedelta())
    metrics = evaluated(graph, {"source": 1.5, "map": 0.5})
    source = replace(metrics.vertices[VertexId("source")], outside=False)
    metrics = replace(metrics, vertices={**metrics.vertices, VertexId("source"): source})

    decision = decide(sample(graph), metrics, options, START)

    assert decision.outcome is Outcome.KEEP, decision.message


def test_a_source_above_its_partitions_shrinks_like_any_other() -> None:
    """Not in a backlog, and not at once: only growth beyond the partitions is never asked for."""
    topology = _altered(chain({"in": 100, "agg": 10}), "in", partitions=15)
    waiting = AutoscalerOptions(alignment_mode="OFF")

    behind = propose(topology, evaluated(topology, {"agg": 2.0}, backlog=True), PLAIN, START)
    patient = propose(topology, evaluated(topology, {"agg": 2.0}), waiting, START)
    now = propose(topology, evaluated(topology, {"agg": 2.0}), PLAIN, START)

    assert [proposals[0].wanted for proposals in (behind, patient, now)] == [100, 100, 15]
    assert patient[0].delayed is not None


def test_a_utilization_target_of_zero_is_an_infinite_need() -> None:
    """The reference takes it, so nobody may fall over it."""
    topology = chain({"agg": 2})
    known = evaluated(topology, {"agg": math.inf})

    assert decide(sample(topology), known, replace(PLAIN, utilization_target=0.0), START).outcome is Outcome.RESCALE
