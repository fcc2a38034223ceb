"""The runs of jobs and the decisions that acted, kept in memory: for the pipeline without Spark and without a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock

from headgate.model.decision import Decision
from headgate.model.measures import SUBUNIT, JobMeasure
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.pipeline.downtime_runs import KEEP, Run, SeenRescale, rescales_of
from headgate.ports import DecisionSink, SampleSink
from headgate.samplelog.layout import epoch_ms

_KEPT = 20
"""Runs and decisions of a job that are remembered: what was learnt of older ones is not forgotten with them."""


class RescaleBook:
    """Keeps the latest runs of each job; it may be written and read in several threads."""

    def __init__(self) -> None:
        """Know of nothing yet."""
        self._runs: dict[str, tuple[Run, ...]] = {}
        self._acted: dict[str, tuple[int, ...]] = {}
        self._lock = Lock()

    def note_samples(self, samples: Iterable[JobSample]) -> None:
        """Take note of the jobs as they run."""
        with self._lock:
            for run in map(_run, samples):
                self._runs[run.job] = _followed_by(self._runs.get(run.job, ()), run)

    def note_decisions(self, decisions: Iterable[Decision]) -> None:
        """Take note of the decisions that acted."""
        with self._lock:
            for each in decisions:
                if each.reason is Reason.RESCALED:
                    job = str(each.job)
                    self._acted[job] = (*self._acted.get(job, ()), epoch_ms(each.at))[-_KEPT:]

    def rescales(self, now: datetime, /) -> tuple[SeenRescale, ...]:
        """Give the rescales among what is remembered; jobs that were not seen for as long as counts are forgotten."""
        since_ms = epoch_ms(now - KEEP)
        with self._lock:
            self._runs = {job: runs for job, runs in self._runs.items() if runs[-1].last_ms >= since_ms}
            self._acted = {job: instants for job, instants in self._acted.items() if job in self._runs}
            return tuple(rescales_of((run for runs in self._runs.values() for run in runs), self._acted))


@dataclass(frozen=True, slots=True)
class NotedSamples:
    """A `ports.SampleSink` that takes note of what it passes on."""

    sink: SampleSink
    book: RescaleBook

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Keep the samples."""
        self.sink.append(samples)
        self.book.note_samples(samples)


@dataclass(frozen=True, slots=True)
class NotedDecisions:
    """A `ports.DecisionSink` that takes note of what it passes on."""

    sink: DecisionSink
    book: RescaleBook

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """Keep the decisions; noted in any case, as they were made."""
        self.book.note_decisions(decisions)
        self.sink.append_decisions(decisions)


def _run(sample: JobSample) -> Run:
    at = epoch_ms(sample.at)
    return Run(
        job=str(sample.job),
        job_id=sample.job_id,
        since_ms=epoch_ms(sample.running_since),
        first_ms=at,
        last_ms=at,
        parallelism=",".join(sorted(f"{vertex.id}={vertex.parallelism}" for vertex in sample.topology.vertices)),
        state_bytes=_whole(sample.values.get(JobMeasure.STATE_SIZE)),
        downtime_s=_whole(sample.values.get(JobMeasure.LAST_DOWNTIME)),
    )


def _whole(value: float | None) -> float | None:
    """Give a value as the log would, in whole thousandths."""
    return None if value is None else round(value * SUBUNIT) / SUBUNIT


def _followed_by(runs: tuple[Run, ...], seen: Run) -> tuple[Run, ...]:
    """Put a run as it is seen now behind those before it, of which it may be the latest."""
    if not runs or (runs[-1].job_id, runs[-1].since_ms) != (seen.job_id, seen.since_ms):
        return (*runs, seen)[-_KEPT:]
    known = runs[-1]
    latest = replace(
        seen,
        first_ms=known.first_ms,
        state_bytes=known.state_bytes if seen.state_bytes is None else seen.state_bytes,
        downtime_s=known.downtime_s if seen.downtime_s is None else seen.downtime_s,
    )
    return (*runs[:-1], latest)
