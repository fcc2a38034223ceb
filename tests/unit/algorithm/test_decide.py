"""Decisions of whole jobs, with their reasons."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from headgate.algorithm.decide import decide, decision_id, propose
from headgate.model.decision import Outcome
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import NotReady, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
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

    assert decision.reason is Reason.BALANCED
    assert decision.proposals[1].steps[-1].reason is Reason.EXCLUDED


def test_nothing_shrinks_in_a_backlog() -> None:
    """Another vertex's growth does not take this one's subtasks away."""
    topology = chain({"in": 4, "agg": 4})

    proposals = propose(topology, evaluated(topology, {"in": 0.5, "agg": 2.0}, backlog=True), PLAIN, START)

    assert [proposal.wanted for proposal in proposals] == [4, 8]


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
    """Job, instant and targets make it, in whatever order or time zone they come."""
    targets = {VertexId("a"): 1, VertexId("b"): 2}
    known = decision_id(ORDERS, START, targets)

    assert decision_id(ORDERS, START.astimezone(timezone(timedelta(hours=2))), dict(reversed(targets.items()))) == known
    assert decision_id(JobKey("prod", "other"), START, targets) != known
    assert decision_id(ORDERS, START + timedelta(seconds=1), targets) != known
    assert decision_id(ORDERS, START, {**targets, VertexId("b"): 3}) != known
