"""
From reduced windows to an answer for each job: the same for windows that Spark has reduced and for those of numpy.

All jobs are evaluated at once, as arrays; an answer becomes an object only when somebody asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

import numpy as np
import pyarrow as pa

from headgate.algorithm.arrival.fleet import FleetArrivals, Series, fleet_arrivals
from headgate.algorithm.balance import balanced
from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.columns import Columns
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import Beside
from headgate.algorithm.job_wide import averages, job_wide
from headgate.algorithm.lag import brokers_unknown, lag_origin
from headgate.algorithm.readiness import pace, readiness
from headgate.algorithm.readout import Readout, VertexRows
from headgate.algorithm.rules import rules_of
from headgate.algorithm.screening import Asked, Spans, coverages, least_samples, passing, spans
from headgate.algorithm.signals import added_rates
from headgate.algorithm.stats import Bools, Floats, Ints
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.pipeline.arrow import columns, joined, places
from headgate.pipeline.roster import Fleet
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms

Answer = EvaluatedMetrics | NotReady

Formula = Callable[[Batch], Evaluation]
"""What makes an evaluation of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Reduced windows of a fleet, and whose they are; a number of -1 is nobody's."""

    columns: Columns
    """The columns of `model.windows` but the keys of jobs and vertices."""
    owner: Ints
    """Row of the vertex of each of these."""
    job_columns: Columns
    """The reduced job-wide columns of `model.windows`."""
    job_owner: Ints
    """Place of the job of each of these."""
    series: Series
    """Samples of the sources of jobs for which the input counts from its last change on."""

    @classmethod
    def of(cls, fleet: Fleet, vertices: pa.Table, jobs: pa.Table, series: pa.Table | None = None) -> Self:
        """Find the owners of rows, `arrow.WINDOWS`, `arrow.JOB_WINDOWS` and `arrow.SERIES`, in a fleet."""
        return cls(
            columns=columns(vertices),
            owner=places(joined(vertices["job"], vertices["vertex"]), fleet.vertices),
            job_columns=columns(jobs),
            job_owner=places(jobs["job"], fleet.jobs),
            series=Series.none() if series is None else series_of(fleet, series),
        )


def series_of(fleet: Fleet, rows: pa.Table) -> Series:
    """Find the owners of `arrow.SERIES` in a fleet."""
    return Series(columns=columns(rows), owner=places(joined(rows["job"], rows["vertex"]), fleet.vertices))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers(Mapping[JobKey, Answer]):
    """The answers of one cycle, in the order in which the jobs were asked about."""

    fleet: Fleet
    candidates: Mapping[JobKey, Candidate]
    asked: Asked
    spans: Spans
    readout: Readout
    passing: Bools
    """Which jobs are surely ready."""
    complete: Bools
    """Which of those have all that is needed."""
    backlog: Bools
    coverages: Floats
    least_samples: Ints
    averages: Mapping[JobMeasure, Floats]
    arrivals: FleetArrivals
    balanced: Bools

    def __len__(self) -> int:
        """Count the jobs."""
        return len(self.candidates)

    def __iter__(self) -> Iterator[JobKey]:
        """Yield the jobs in the order in which they were asked about."""
        return iter(self.candidates)

    def __getitem__(self, job: JobKey) -> Answer:
        """Give one job's answer."""
        candidate = self.candidates[job]
        place = self.fleet.place_of[str(job)]
        begin = int(self.fleet.layout.begins[place])
        if self.complete[place]:
            return self._metrics(candidate, begin, place)
        unready = None if self.passing[place] else self._unready(place)
        missing = unready or self.readout.lacking(candidate.sample.topology, begin)
        return missing or self._metrics(candidate, begin, place)

    def _unready(self, place: int) -> NotReady | None:
        asked = self.asked
        return readiness(
            asked.samples[place],
            asked.options[place],
            spans=self.spans.of_job(self.fleet.layout, place),
            pace=asked.paces[place],
            fast=bool(asked.fast[place]),
            now=asked.now,
        )

    def _metrics(self, candidate: Candidate, begin: int, place: int) -> EvaluatedMetrics:
        means = {measure: float(values[place]) for measure, values in self.averages.items()}
        means = {measure: mean for measure, mean in means.items() if not math.isnan(mean)}
        return EvaluatedMetrics(
            vertices=VertexRows(self.readout, candidate.sample.topology, begin),
            backlog=bool(self.backlog[place]),
            coverage=float(self.coverages[place]),
            samples=int(self.least_samples[place]),
            job=job_wide(candidate.sample, means),
            arrival=self.arrivals.of_job(place),
            lag_origin=lag_origin(candidate.sample),
            brokers_unknown=brokers_unknown(candidate.sample),
            balanced=bool(self.balanced[place]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one cycle asks: which jobs, and when."""

    candidates: Sequence[Candidate]
    now: datetime
    collect_interval: timedelta
    formula: Formula = evaluate

    def answers(self, fleet: Fleet, windows: Windows) -> Answers:
        """Answer for every job of the fleet, which was laid out from the same candidates."""
        layout, asked = fleet.layout, self._asked()
        found = spans(layout, windows.columns, windows.owner)
        come = fleet_arrivals(layout, asked.fast, self._looked_at(fleet, windows.series))
        batch = layout.batch(windows.columns, windows.owner, self._beside(fleet, come))
        readout, ready = Readout(batch=batch, evaluation=self.formula(batch)), passing(layout, found, asked)
        complete = ready & readout.complete(len(layout.shapes))
        return Answers(
            fleet=fleet,
            candidates={candidate.sample.job: candidate for candidate in self.candidates},
            asked=asked,
            spans=found,
            readout=readout,
            passing=ready,
            complete=complete,
            balanced=complete & balanced(layout, readout.evaluation),
            backlog=readout.backlog(len(layout.shapes)),
            coverages=coverages(layout, found, asked),
            least_samples=least_samples(layout, found),
            arrivals=come,
            averages=averages(windows.job_columns, windows.job_owner, len(layout.shapes)),
        )

    @property
    def since(self) -> datetime:
        """The first instant that counts for any job."""
        return min((candidate.looks_from for candidate in self.candidates), default=self.now)

    @property
    def until(self) -> datetime:
        """The last instant that counts for any job: a sample may be newer than the tick that it is decided at."""
        return max((candidate.window_until for candidate in self.candidates), default=self.now)

    def _looked_at(self, fleet: Fleet, series: Series) -> Series:
        """Keep what each job looks at of its input."""
        begins, ends = (
            np.array([epoch_ms(instant) for instant in instants], dtype=np.int64)[fleet.layout.job]
            for instants in (
                [one.looks_from for one in self.candidates],
                [one.window_until for one in self.candidates],
            )
        )
        return series.between(begins, ends)

    def _asked(self) -> Asked:
        kinds = [(one.sample.settings.metric_refresh_s, rules_of(one.options)) for one in self.candidates]
        paces = {kind: pace(self.collect_interval, *kind) for kind in set(kinds)}
        return Asked(
            samples=[one.sample for one in self.candidates],
            options=[one.options for one in self.candidates],
            paces=[paces[kind] for kind in kinds],
            fast=np.array([one.arrivals_from is not None for one in self.candidates], dtype=np.bool_),
            now=self.now,
        )

    def _beside(self, fleet: Fleet, come: FleetArrivals) -> Beside:
        """Give what the windows of the vertices do not hold."""
        row_of = fleet.row_of
        jobs = [(str(one.sample.job), one) for one in self.candidates]
        signalled = ((job, one) for job, one in jobs if one.options.signals_in_force)
        return Beside(
            growths={row_of[job, vertex]: growth for job, one in jobs for vertex, growth in one.growths.items()},
            added={
                row_of[job, vertex]: rate
                for job, one in signalled
                for vertex, rate in added_rates(one.sample, one.options, self.now).items()
            },
            expected={row_of[job, vertex]: rate for job, one in jobs for vertex, rate in one.expected.items()},
            arriving=come.of_source,
        )
