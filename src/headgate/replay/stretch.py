"""Which stretch of the log is replayed, and how much of each table that takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.samplelog.reader import LogReader

_HOUR = timedelta(hours=1)

_LATE = timedelta(minutes=10)
"""How long after its tick a cycle may begin: it goes by what was observed until then."""

_DECIDED = ("decisions", "circumstances")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The decisions of some jobs between two instants, both included."""

    begin: datetime
    until: datetime
    longest_window: timedelta = timedelta()
    """How far back any decision may look."""
    pattern: str = "*"
    """Of the jobs' keys or names."""

    @property
    def since(self) -> Mapping[str, datetime]:
        """From when on each table is read: what is said once in an hour is looked for in the hour before, too."""
        window = self.begin - self.longest_window
        return {
            "decisions": self.begin,
            "circumstances": _whole_hour(self.begin),
            "samples": window,
            "jobs": window,
            "signals": window,
            "vertices": _whole_hour(window) - _HOUR,
        }

    def until_of(self, table: str) -> datetime:
        """Give until when a table is read."""
        return self.until if table in _DECIDED else self.until + _LATE

    @property
    def told(self) -> str:
        """The stretch in words."""
        jobs = "any job" if self.pattern == "*" else f"{self.pattern!r}"
        return f"{jobs} between {self.begin:%Y-%m-%d %H:%M:%S} and {self.until:%Y-%m-%d %H:%M:%S} UTC"

    def read(self, reader: LogReader, table: str) -> pa.Table:
        """
        Read what is needed of a table.

        Raises:
            UnreachableError: the log cannot be read.
        """
        rows = reader.read(table, self.since[table], self.until_of(table))
        if self.pattern == "*" or not rows.num_rows:
            return rows
        wanted = [name for name in rows["job"].unique().to_pylist() if self.holds(JobKey.parse(name))]
        return rows.filter(pc.is_in(rows["job"], value_set=pa.array(wanted, pa.string())))

    def holds(self, job: JobKey) -> bool:
        """Tell whether a job is asked for, by its key or by its name."""
        return fits(str(job), self.pattern) or fits(job.name, self.pattern)


def _whole_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
