"""
The evaluator of an attached agent: the samples of one application stay in memory, and its own evaluator judges them.

It holds them to the same conditions as `pipeline.selected` does, without the library that the log needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import isfinite
from threading import Lock
from typing import Any, TypeVar

from headgate.algorithm.readiness import Span, pace, readiness
from headgate.algorithm.rules import rules_of
from headgate.errors import PluginError
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import SUBUNIT, JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.reports import plugin_failed
from headgate.plugins.soundness import sound_metrics
from headgate.ports import Candidate, CollectedMetrics, EventHandler

Answer = EvaluatedMetrics | NotReady
M = TypeVar("M", Measure, JobMeasure)

BUILT_IN = "micro-batch"
"""The evaluator where the options name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEvaluator:
    """A `ports.FleetEvaluator` for a few jobs that is its own `ports.SampleSink`; safe to call from several threads."""

    host: PluginHost
    events: EventHandler
    collect_interval: timedelta
    keep: timedelta
    """Age up to which samples are kept; longer where a job was evaluated over a longer window last."""
    _kept: dict[JobKey, tuple[JobSample, ...]] = field(default_factory=lambda: defaultdict(tuple), init=False)
    _windows: dict[JobKey, timedelta] = field(default_factory=dict, init=False)
    _lock: Any = field(default_factory=Lock, init=False)

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Keep the samples of one tick, those of the same tick replaced, and drop what is too old."""
        with self._lock:
            for sample in samples:
                since = sample.at - max(self.keep, self._windows.get(sample.job, self.keep))
                older = (one for one in self._kept[sample.job] if since <= one.at != sample.at)
                self._kept[sample.job] = (*older, _as_logged(sample))

    def evaluate(self, candidates: Sequence[Candidate], now: datetime, /) -> Mapping[JobKey, Answer]:
        """Answer every candidate over its own window."""
        return {candidate.sample.job: self._answer(candidate, now) for candidate in candidates}

    def _answer(self, candidate: Candidate, now: datetime) -> Answer:
        samples = self._window(candidate)
        if unready := self._unready(candidate, samples, now):
            return unready
        options, latest = candidate.options, candidate.sample
        older = tuple(sample for sample in samples if sample.at < latest.at)
        try:
            plugin = self.host.ready(Kind.METRIC_EVALUATOR, options.evaluator or BUILT_IN)
            return _evaluated(plugin, options, CollectedMetrics(topology=latest.topology, samples=(*older, latest)))
        except PluginError as error:
            self.events.handle(plugin_failed(latest.job, error, now, options.scaling_event_interval))
            return NotReady(reason=Reason.PLUGIN_FAILED, message=str(error))

    def _window(self, candidate: Candidate) -> tuple[JobSample, ...]:
        """Give the samples of the window, oldest first, in the graph as it runs now."""
        with self._lock:
            self._windows[candidate.sample.job] = candidate.options.metrics_window
            kept = self._kept[candidate.sample.job]
        latest = candidate.sample
        return tuple(
            replace(latest, at=one.at, vertices=one.vertices, values=one.values, signals=one.signals)
            for one in sorted(kept, key=lambda one: one.at)
            if candidate.window_from <= one.at <= candidate.window_until
        )

    def _unready(self, candidate: Candidate, samples: Sequence[JobSample], now: datetime) -> NotReady | None:
        options, settings = candidate.options, candidate.sample.settings
        return readiness(
            candidate.sample,
            options,
            spans=_spans(samples),
            pace=pace(self.collect_interval, settings.metric_refresh_s, rules_of(options)),
            now=now,
        )


def _spans(samples: Sequence[JobSample]) -> Mapping[VertexId, Span]:
    ticks: dict[VertexId, list[datetime]] = defaultdict(list)
    for sample in samples:
        for vertex in sample.vertices:
            ticks[vertex].append(sample.at)
    return {vertex: Span(samples=len(at), first_at=at[0], last_at=at[-1]) for vertex, at in ticks.items()}


def _evaluated(plugin: Plugin, options: AutoscalerOptions, collected: CollectedMetrics) -> Answer:
    try:
        answer: Answer = plugin.port.evaluate(options, collected, options.restart_time)
    except Exception as error:
        raise plugin.failure(error) from error
    try:
        return sound_metrics(answer, collected.topology)
    except ValueError as error:
        raise plugin.nonsense(error) from error


def _as_logged(sample: JobSample) -> JobSample:
    """Give a sample as the log keeps it: a replay gets the same numbers."""
    vertices = {
        vertex: replace(measured, values=_rounded(measured.values)) for vertex, measured in sample.vertices.items()
    }
    return replace(sample, vertices=vertices, values=_rounded(sample.values))


def _rounded(values: Mapping[M, float]) -> Mapping[M, float]:
    return {measure: round(v * SUBUNIT) / SUBUNIT if isfinite(v) else v for measure, v in values.items()}
