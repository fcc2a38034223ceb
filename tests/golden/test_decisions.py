"""
Factor to parallelism, one vertex and whole jobs against the reference's cases, as far as the rules are built.

Left out until then: alignment where it would move the number, the scale-down delay, history, memory, quotas, periods.
Left out for good: where Headgate never lets a source exceed its partitions and never shrinks in a backlog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from headgate.algorithm.capacity import Demand, band, needed_capacity, outside, scale_factor
from headgate.algorithm.decide import decide, propose
from headgate.algorithm.fleet import tuning
from headgate.algorithm.policies import at_least, at_most, scaled, within_key_groups, within_partitions
from headgate.model.decision import Decision, Proposal
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import PREFIX
from headgate.options.units import parse_duration
from headgate.testing.builders import START, sample
from headgate.testing.golden import Case, read_cases

UNBUILT = ("observed-scalability.enabled", "excluded.periods", "quota.", "scaling.custom-executors")
ADVISORY = PREFIX + "scaling.enabled"
DELAY = PREFIX + "scale-down.interval"
MODE = PREFIX + "scaling.parallelism-alignment.mode"


def runs(case: Case) -> bool:
    """Tell whether the case needs only what is built."""
    return _RUNS[case.area](case)


def _factor_runs(case: Case) -> bool:
    given = case.inputs
    if not given["lower_limit"] <= given["current_parallelism"] <= given["upper_limit"]:
        # limits are always widened to the running parallelism before they are applied
        return False
    return not _moved_by_alignment(_for_factor(case), given, case.config)


def _later_fix_runs(case: Case) -> bool:
    given = case.inputs
    return bool(scaled(given["current_parallelism"], float(given["scale_factor"])) >= given["num_source_partitions"])


def _vertex_runs(case: Case) -> bool:
    given = case.inputs
    found = _for_vertex(case)
    return not (
        given["scaling_history"]
        or _configures_unbuilt(case)
        or _moved_by_alignment(found, given, case.config)
        or (_shrinks(found) and (_delays(case) or given["processing_backlog"]))
    )


def _job_runs(case: Case) -> bool:
    memory = [value for metric in case.inputs["global_metrics"].values() for value in metric.values()]
    if _configures_unbuilt(case) or any(value != "NaN" for value in memory):
        return False
    proposals = _for_job(case).proposals
    if _delays(case) and any(_shrinks(proposal) for proposal in proposals):
        return False
    vertices = case.inputs["vertices"]
    return not any(_moved_by_alignment(found, vertices[found.vertex], case.config) for found in proposals)


_RUNS = {
    "parallelism_for_factor": _factor_runs,
    "alignment_later_fix": _later_fix_runs,
    "vertex_decision": _vertex_runs,
    "job_decision": _job_runs,
}


def _configures_unbuilt(case: Case) -> bool:
    keys = [key.removeprefix(PREFIX) for key in case.config]
    return any(key.startswith(UNBUILT) for key in keys) or not case.config.get(ADVISORY, True)


def _delays(case: Case) -> bool:
    return parse_duration(case.config.get(DELAY, "1h")) > timedelta()


def _shrinks(proposal: Proposal) -> bool:
    return proposal.wanted < proposal.current


def _moved_by_alignment(found: Proposal, given: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """
    Tell whether aligning would change a number, or the partitions already did.

    Alignment tries the number itself first, so one that divides the key groups or partitions evenly stays.
    """
    if any(step.reason is Reason.PARTITIONS for step in found.steps):
        return True
    partitions = given.get("num_source_partitions", 0)
    strategies = given.get("input_ship_strategies", list(given.get("inputs", {}).values()))
    aligned = partitions > 0 or "HASH" in strategies
    if config.get(MODE) == "OFF" or not aligned or not found.changes:
        return False
    return bool((partitions or given["max_parallelism"]) % found.wanted)


def _for_factor(case: Case) -> Proposal:
    given = case.inputs
    current = given["current_parallelism"]
    raw = Proposal(
        vertex=VertexId("v"), name="v", current=current, wanted=scaled(current, float(given["scale_factor"]))
    )
    limits = (
        at_least(given["lower_limit"]),
        at_most(given["upper_limit"]),
        within_key_groups(given["max_parallelism"]),
        within_partitions(given["num_source_partitions"]),
    )
    return reduce(lambda proposal, policy: policy(proposal), limits, raw)


def _for_vertex(case: Case) -> Proposal:
    vertex = _vertex("v", case.inputs)
    metrics = _metrics(case.inputs, _options(case), backlog=case.inputs["processing_backlog"])
    evaluated = EvaluatedMetrics(vertices={vertex.id: metrics}, backlog=False, coverage=1.0, samples=2)
    return propose(Topology(vertices=(vertex,)), evaluated, case.options)[0]


def _for_job(case: Case) -> Decision:
    given = case.inputs["vertices"]
    topology = Topology(
        vertices=tuple(_vertex(name, vertex) for name, vertex in given.items()),
        edges=tuple(
            Edge(source=VertexId(source), target=VertexId(name), ship_strategy=ShipStrategy.of(strategy))
            for name, vertex in given.items()
            for source, strategy in vertex["inputs"].items()
        ),
    )
    metrics = {VertexId(name): _metrics(vertex, _options(case), backlog=False) for name, vertex in given.items()}
    evaluated = EvaluatedMetrics(vertices=metrics, backlog=False, coverage=1.0, samples=2)
    return decide(sample(topology), evaluated, case.options, START)


def _options(case: Case) -> AutoscalerOptions:
    return replace(case.options, restart_time=parse_duration(case.inputs["restart_time"]))


def _vertex(name: str, given: Mapping[str, Any]) -> Vertex:
    return Vertex(
        id=VertexId(name),
        name=name,
        parallelism=given["current_parallelism"],
        max_parallelism=given["max_parallelism"],
        partitions=given["num_source_partitions"] or None,
    )


def _metrics(given: Mapping[str, Any], options: AutoscalerOptions, *, backlog: bool) -> VertexMetrics:
    rates = [float(given[name]) for name in ("target_data_rate", "catch_up_data_rate", "true_processing_rate")]
    target, catch_up, true_rate = (np.array([rate]) for rate in rates)
    tuned = tuning([(options, 1)])
    demand = Demand(target=target, catch_up=catch_up)
    needed = needed_capacity(demand, tuned)
    factor = scale_factor(needed, true_rate)
    beyond = outside(true_rate, band(demand, tuned, np.array([backlog])))
    return VertexMetrics(
        metrics={ScalingMetric.TARGET_DATA_RATE: rates[0], ScalingMetric.TRUE_PROCESSING_RATE: rates[2]},
        needed_capacity=None if np.isnan(needed[0]) else float(needed[0]),
        factor=None if np.isnan(factor[0]) else float(factor[0]),
        outside=bool(beyond[0]),
    )


def test_parallelism_for_factor(case: Case) -> None:
    """A scale factor becomes a parallelism within the limits."""
    assert _for_factor(case).wanted == case.expected["parallelism"]


def test_alignment_later_fix(case: Case) -> None:
    """A source never runs above its partitions."""
    assert _for_factor(case).wanted == case.expected["parallelism"]


def test_vertex_decision(case: Case) -> None:
    """The rates of a vertex become its parallelism, and tell whether it gives the job cause to change."""
    found = _for_vertex(case)

    assert found.wanted == case.expected["new_parallelism"]
    assert case.expected["outside_utilization_bound"] in {None, found.outside}


def test_job_decision(case: Case) -> None:
    """All vertices that would change do, once one of them lies outside its band."""
    assert {str(vertex): p.wanted for vertex, p in _for_job(case).changes.items()} == case.expected["scaled"]


def test_no_case_drops_out_unnoticed() -> None:
    """A wrong number must not look like one that alignment would move: so many of the repository's cases run."""
    known = read_cases(Path(__file__).with_name("golden_cases.json"))

    assert Counter(case.area for case in known if case.area in _RUNS and runs(case)) == {
        "parallelism_for_factor": 11,
        "alignment_later_fix": 2,
        "vertex_decision": 13,
        "job_decision": 12,
    }
