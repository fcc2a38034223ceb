"""What the suites ask plugins about: a plain job, `source -> work -> sink`, watched for five minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Topology
from headgate.ports import Change, CollectedMetrics
from headgate.testing.builders import ORDERS, START, at, chain, evaluated, sample

SOURCE, WORK, SINK = VertexId("source"), VertexId("work"), VertexId("sink")
TICK_S, TICKS = 10, 31
NOW = at(TICK_S * (TICKS - 1))
OTHER = JobKey("prod", "other")
_BUSY: Mapping[VertexId, float] = {SOURCE: 0.3, WORK: 0.9, SINK: 0.1}


def topology(work: int = 2) -> Topology:
    """Give the graph, with so many subtasks of `work`."""
    return chain({SOURCE: 1, WORK: work, SINK: 1})


def watched(*, rate: float = 400.0, job: JobKey = ORDERS) -> CollectedMetrics:
    """Give five minutes of a job at so many records/s, without lag and without a restart."""
    samples = tuple(_tick(number * TICK_S, rate, job) for number in range(TICKS))
    return CollectedMetrics(topology=topology(), samples=samples)


def just_started() -> CollectedMetrics:
    """Give a job that was looked at once."""
    full = watched()
    return replace(full, samples=full.samples[-1:])


def unmeasured() -> CollectedMetrics:
    """Give a job that is there, and of which nothing was ever measured."""
    last = watched().samples[-1]
    return CollectedMetrics(topology=last.topology, samples=(replace(last, vertices={}, values={}),))


def healthy(factors: Mapping[str, float] | None = None) -> EvaluatedMetrics:
    """Give the job's evaluated metrics: balanced, but for the factors."""
    return evaluated(topology(), factors or {})


def rescale() -> tuple[Decision, Change]:
    """Give a decision to let `work` grow from 2 to 4, and the change that it makes."""
    graph = topology()
    grown = replace(graph.by_id[WORK].unchanged, wanted=4, outside=True)
    proposals = tuple(grown if vertex.id == WORK else vertex.unchanged for vertex in graph.vertices)
    decision = Decision(
        id="d1",
        job=ORDERS,
        at=NOW,
        outcome=Outcome.RESCALE,
        reason=Reason.RESCALED,
        message="work 2 -> 4",
        fingerprint=graph.fingerprint,
        proposals=proposals,
        evaluated=healthy({WORK: 2.0}),
        acts=True,
    )
    return decision, Change(parallelism={WORK: 4})


def _tick(second: int, rate: float, job: JobKey) -> JobSample:
    graph = topology()
    plain = sample(graph, job=job, tick=at(second), running_since=START - timedelta(hours=1))
    vertices = {vertex: _vertex(vertex, graph.parallelism[vertex], second, rate) for vertex in graph.by_id}
    settings = EngineSettings(checkpoint_interval_s=10.0, metric_refresh_s=TICK_S)
    return replace(plain, vertices=vertices, settings=settings, values={JobMeasure.HEAP_MAX_USAGE_RATIO: 0.5})


def _vertex(vertex: VertexId, parallelism: int, second: int, rate: float) -> VertexSample:
    busy = _BUSY[vertex]
    values = {
        Measure.NUM_RECORDS_IN: rate * second,
        Measure.NUM_RECORDS_OUT: 0.0 if vertex == SINK else rate * second,
        Measure.ACCUMULATED_BUSY_TIME: busy * second * 1000 * parallelism,
        Measure.ACCUMULATED_IDLE_TIME: (1 - busy) * second * 1000 * parallelism,
    }
    lag = {Measure.LAG: 0.0} if vertex == SOURCE else {}
    return VertexSample(measured_at=at(second), values={**values, **lag})
