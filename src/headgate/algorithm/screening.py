"""
Which jobs of a fleet are surely ready, told in arrays: the many that are need no sentence about it.

It never lets a job through that `readiness` refuses; the few that do not pass are asked there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from headgate.algorithm.columns import Columns
from headgate.algorithm.fleet import Layout
from headgate.algorithm.lag import cut_off
from headgate.algorithm.readiness import EPOCH, Pace, Span
from headgate.algorithm.stats import Bools, Floats, Ints
from headgate.model.identity import VertexId
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions

_TICK = timedelta(microseconds=1)
_US_A_MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """What the windows hold of each vertex of a layout; (n,) arrays, times in epoch microseconds."""

    samples: Ints
    """0 where there is nothing; the times mean nothing then."""
    first: Ints
    last: Ints

    def of_job(self, layout: Layout, job: int) -> dict[VertexId, Span]:
        """Give the spans of one job's vertices, those without a sample left out."""
        begin = int(layout.begins[job])
        vertices = enumerate(layout.shapes[job].topology.vertices, begin)
        return {
            vertex.id: Span(
                samples=int(self.samples[row]),
                first_at=EPOCH + int(self.first[row]) * _TICK,
                last_at=EPOCH + int(self.last[row]) * _TICK,
            )
            for row, vertex in vertices
            if self.samples[row]
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of each job of a layout, by job."""

    samples: Sequence[JobSample]
    options: Sequence[AutoscalerOptions]
    paces: Sequence[Pace]
    fast: Bools
    """(m,) whether its input counts from its last change on."""
    now: datetime


def spans(layout: Layout, windows: Columns, owner: Ints) -> Spans:
    """Put the epochs of each vertex together; windows of vertices without a row (-1) are passed over."""
    known = owner >= 0
    rows, vertices = owner[known], len(layout.job)
    samples = np.zeros(vertices, dtype=np.int64)
    np.add.at(samples, rows, windows["samples"].values[known])
    first, last = np.full(vertices, np.iinfo(np.int64).max), np.zeros(vertices, dtype=np.int64)
    np.minimum.at(first, rows, windows["first_at_ms"].values[known] * _US_A_MS)
    np.maximum.at(last, rows, windows["last_at_ms"].values[known] * _US_A_MS)
    return Spans(samples=samples, first=first, last=last)


def passing(layout: Layout, found: Spans, asked: Asked) -> Bools:
    """Tell which jobs are surely ready, (m,)."""
    now = (asked.now - EPOCH) // _TICK
    stale, tolerance, every = (
        _by_row(layout, [getattr(pace, name) for pace in asked.paces])
        for name in ("stale_after", "tolerance", "sample_every")
    )
    window = _by_row(layout, [options.metrics_window for options in asked.options])
    length = found.last - found.first
    missing = length - (found.samples - 1) * every
    whole = (
        (found.samples > 0)
        & (now - found.last <= stale)
        & (found.first - (now - window) <= tolerance)
        & (missing <= np.maximum(stale, length // 4))
    )
    return _stable(asked) & _reaching(asked) & _all(layout, whole | layout.finished) & ~_all(layout, layout.finished)


def coverages(layout: Layout, found: Spans, asked: Asked) -> Floats:
    """Give how much of each job's window the samples of all its running vertices span, 0 to 1."""
    running = ~layout.finished
    youngest = np.zeros(len(layout.shapes), dtype=np.int64)
    np.maximum.at(youngest, layout.job[running], found.first[running])
    covered = np.maximum((asked.now - EPOCH) // _TICK - youngest, 0)
    return np.minimum(covered / _ticks([options.metrics_window for options in asked.options]), 1.0)


def least_samples(layout: Layout, found: Spans) -> Ints:
    """Give the least number of samples behind any running vertex of each job."""
    running = ~layout.finished
    least = np.full(len(layout.shapes), np.iinfo(np.int64).max)
    np.minimum.at(least, layout.job[running], found.samples[running])
    return least


def _stable(asked: Asked) -> Bools:
    pairs = zip(asked.samples, asked.options, strict=True)
    return np.array([asked.now >= s.running_since + o.stabilization_interval for s, o in pairs], dtype=np.bool_)


def _reaching(asked: Asked) -> Bools:
    return np.array([cut_off(sample) is None for sample in asked.samples], dtype=np.bool_)


def _all(layout: Layout, rows: Bools) -> Bools:
    others = np.bincount(layout.job, weights=~rows, minlength=len(layout.shapes))
    every: Bools = others == 0
    return every


def _by_row(layout: Layout, durations: Sequence[timedelta]) -> Ints:
    return _ticks(durations)[layout.job]


def _ticks(durations: Sequence[timedelta]) -> Ints:
    return np.array([duration // _TICK for duration in durations], dtype=np.int64)
