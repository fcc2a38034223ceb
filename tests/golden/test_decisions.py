"""Factor to parallelism, one vertex once and again, and whole jobs against the reference's cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from headgate.algorithm.capacity import Demand, band, needed_capacity, outside, scale_factor
from headgate.algorithm.decide import decide
from headgate.algorithm.fleet import tuning
from headgate.algorithm.policies import Limits
from headgate.algorithm.propose import Situation, applied, chain, propose
from headgate.model.decision import Decision, Notice, Proposal
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue, ScalingMetric, VertexMetrics
from headgate.model.state import DelayedScaleDown, JobState, ScalingRecord, Wish
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import PREFIX
from headgate.options.deviations import Deviation
from headgate.options.units import parse_duration
from headgate.testing.builders import sample
from headgate.testing.golden import Case

V = VertexId("v")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_LIMIT = 2**31 - 1
UNBOUNDED = {
    PREFIX + "scale-up.max-factor": NO_LIMIT,
    PREFIX + "scale-down.max-factor": 1.0,
    PREFIX + "scale-down.interval": "0s",
}


def _at(milliseconds: float) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def _graph(given: Mapping[str, Any], parallelism: int) -> Topology:
    """Build the vertex, with a source in front of it for each of its inputs."""
    vertex = Vertex(
        id=V,
        name="v",
        parallelism=parallelism,
        max_parallelism=given["max_parallelism"],
        partitions=given["num_source_partitions"] or None,
    )
    inputs = [VertexId(f"input-{number}") for number in range(len(given["input_ship_strategies"]))]
    return Topology(
        vertices=(vertex, *(Vertex(id=name, name=name, parallelism=1, max_parallelism=1) for name in inputs)),
        edges=tuple(
            Edge(source=name, target=V, ship_strategy=ShipStrategy.of(strategy))
            for name, strategy in zip(inputs, given["input_ship_strategies"], strict=True)
        ),
    )


def _wanted(
    graph: Topology, metrics: VertexMetrics, options: AutoscalerOptions, now: datetime, state: JobState
) -> Proposal:
    evaluated = EvaluatedMetrics(vertices={V: metrics}, backlog=False, coverage=1.0, samples=2)
    return next(found for found in propose(graph, evaluated, options, now, state) if found.vertex == V)


def _for_factor(case: Case) -> Proposal:
    given, graph = case.inputs, _graph(case.inputs, case.inputs["current_parallelism"])
    seen = Situation(
        vertex=graph.by_id[V],
        keyed="HASH" in given["input_ship_strategies"],
        limits=Limits(lower=given["lower_limit"], upper=given["upper_limit"]),
        metrics=VertexMetrics(metrics={}, needed_capacity=1.0, factor=float(given["scale_factor"]), outside=True),
        scalings=(),
        backlog=False,
        now=EPOCH,
    )
    unchanged = next(each for each in graph.unchanged if each.vertex == V)
    return applied(chain(seen, case.options_of({**case.config, **UNBOUNDED})), unchanged)


def _metrics(given: Mapping[str, Any], options: AutoscalerOptions, *, backlog: bool) -> VertexMetrics:
    rates = [float(given.get(name, 0)) for name in ("target_data_rate", "catch_up_data_rate", "true_processing_rate")]
    target, catch_up, true_rate = (np.array([rate]) for rate in rates)
    tuned = tuning([(options, 1)])
    demand = Demand(target=target, catch_up=catch_up)
    needed = needed_capacity(demand, tuned)
    factor = scale_factor(needed, true_rate, exact=tuned.rules[Deviation.EXACT_CAPACITY])
    beyond = outside(true_rate, band(demand, tuned, np.array([backlog])))
    return VertexMetrics(
        metrics={ScalingMetric.TARGET_DATA_RATE: rates[0], ScalingMetric.TRUE_PROCESSING_RATE: rates[2]},
        needed_capacity=None if np.isnan(needed[0]) else float(needed[0]),
        factor=None if np.isnan(factor[0]) else float(factor[0]),
        outside=bool(beyond[0]),
    )


def _options(case: Case) -> AutoscalerOptions:
    return replace(case.options, restart_time=parse_duration(case.inputs["restart_time"]))


def _state(history: Sequence[Mapping[str, Any]], pending: Mapping[str, Any] | None) -> JobState:
    return JobState(
        history=tuple(_record(entry) for entry in history), delayed={V: _delayed(pending)} if pending else {}
    )


def _record(entry: Mapping[str, Any]) -> ScalingRecord:
    names = {
        ScalingMetric.TRUE_PROCESSING_RATE: "true_processing_rate",
        ScalingMetric.EXPECTED_PROCESSING_RATE: "expected_processing_rate",
    }
    return ScalingRecord(
        decision_id="d",
        at=_at(entry["time"]),
        before={V: entry["current_parallelism"]},
        after={V: entry.get("new_parallelism", 0)},
        metrics={V: {metric: float(entry[name]) for metric, name in names.items() if entry.get(name) is not None}},
    )


def _delayed(pending: Mapping[str, Any]) -> DelayedScaleDown:
    wishes = tuple(
        Wish(at=_at(wish["at_ms"]), parallelism=wish["parallelism"], outside=wish["outside_utilization_bound"])
        for wish in pending["recommendations"]
    )
    return DelayedScaleDown(first_at=_at(pending["first_trigger_ms"]), wishes=wishes)


def _for_job(case: Case) -> Decision:
    given = case.inputs["vertices"]
    topology = Topology(
        vertices=tuple(
            Vertex(
                id=VertexId(name),
                name=name,
                parallelism=vertex["current_parallelism"],
                max_parallelism=vertex["max_parallelism"],
                partitions=vertex["num_source_partitions"] or None,
            )
            for name, vertex in given.items()
        ),
        edges=tuple(
            Edge(source=VertexId(source), target=VertexId(name), ship_strategy=ShipStrategy.of(strategy))
            for name, vertex in given.items()
            for source, strategy in vertex["inputs"].items()
        ),
    )
    options = _options(case)
    metrics = {VertexId(name): _metrics(vertex, options, backlog=False) for name, vertex in given.items()}
    job = {JobMetric(name): _job_value(value) for name, value in case.inputs["global_metrics"].items()}
    evaluated = EvaluatedMetrics(vertices=metrics, backlog=False, coverage=1.0, samples=2, job=job)
    return decide(sample(topology), evaluated, options, EPOCH)


def _job_value(given: Mapping[str, Any]) -> JobValue:
    return JobValue(**{name: float(value) for name, value in given.items() if value != "NaN"})


def _short(notices: Sequence[Notice]) -> Mapping[str, str | int | float] | None:
    return next((dict(notice.fields) for notice in notices if notice.reason is EventReason.SCALING_LIMITED), None)


def _told(expected: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what an expected event has in common with a notice."""
    return {"type": expected["type"], "reason": expected["reason"]} | {
        name: value for name, value in expected.items() if name in {"expected_increase", "actual_increase", "blocking"}
    }


def _notice(notice: Notice, like: Mapping[str, Any]) -> Mapping[str, Any]:
    found = {"type": notice.type, "reason": notice.reason, **notice.fields}
    return {name: found[name] for name in like}


def test_parallelism_for_factor(case: Case) -> None:
    """A scale factor becomes a parallelism within the limits, aligned; who is cut short is told."""
    if case.expected.get("error"):
        with pytest.raises(ValueError, match="parallelism"):
            _for_factor(case)
        return
    found = _for_factor(case)

    assert found.wanted == case.expected["parallelism"]
    assert _short(found.notices) == case.expected["scaling_limited_event"]


def test_alignment_later_fix(case: Case) -> None:
    """A source never gets more than its partitions by alignment, as published for the release."""
    assert _for_factor(case).wanted == case.expected["parallelism"]


def test_vertex_decision(case: Case) -> None:
    """The rates and the past of a vertex become its parallelism, and tell whether it gives the job cause to change."""
    given, options = case.inputs, _options(case)
    metrics = _metrics(given, options, backlog=given["processing_backlog"])
    state = _state(given["scaling_history"], given["delayed_scale_down"])

    found = _wanted(_graph(given, given["current_parallelism"]), metrics, options, _at(given["now"]), state)

    _check(found, case.expected)
    likes = [_told(event) for event in case.expected["events"]]
    assert [_notice(notice, like) for notice, like in zip(found.notices, likes, strict=True)] == likes


def test_vertex_decision_sequence(case: Case) -> None:
    """What a vertex wished before counts in what it gets now."""
    given, options = case.inputs, _options(case)
    state = _state((), given["initial_delayed_scale_down"])
    for step, expected in zip(given["steps"], case.expected["steps"], strict=True):
        metrics = _metrics(step, options, backlog=False)
        graph = _graph(given, step["current_parallelism"])
        found = _wanted(graph, metrics, options, _at(step["at_ms"]), state)
        state = replace(state, delayed={V: found.delayed} if found.delayed else {})

        _check(found, expected)


def _check(found: Proposal, expected: Mapping[str, Any]) -> None:
    assert found.wanted == expected["new_parallelism"]
    assert expected["outside_utilization_bound"] in {None, found.outside}
    assert (found.delayed is not None) is expected["pending_scale_down_after"]
    wished = expected["expected_processing_rate"]
    assert found.expected_rate == (None if wished is None else pytest.approx(float(wished), rel=1e-9))


def test_job_decision(case: Case) -> None:
    """All vertices that would change do, once one of them lies outside its band; who is told of what."""
    found = _for_job(case)

    assert {str(vertex): p.wanted for vertex, p in found.changes.items()} == case.expected["scaled"]
    for event in case.expected.get("events", ()):
        assert event["reason"] in {str(notice.reason) for notice in found.notices} | {"ScalingReport"}
