"""Whether the samples of a job's window are enough to decide on; "not yet" is a normal answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headgate.algorithm.lag import cut_off
from headgate.algorithm.rules import Rules
from headgate.model.identity import VertexId
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.options.units import format_duration

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_LEAST_SAMPLES = 3
"""That tell anything of what a vertex can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What the window holds of one vertex."""

    samples: int
    first_at: datetime
    last_at: datetime
    """Ticks of the collector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often fresh samples can be had, hence what is late and what is a hole."""

    sample_every: timedelta
    """Longest usual time between fresh samples: collect interval and the engine's refresh together."""
    stale_after: timedelta
    """Age from which the latest sample is too old to decide on."""
    tolerance: timedelta
    """How much later than the window's begin the first sample may lie."""
    whole: bool = True
    """Whether a window with holes is refused."""


def pace(collect_interval: timedelta, metric_refresh_s: float, rules: Rules) -> Pace:
    """
    Return the pace of a job's samples. Two late ones are no news, a third one is.

    Two cadences that are alike drift past each other: a tick that comes just before the engine's refresh finds nothing
    new, so samples may be as far apart as both intervals together without anything missing. The reference has no
    patience with a window: the first sample must lie at its begin. It knows no holes.
    """
    refresh = timedelta(seconds=metric_refresh_s)
    usual, every = max(collect_interval, refresh), collect_interval + refresh
    return Pace(
        sample_every=every,
        stale_after=3 * usual,
        tolerance=2 * usual if Deviation.WINDOW_TOLERANCE in rules else every - timedelta.resolution,
        whole=Deviation.WHOLE_WINDOWS in rules,
    )


def readiness(
    sample: JobSample,
    options: AutoscalerOptions,
    *,
    spans: Mapping[VertexId, Span],
    pace: Pace,
    now: datetime,
    fast: bool = False,
) -> NotReady | None:
    """
    Say why the job cannot be decided on yet, None when it can. Finished vertices need no samples.

    The first fault found is told, in the order in which they go away by themselves. Where the input counts from its
    last change on (`fast`), a few samples are enough: how much they say is weighed afterwards.
    """
    if outage := cut_off(sample):
        return _not_ready(Reason.INPUT_CUT_OFF, outage)
    stable = sample.running_since + options.stabilization_interval
    if now < stable:
        # A decision bears the instant of its tick, and the job may have started after it: none of it has passed then.
        left = min(stable - now, options.stabilization_interval)
        return _not_ready(Reason.STABILIZING, f"{_seconds(left)} of stabilization are left")
    live = [vertex for vertex in sample.topology.vertices if not vertex.finished]
    missing = [vertex for vertex in live if vertex.id not in spans]
    if len(missing) == len(live):
        return _not_ready(Reason.NO_SAMPLES, "the window holds no sample")
    if missing:
        return _not_ready(Reason.MISSING_METRICS, f"there is no sample of {_names(missing)}")
    by_vertex = {vertex: spans[vertex.id] for vertex in live}
    window = _LEAST_SAMPLES * pace.sample_every if fast else options.metrics_window
    return _too_old(by_vertex, pace, now) or _too_few(by_vertex, min(window, options.metrics_window), pace, now)


def _too_old(spans: Mapping[Vertex, Span], pace: Pace, now: datetime) -> NotReady | None:
    oldest = min(spans, key=lambda vertex: spans[vertex].last_at)
    age = now - spans[oldest].last_at
    if age <= pace.stale_after:
        return None
    return _not_ready(Reason.STALE_METRICS, f"the latest sample of {oldest.name} is {_seconds(age)} old")


def _too_few(spans: Mapping[Vertex, Span], window: timedelta, pace: Pace, now: datetime) -> NotReady | None:
    youngest = max(spans, key=lambda vertex: spans[vertex].first_at)
    lacking = spans[youngest].first_at - (now - window)
    if lacking > pace.tolerance:
        message = f"the samples of {youngest.name} lack the first {_seconds(lacking)} of {format_duration(window)}"
        return _not_ready(Reason.WINDOW_FILLING, message)
    holed = [vertex for vertex, span in spans.items() if _has_hole(span, pace)]
    return _not_ready(Reason.PARTIAL_METRICS, f"too many samples of {_names(holed)} are missing") if holed else None


def _has_hole(span: Span, pace: Pace) -> bool:
    """Tell whether more is missing than a few late answers: a quarter of the time, and more than may be stale."""
    if not pace.whole:
        return False
    length = span.last_at - span.first_at
    missing = length - (span.samples - 1) * pace.sample_every
    return missing > max(pace.stale_after, length / 4)


def _not_ready(reason: Reason, message: str) -> NotReady:
    return NotReady(reason=reason, message=message)


def _names(vertices: list[Vertex]) -> str:
    return ", ".join(vertex.name for vertex in vertices)


def _seconds(duration: timedelta) -> str:
    return f"{duration.total_seconds():.0f} s"
