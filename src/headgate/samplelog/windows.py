"""The samples of some jobs' windows, read back from the log or from what is kept of it in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import inf
from operator import itemgetter

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import SUBUNIT, JobMeasure, Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.ports import Candidate
from headgate.samplelog.files import Address
from headgate.samplelog.layout import epoch_ms, instant
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import Row, read_signals

_AT = "at_ms"
_FIRST = itemgetter(_AT)


class LogWindows:
    """Reads windows from the samples log."""

    def __init__(self, root: Address) -> None:
        """Read below `root`."""
        self._reader = LogReader(root)

    def samples(self, candidates: Sequence[Candidate], /) -> Mapping[JobKey, tuple[JobSample, ...]]:
        """
        Give the samples of each job over `[window_from, window_until]`, oldest first.

        Raises:
            UnreachableError: the log could not be read.
            PermanentError: a newer Headgate wrote it.
        """
        jobs = [candidate.sample.job for candidate in candidates]
        since = min(candidate.window_from for candidate in candidates)
        until = max(candidate.window_until for candidate in candidates)
        tables = ("samples", "jobs", "signals")
        rows = [self._reader.read(table, since, until, job=jobs).to_pylist() for table in tables]
        measured, wide, signals = map(_by_job, rows)
        return {
            one.sample.job: samples_of(
                one, measured[str(one.sample.job)], wide[str(one.sample.job)], signals[str(one.sample.job)]
            )
            for one in candidates
        }


def samples_of(
    candidate: Candidate, measured: Iterable[Row], wide: Iterable[Row], signals: Iterable[Row] = ()
) -> tuple[JobSample, ...]:
    """
    Put a job's samples together from rows of the tables `samples`, `jobs` and `signals`, the oldest first.

    Graph and settings are those of the latest sample: of older ones they are not kept.
    """
    since, until = epoch_ms(candidate.window_from), epoch_ms(candidate.window_until)
    told, wanted = _by_tick(wide), _by_tick(signals)
    return tuple(
        _sample(candidate.sample, at, rows, told.get(at, ()), wanted.get(at, ()))
        for at, rows in sorted(_by_tick(measured).items())
        if since <= at <= until
    )


def _sample(
    latest: JobSample, at: int, measured: Iterable[Row], wide: Iterable[Row], signals: Iterable[Row]
) -> JobSample:
    values = {
        measure: row[measure.value] / SUBUNIT for row in wide for measure in JobMeasure if row.get(measure) is not None
    }
    return replace(
        latest,
        at=instant(at),
        vertices={VertexId(row["vertex"]): vertex_sample(row) for row in measured},
        values=values,
        signals=read_signals(signals),
    )


def vertex_sample(row: Row) -> VertexSample:
    """Read one vertex's sample back from its row."""
    values = {measure: row[measure.column] / SUBUNIT for measure in Measure if row.get(measure.column) is not None}
    values |= {measure: inf for measure in Measure if row["infinite"] & measure.bit}
    return VertexSample(measured_at=instant(row["measured_ms"]), epoch=row["epoch"], values=values)


def _by_job(rows: Iterable[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["job"]].append(row)
    return found


def _by_tick(rows: Iterable[Row]) -> Mapping[int, tuple[Row, ...]]:
    return {at: tuple(group) for at, group in groupby(sorted(rows, key=_FIRST), key=_FIRST)}
