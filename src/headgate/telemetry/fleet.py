"""The series of jobs and of their vertices, drawn from each job's latest decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from prometheus_client import Metric

from headgate.model.decision import Decision
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobMetric, ScalingMetric
from headgate.model.reasons import Reason
from headgate.telemetry import families
from headgate.telemetry.board import Standing
from headgate.telemetry.labels import Labels, of_job

Values = Mapping[ScalingMetric, float]


def jobs(standings: Sequence[Standing]) -> Iterator[Metric]:
    """Give what became of each job, and its job-wide values where it was evaluated."""
    labelled = [(of_job(one.decision.job), one) for one in standings]
    yield families.OUTCOME.of((_outcome(one), 1) for one in standings)
    yield families.OUTCOME_SECONDS.of((labels, _seconds(one, one.since)) for labels, one in labelled)
    yield families.NOT_READY_SECONDS.of((labels, _seconds(one, one.ready_at)) for labels, one in labelled)
    yield from _evaluated([(labels, one.decision.evaluated) for labels, one in labelled if one.decision.evaluated])


def paused(standings: Sequence[Standing]) -> Iterator[tuple[str, int]]:
    """Count the jobs of each cluster that are left alone on order; a cluster with jobs and no such one has 0."""
    found: Counter[str] = Counter()
    for one in standings:
        found[one.decision.job.cluster] += one.decision.reason is Reason.PAUSED
    yield from found.items()


def _outcome(one: Standing) -> Labels:
    return of_job(one.decision.job, outcome=one.decision.outcome, reason=one.decision.reason)


def _seconds(one: Standing, since: datetime) -> float:
    return (one.decision.at - since).total_seconds()


def _evaluated(known: Sequence[tuple[Labels, EvaluatedMetrics]]) -> Iterator[Metric]:
    yield families.BACKLOG.of((labels, job.backlog) for labels, job in known)
    yield families.COVERAGE.of((labels, job.coverage) for labels, job in known)
    yield families.SAMPLES.of((labels, job.samples) for labels, job in known)
    for metric, family in families.JOB_WIDE.items():
        yield family.of((labels, _current(job, metric)) for labels, job in known)
    for metric, family in families.JOB_WIDE_AVERAGE.items():
        yield family.of((labels, _average(job, metric)) for labels, job in known)


def _current(job: EvaluatedMetrics, metric: JobMetric) -> float | None:
    return job.job[metric].current if metric in job.job else None


def _average(job: EvaluatedMetrics, metric: JobMetric) -> float | None:
    return job.job[metric].average if metric in job.job else None


def vertices(standings: Sequence[Standing]) -> Iterator[Metric]:
    """Give the evaluated metrics of each vertex of the graph that the latest decision looked at."""
    rows = [row for one in standings for row in _rows(one)]
    for metric, family in families.VERTEX.items():
        yield family.of((labels, values.get(metric)) for labels, values in rows)


def _rows(one: Standing) -> Iterator[tuple[Labels, Values]]:
    decision = one.decision
    known = _known(decision)
    wanted = _wanted(decision, known)
    for vertex in dict.fromkeys((*wanted, *known)):
        labels = of_job(decision.job, vertex=vertex, vertex_name=one.names.get(vertex, vertex))
        yield labels, {**known.get(vertex, {}), **wanted.get(vertex, {})}


def _known(decision: Decision) -> Mapping[VertexId, Values]:
    # Read once: the evaluated vertices may be made anew, all of them, each time that one is asked for.
    vertices = decision.evaluated.vertices.items() if decision.evaluated else ()
    return {vertex: each.metrics for vertex, each in vertices}


def _wanted(decision: Decision, known: Mapping[VertexId, Values]) -> Mapping[VertexId, Values]:
    """Return what is recommended for each vertex, and what it is expected to do then."""
    wanted: dict[VertexId, dict[ScalingMetric, float]] = {}
    recommended = decision.recommended
    for proposal in decision.proposals:
        shown = replace(proposal, wanted=recommended[proposal.vertex])
        wanted[proposal.vertex] = {ScalingMetric.RECOMMENDED_PARALLELISM: shown.wanted}
        rate = known.get(proposal.vertex, {}).get(ScalingMetric.TRUE_PROCESSING_RATE)
        if rate is not None:
            # As in the history: of the parallelism that is recommended, not of the wish before its limits.
            wanted[proposal.vertex][ScalingMetric.EXPECTED_PROCESSING_RATE] = shown.rate_at_wanted(rate)
    return wanted
