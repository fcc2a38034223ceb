"""A simulated Spark application under Headgate's evaluation and decisions, every cycle of them, in simulated time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from headgate.agent.settings import read_settings
from headgate.algorithm.alignment import OwnAlignment, Span
from headgate.algorithm.decide import decide
from headgate.algorithm.micro_batch.evaluate import evaluate
from headgate.algorithm.propose import UNKNOWN
from headgate.algorithm.readiness import Span as Seen
from headgate.algorithm.readiness import pace, readiness
from headgate.algorithm.rules import HEADGATE
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.model.state import UNSEEN
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import PREFIX
from headgate.plugins.alignment import Waves
from headgate.ports import AlignmentQuestion
from headgate.testing.builders import at
from headgate.testing.micro_batching import SimulatedApplication

COLLECT_S, DECIDE_S = 2.0, 4.0
"""The cadences of an agent."""


def spark_options(settings: Mapping[str, str] | None = None) -> AutoscalerOptions:
    """Give the options of a Spark application as they are unless told otherwise; keys without their prefix."""
    return read_settings({}, {PREFIX + key: text for key, text in (settings or {}).items()}).options.autoscaler


def life(application: SimulatedApplication, options: AutoscalerOptions, *, until_s: float) -> Iterator[Decision]:
    """
    Let an application live under control.

    Yields:
        each decision, after it was carried out.
    """
    samples: list[JobSample] = []
    state = UNSEEN
    while application.now_s < until_s:
        while application.now_s % DECIDE_S or not samples or samples[-1].at < at(application.now_s):
            application.advance(application.now_s + COLLECT_S)
            samples.append(application.sample())
        now = at(application.now_s)
        answer = _answer(samples, options, now)
        decision = decide(samples[-1], answer, options, now, state, align=by_waves(answer))
        if decision.delayed is not None:
            state = replace(state, delayed=decision.delayed)
        if decision.outcome is Outcome.RESCALE and application.cores == application.wanted:
            application.request(max(proposal.wanted for proposal in decision.proposals))
        yield decision
        application.advance(application.now_s + COLLECT_S)
        samples.append(application.sample())


def by_waves(answer: EvaluatedMetrics | NotReady) -> OwnAlignment | None:
    """Give the alignment mode `WAVES` as control does; None where there are no metrics to go by."""
    if isinstance(answer, NotReady):
        return None
    mode = Waves()

    def own(vertex: Vertex, target: int, span: Span) -> int | None:
        question = AlignmentQuestion(
            vertex=vertex,
            target=target,
            lower=span.lower,
            upper=span.most,
            inputs=(),
            metrics=answer.vertices.get(vertex.id, UNKNOWN),
        )
        return mode.align(question) if mode.is_applicable(question) else None

    return own


def _answer(samples: Sequence[JobSample], options: AutoscalerOptions, now: datetime) -> EvaluatedMetrics | NotReady:
    latest = samples[-1]
    begin = max(now - options.metrics_window, latest.running_since + options.stabilization_interval)
    window = [replace(sample, topology=latest.topology) for sample in samples if sample.at >= begin]
    cadence = pace(timedelta(seconds=COLLECT_S), latest.settings.metric_refresh_s, HEADGATE)
    unready = readiness(latest, options, spans=_spans(window), pace=cadence, now=now)
    return unready or evaluate(latest.topology, window, options)


def _spans(window: Sequence[JobSample]) -> Mapping[VertexId, Seen]:
    ticks: dict[VertexId, list[datetime]] = {}
    for sample in window:
        for vertex in sample.vertices:
            ticks.setdefault(vertex, []).append(sample.at)
    return {vertex: Seen(samples=len(when), first_at=when[0], last_at=when[-1]) for vertex, when in ticks.items()}
