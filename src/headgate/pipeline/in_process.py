"""The evaluator without Spark and without a log: samples stay in memory, numpy reduces them. For a few jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa

from headgate.algorithm.arrival.fleet import Series
from headgate.algorithm.columns import Column, Columns, stacked
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.job_wide import reduce_jobs
from headgate.algorithm.reduce import reduce_columns
from headgate.algorithm.stats import Ints
from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.model.windows import AVERAGED
from headgate.options.live import Live, in_force
from headgate.pipeline.arrow import columns
from headgate.pipeline.evaluation import Answer, Formula, Question, Windows
from headgate.pipeline.roster import Fleet, Roster
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms
from headgate.samplelog.rows import job_table, sample_table
from headgate.samplelog.windows import samples_of

Key = TypeVar("Key", bound=str | tuple[str, str])


_OF_VERTICES = ("at_ms", "measured_ms", "epoch", "infinite", *(measure.column for measure in Measure))
"""With every measure, as the log has it: a job's own evaluator may read what no formula of the fleet does."""

_OF_JOBS = ("at_ms", *(measure.value for measure in AVERAGED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Generic[Key]):
    """Samples as arrays, in the order in which they came, and whose they are."""

    names: tuple[Key, ...]
    """Of all owners, each once."""
    owner: Ints
    """Place of each row's owner among these."""
    columns: Columns

    @classmethod
    def of(cls, owners: Iterable[Key], columns: Columns) -> Self:
        """Number the owners of rows."""
        number: dict[Key, int] = {}
        owner = np.array([number.setdefault(key, len(number)) for key in owners], dtype=np.int64)
        return cls(names=tuple(number), owner=owner, columns=columns)

    def followed_by(self, newer: Self, *, since: datetime, cluster: str) -> Self:
        """Put ticks of a cluster below these; those of the same instants are replaced, what is too old is dropped."""
        ticks = self.columns["at_ms"].values
        stays = ticks >= epoch_ms(since)
        same = np.flatnonzero(np.isin(ticks, np.unique(newer.columns["at_ms"].values))).tolist()
        stays[[row for row in same if _cluster(self.names[self.owner[row]]) == cluster]] = False
        rows = np.flatnonzero(stays)
        left = [self.names[place] for place in np.unique(self.owner[rows]).tolist()]
        number = {name: place for place, name in enumerate(dict.fromkeys([*left, *newer.names]))}
        return replace(
            self,
            names=tuple(number),
            owner=np.concatenate([self.rows_of(number)[rows], newer.rows_of(number)]),
            columns=stacked([self.columns.rows(rows), newer.columns]),
        )

    def rows_of(self, number: Mapping[Key, int]) -> Ints:
        """Give the number of each row's owner, -1 for one that has none."""
        return np.array([number.get(name, -1) for name in self.names], dtype=np.int64)[self.owner]


def _vertices(samples: Sequence[JobSample]) -> Kept[tuple[str, str]]:
    """Keep what the log would, in whole thousandths."""
    return kept_vertices(sample_table(samples))


def kept_vertices(rows: pa.Table) -> Kept[tuple[str, str]]:
    """Keep rows of the log's `samples`."""
    owners = zip(rows["job"].to_pylist(), rows["vertex"].to_pylist(), strict=True)
    return Kept.of(owners, columns(rows.select(_OF_VERTICES)))


def _jobs(samples: Sequence[JobSample]) -> Kept[str]:
    return kept_jobs(job_table(samples))


def kept_jobs(rows: pa.Table) -> Kept[str]:
    """Keep rows of the log's `jobs`."""
    return Kept.of(rows["job"].to_pylist(), columns(rows.select(_OF_JOBS)))


def _cluster(owner: str | tuple[str, str]) -> str:
    job = owner if isinstance(owner, str) else owner[0]
    return JobKey.parse(job).cluster


class InProcessEvaluator:
    """
    A `ports.FleetEvaluator` that is its own `ports.SampleSink`.

    It stores samples as the log does, in whole thousandths, so its answers are those of Spark over the log. `append`
    and `evaluate` may run at the same time in several threads.
    """

    def __init__(
        self, *, collect_interval: Live[timedelta], keep: Live[timedelta], formula: Formula = evaluate
    ) -> None:
        """
        Begin without samples.

        Args:
            collect_interval: time between two ticks, from which follows what is stale.
            keep: age up to which samples are kept, at least the longest metric window of any job.
            formula: evaluates a batch.
        """
        self._formula = formula
        self._collect_interval = collect_interval
        self._keep = keep
        self._kept = _vertices(()), _jobs(())
        self._roster = Roster()
        self._lock = Lock()

    def begin_with(self, vertices: pa.Table, jobs: pa.Table, *, cluster: str) -> None:
        """Put rows of the log's `samples` and `jobs`, of one cluster, before what has been appended to it since."""
        older, ever = (kept_vertices(vertices), kept_jobs(jobs)), datetime.min.replace(tzinfo=UTC)
        with self._lock:
            newer = self._kept
            self._kept = (
                older[0].followed_by(newer[0], since=ever, cluster=cluster),
                older[1].followed_by(newer[1], since=ever, cluster=cluster),
            )

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Keep the samples of one tick of one cluster, and drop those that have become too old."""
        if not samples:
            return
        since, cluster = samples[0].at - in_force(self._keep), samples[0].job.cluster
        with self._lock:
            vertices, jobs = self._kept
            # New values each time: an evaluation that is under way keeps those that it began with.
            self._kept = (
                vertices.followed_by(_vertices(samples), since=since, cluster=cluster),
                jobs.followed_by(_jobs(samples), since=since, cluster=cluster),
            )

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """Answer every candidate over its own window."""
        question = Question(
            candidates=candidates, now=now, collect_interval=in_force(self._collect_interval), formula=self._formula
        )
        fleet = self._roster.fleet(candidates)
        return question.answers(fleet, reduced(*self._kept, fleet, question))

    def samples(self, candidates: Sequence[Candidate], /) -> Mapping[JobKey, tuple[JobSample, ...]]:
        """
        Give the samples of each job over `[window_from, window_until]`, oldest first.

        They have no external metrics but the latest sample's.
        """
        vertices, jobs = self._kept
        names = {str(one.sample.job): one for one in candidates}
        measured, wide = _rows(vertices, names), _rows(jobs, names)
        return {one.sample.job: samples_of(one, measured[name], wide[name]) for name, one in names.items()}


def evaluated_over(samples: Sequence[JobSample], question: Question) -> Mapping[JobKey, Answer]:
    """Answer a question from these samples alone."""
    fleet = Roster().fleet(question.candidates)
    return question.answers(fleet, reduced(_vertices(samples), _jobs(samples), fleet, question))


def _rows(kept: Kept[Key], jobs: Collection[str]) -> Mapping[str, list[dict[str, Any]]]:
    """Give what is kept of these jobs as rows of the log, by job."""
    names = list(kept.columns.columns)
    columns = [_numbers(each) for each in kept.columns.columns.values()]
    found: dict[str, list[dict[str, Any]]] = {job: [] for job in jobs}
    for number, *values in zip(kept.owner.tolist(), *columns, strict=True):
        owner = kept.names[number]
        job, vertex = (owner, None) if isinstance(owner, str) else owner
        row = {"vertex": vertex, **dict(zip(names, values, strict=True))}
        if job in found:
            found[job].append(row)
    return found


def _numbers(column: Column) -> list[int | None]:
    pairs = zip(column.values.tolist(), column.valid.tolist(), strict=True)
    return [value if valid else None for value, valid in pairs]


def reduced(vertices: Kept[tuple[str, str]], jobs: Kept[str], fleet: Fleet, question: Question) -> Windows:
    """Reduce each job's own window of what is kept."""
    begins = np.array([epoch_ms(one.window_from) for one in question.candidates], dtype=np.int64)
    ends = np.array([epoch_ms(one.window_until) for one in question.candidates], dtype=np.int64)
    of_vertex, count = fleet.layout.job, len(begins)
    samples, owner = _within(vertices, fleet.row_of, begins[of_vertex], ends[of_vertex])
    windows, window_owner = reduce_columns(samples, owner)
    return Windows(
        columns=windows,
        owner=window_owner,
        job_columns=reduce_jobs(*_within(jobs, fleet.place_of, begins, ends), count),
        job_owner=np.arange(count),
        series=_series(vertices, fleet, question),
    )


def _series(vertices: Kept[tuple[str, str]], fleet: Fleet, question: Question) -> Series:
    """Give the samples of jobs whose input counts from its last change on."""
    fast = {str(one.sample.job) for one in question.candidates if one.arrivals_from is not None}
    if not fast:
        return Series.none()
    rows = {key: row for key, row in fleet.row_of.items() if key[0] in fast}
    return Series(columns=vertices.columns, owner=vertices.rows_of(rows))


def _within(kept: Kept[Key], place_of: Mapping[Key, int], begins: Ints, ends: Ints) -> tuple[Columns, Ints]:
    """Keep what is somebody's, no older than its owner's window begins and no younger than it ends."""
    owner = kept.rows_of(place_of)
    ticks = kept.columns["at_ms"].values
    known = np.flatnonzero(owner >= 0)
    mine, at = owner[known], ticks[known]
    inside = known[(at >= begins[mine]) & (at <= ends[mine])]
    return kept.columns.rows(inside), owner[inside]
