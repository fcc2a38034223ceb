"""When a metric window is full, and what it then holds, against the reference's cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headgate.algorithm.readiness import Pace, Span, readiness
from headgate.algorithm.rules import rules_of
from headgate.options.deviations import Deviation
from headgate.testing.builders import chain, sample
from headgate.testing.golden import Case

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PATIENT = Pace(sample_every=timedelta(minutes=2), stale_after=timedelta(minutes=2), tolerance=timedelta())
"""Late samples are not what these cases are about."""


def test_metric_window(case: Case) -> None:
    """A window is full once it lies behind the first sample after stabilization; only then old samples drop out."""
    options, running_ms = case.options, case.inputs["job_running_at_ms"]
    patient = replace(PATIENT, whole=Deviation.WHOLE_WINDOWS in rules_of(options))
    history: list[datetime] = []
    for step, expected in zip(case.inputs["steps"], case.expected["steps"], strict=True):
        now, running_ms = _at(step["t_ms"]), step.get("job_running_at_ms", running_ms)
        running = _at(running_ms)
        if history and running > history[0]:
            history = []
        history.append(now)
        stable = [at for at in history if at >= running + options.stabilization_interval]
        spans = {v.id: Span(samples=len(stable), first_at=stable[0], last_at=now) for v in GRAPH.vertices if stable}

        job = replace(sample(GRAPH), at=now, running_since=running)
        full = readiness(job, options, spans=spans, pace=patient, now=now) is None
        if full:
            history = [at for at in history if at >= now - options.metrics_window]

        assert (len(history), full) == (expected["history_size"], expected["fully_collected"])


GRAPH = chain({"v": 1})


def _at(milliseconds: float) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)
