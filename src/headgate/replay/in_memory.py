"""A replay without Spark: the whole stretch of the log in memory. For a few jobs over a few hours, and for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headgate.model.identity import JobKey
from headgate.pipeline.evaluation import Question, Windows
from headgate.pipeline.in_process import Kept, kept_jobs, kept_vertices, reduced
from headgate.pipeline.roster import Fleet
from headgate.replay.past import Past
from headgate.replay.redeciding import Alternative, Redecider
from headgate.replay.stretch import Stretch
from headgate.replay.tallies import Tally, tallied
from headgate.samplelog.reader import LogReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Some jobs' samples, as arrays."""

    vertices: Kept[tuple[str, str]]
    jobs: Kept[str]

    def windows(self, fleet: Fleet, question: Question) -> Windows:
        """Reduce the windows of a fleet."""
        return reduced(self.vertices, self.jobs, fleet, question)


def replay_in_memory(
    reader: LogReader, stretch: Stretch, alternative: Alternative, progress: Callable[[int, int], None]
) -> tuple[Tally, ...]:
    """
    Replay a stretch of the log job by job, in this process.

    Raises:
        UnreachableError: the log cannot be read.
    """
    tables = {name: stretch.read(reader, name) for name in stretch.since}
    names = sorted(tables["decisions"]["job"].unique().to_pylist())
    found: list[Tally] = []
    for number, job in enumerate(names, 1):
        found += _replayed(job, {name: _of(table, job) for name, table in tables.items()}, alternative)
        progress(number, len(names))
    return tuple(found)


def _replayed(job: str, tables: Mapping[str, pa.Table], alternative: Alternative) -> tuple[Tally, ...]:
    loaded = Loaded(vertices=kept_vertices(tables["samples"]), jobs=kept_jobs(tables["jobs"]))
    past = Past(job=JobKey.parse(job), **{name: table.to_pylist() for name, table in tables.items()})
    redecider = Redecider(alternative=alternative, windows=loaded.windows)
    return tallied(asyncio.run(redecider.steps([past])))


def _of(table: pa.Table, job: str) -> pa.Table:
    return table.filter(pc.field("job") == job)
