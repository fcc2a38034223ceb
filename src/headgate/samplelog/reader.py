"""
Reads the samples log: the files of a window for Spark, and small answers for people without it.

A window is read as it stood at one instant; a file that was compacted away while we read makes us list anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.samples import Signal
from headgate.model.tables import TABLES
from headgate.model.topology import Topology
from headgate.samplelog import parquet
from headgate.samplelog.files import Address
from headgate.samplelog.latest import newest_files
from headgate.samplelog.layout import Hour, Layout, epoch_ms, tick_of
from headgate.samplelog.manifest import Snapshot
from headgate.samplelog.rows import read_decision, read_signals, read_topology

T = TypeVar("T")

_ATTEMPTS = 5


class LogReader:
    """
    Reads one log. Holds nothing open; safe to use from one thread at a time.

    Every method raises `UnreachableError` when the log cannot be read and `PermanentError` when a newer Headgate wrote
    it. A log or a job that does not exist reads as empty.
    """

    def __init__(self, root: Address) -> None:
        """Read below `root`."""
        self._layout = Layout(root)
        self._checked: frozenset[Address] = frozenset()

    def files(self, table: str, since: datetime, until: datetime) -> tuple[Address, ...]:
        """
        List the files that together hold each row of `[since, until]` exactly once, and few others.

        They stay readable for the compaction's grace period at least.
        """
        return self._patiently(lambda: self._checked_files(table, since, until))

    def read(
        self, table: str, since: datetime, until: datetime, *, job: JobKey | Collection[JobKey] | None = None
    ) -> pa.Table:
        """Read the rows of `[since, until]`, of one job, of some or of all, in the order of the log."""
        where = _between(since, until)
        if job is not None:
            where &= pc.field("job").isin([str(one) for one in ([job] if isinstance(job, JobKey) else job)])
        return self._patiently(lambda: _read_all(self._window(self._layout.hours(table), since, until), table, where))

    def decisions(self, job: JobKey, since: datetime, until: datetime) -> tuple[Decision, ...]:
        """
        Give a job's decisions of `[since, until]`, oldest first.

        Of a tick that a process has decided anew after a restart, the later one.
        """
        # Files are read in the order of their names, and of one tick the later process's name is behind.
        rows = self.read("decisions", since, until, job=job).to_pylist()
        last = {row["at_ms"]: row for row in rows}
        return tuple(read_decision(last[at]) for at in sorted(last))

    def latest_decision(self, job: JobKey) -> Decision | None:
        """Give a job's latest decision; None when there is none in the log."""
        rows = self._latest("decisions", job)
        return read_decision(rows.to_pylist()[-1]) if rows.num_rows else None

    def latest_decisions(
        self, until: datetime, within: timedelta, *, jobs: Collection[JobKey] | None = None
    ) -> Mapping[JobKey, Decision]:
        """
        Give for each job that is still decided on its latest decision, however many jobs there are.

        Args:
            until: later decisions do not count.
            within: a process or an application whose last decisions are older than that, beside the newest of all,
                has ended; its jobs are another's by now, or gone.
            jobs: only these; None: all.
        """
        rows = self._patiently(lambda: self._newest_rows("decisions", until, within, jobs))
        # Of a tick that was decided anew after a restart the later one counts: its file's name is behind.
        last: dict[str, Mapping[str, Any]] = {}
        for row in rows.sort_by("at_ms").to_pylist():
            last[row["job"]] = row
        return {JobKey.parse(job): read_decision(last[job]) for job in sorted(last)}

    def latest_topology(self, job: JobKey) -> Topology | None:
        """Give a job's graph as it was last seen; None when the log does not know the job."""
        rows = self._latest("vertices", job)
        return read_topology(rows.to_pylist()) if rows.num_rows else None

    def signals(self, job: JobKey, at: datetime) -> Mapping[str, Signal]:
        """Give the external metrics that a job's sample of the tick `at` had, by name; what a decision went by."""
        return read_signals(self.read("signals", at, at, job=job).to_pylist())

    def jobs(self, since: datetime, until: datetime) -> tuple[JobKey, ...]:
        """List the jobs that had a decision in `[since, until]`, by name."""
        return tuple(sorted(map(JobKey.parse, self.texts("decisions", "job", since, until))))

    def texts(self, table: str, column: str, since: datetime, until: datetime) -> frozenset[str]:
        """Give the different texts that one column holds in `[since, until]`; no other column is read."""
        return self._patiently(lambda: self._texts(table, column, since, until))

    def begin(self, table: str) -> datetime | None:
        """Give the hour in which a table begins, None where it has none: what is older was not kept, or is gone."""
        with parquet.reported(f"the samples log at {self._layout.root} cannot be read"):
            return next((hour.begin for hour in self._layout.hours(table)), None)

    def _texts(self, table: str, column: str, since: datetime, until: datetime) -> frozenset[str]:
        paths, where = self._window(self._layout.hours(table), since, until), _between(since, until)
        return frozenset(text for path in paths for text in parquet.distinct(path, column, where) if text is not None)

    def _latest(self, table: str, job: JobKey) -> pa.Table:
        """Give a job's rows of its latest instant, looking no further back than needed."""
        return self._patiently(lambda: self._find_latest(table, pc.field("job") == str(job)))

    def _find_latest(self, table: str, where: pc.Expression) -> pa.Table:
        for hour in reversed(self._layout.hours(table)):
            snapshot = Snapshot.take(hour)
            for path in (*reversed(snapshot.ticks), *snapshot.compacted):
                rows = parquet.read(path, TABLES[table], where)
                if rows.num_rows:
                    return rows.filter(pc.field("at_ms") == pc.max(rows["at_ms"]))
        return TABLES[table].empty_table()

    def _newest_rows(self, table: str, until: datetime, within: timedelta, jobs: Collection[JobKey] | None) -> pa.Table:
        paths, where = newest_files(self._layout.hours(table), until, within)
        if jobs is not None:
            where &= pc.field("job").isin([str(job) for job in jobs])
        return _read_all(paths, table, where)

    def _checked_files(self, table: str, since: datetime, until: datetime) -> tuple[Address, ...]:
        listed = tuple(self._window(self._layout.hours(table), since, until))
        for path in listed:
            if path not in self._checked:
                parquet.check_version(path)
        self._checked = frozenset(listed)
        return listed

    @staticmethod
    def _window(hours: Iterable[Hour], since: datetime, until: datetime) -> Iterator[Address]:
        first, last = epoch_ms(since), epoch_ms(until)
        for hour in hours:
            if hour.end > since and hour.begin <= until:
                snapshot = Snapshot.take(hour)
                yield from snapshot.compacted
                yield from (path for path in snapshot.ticks if first <= (tick_of(path.name) or 0) <= last)

    def _patiently(self, read: Callable[[], T]) -> T:
        with parquet.reported(f"the samples log at {self._layout.root} cannot be read"):
            return _again_if_gone(read, _ATTEMPTS)


def _between(since: datetime, until: datetime) -> pc.Expression:
    at = pc.field("at_ms")
    return (at >= epoch_ms(since)) & (at <= epoch_ms(until))


def _again_if_gone(read: Callable[[], T], attempts: int) -> T:
    """List and read anew when a file was compacted away between the two."""
    try:
        return read()
    except FileNotFoundError:
        if attempts == 1:
            raise
        return _again_if_gone(read, attempts - 1)


def _read_all(paths: Iterable[Address], table: str, where: pc.Expression) -> pa.Table:
    schema = TABLES[table]
    return pa.concat_tables([schema.empty_table(), *(parquet.read(path, schema, where) for path in paths)])
