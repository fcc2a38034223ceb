"""Writes ticks to the samples log; one writer a shard, beside any number of readers and the compaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import pyarrow as pa

from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.model.topology import Topology
from headgate.ports import Circumstances
from headgate.samplelog import files, parquet
from headgate.samplelog.circumstances import News
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Layout, hour_of
from headgate.samplelog.rows import decision_table, job_table, sample_table, signal_table, vertex_table


class SampleLog:
    """
    Appends whole ticks; a `ports.SampleSink`, a `ports.DecisionSink` and a `ports.CircumstanceSink`.

    A tick that is written twice, by a retry or after a restart, stands in the log once: its last writing counts,
    until its hour has been compacted. After that it is the first.
    """

    def __init__(self, root: Address, *, shard: str = "0") -> None:
        """
        Write below `root`, which need not exist.

        Args:
            root: of the log.
            shard: lower-case letters and digits; tells writers of one log apart.
        """
        self._layout = Layout(root)
        self._shard = shard
        self._failure = f"the samples log at {root} cannot be written"
        self._written: dict[JobKey, tuple[datetime, Topology]] = {}
        self._news = News()

    def under(self, shard: str) -> SampleLog:
        """Give a writer of files of another name, which knows of each graph that this one has written, and tells it."""
        other = SampleLog(self._layout.root, shard=shard)
        other._written = self._written
        return other

    def append(self, samples: Sequence[JobSample], /) -> None:
        """
        Keep the samples of one tick, durably when it returns.

        Raises:
            UnreachableError: the log could not be written; the tick counts for nothing until it is appended again.
            ValueError: the samples are of more than one tick.
        """
        if not samples:
            return
        at = _common(sample.at for sample in samples)
        changed = [sample for sample in samples if self._is_news(sample)]
        with parquet.reported(self._failure):
            # `samples` come last: they are what is evaluated, so a tick that was cut short is not.
            if changed:
                self._write("vertices", at, vertex_table(changed))
            self._write_signals(at, signal_table(samples))
            self._write("jobs", at, job_table(samples))
            self._write("samples", at, sample_table(samples))
        self._written |= {sample.job: (at, sample.topology) for sample in changed}

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """
        Keep the decisions of one cycle, every job's, durably when it returns.

        Raises:
            UnreachableError: the log could not be written.
            ValueError: the decisions are of more than one cycle.
        """
        if not decisions:
            return
        at = _common(decision.at for decision in decisions)
        with parquet.reported(self._failure):
            self._write("decisions", at, decision_table(decisions))

    def append_circumstances(self, circumstances: Sequence[Circumstances], /) -> None:
        """
        Keep what the decisions of one cycle depended on, as far as it is new; durable when it returns.

        Raises:
            UnreachableError: the log could not be written; what was new is so at the next call too.
            ValueError: they are of more than one cycle.
        """
        if not circumstances:
            return
        at, rows = _common(each.at for each in circumstances), self._news.table(circumstances)
        with parquet.reported(self._failure):
            if rows.num_rows:
                self._write("circumstances", at, rows)
        self._news.keep()

    def _is_news(self, sample: JobSample) -> bool:
        if sample.job not in self._written:
            return True
        at, topology = self._written[sample.job]
        # The same tick again rewrites its file, so it must hold again what it held.
        new_hour = hour_of(sample.at) != hour_of(at)
        return new_hour or sample.at == at or sample.topology != topology

    def _write_signals(self, at: datetime, rows: pa.Table) -> None:
        # Most fleets have none, and a file a tick for nothing; but a tick that is written again replaces its rows.
        if rows.num_rows or files.exists(self._layout.tick_file("signals", at, self._shard)):
            self._write("signals", at, rows)

    def _write(self, table: str, at: datetime, rows: pa.Table) -> None:
        parquet.write(self._layout.tick_file(table, at, self._shard), rows)


def _common(instants: Iterable[datetime]) -> datetime:
    ticks = set(instants)
    if len(ticks) != 1:
        message = f"{len(ticks)} ticks in one append, expected one"
        raise ValueError(message)
    return ticks.pop()
