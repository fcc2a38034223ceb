"""What one cycle asks of the pipeline: which jobs, over which instants, with which options. Workers get a copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pyarrow as pa

from headgate.model.identity import JobKey
from headgate.pipeline.arrow import BOUNDS
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The candidates of one cycle."""

    jobs: Mapping[str, Candidate]
    """By the text form of the job's key, in the order in which they are answered; samples without their values."""
    now: datetime
    collect_interval: timedelta

    @classmethod
    def of(cls, candidates: Sequence[Candidate], *, now: datetime, collect_interval: timedelta) -> Plan:
        """Plan to answer these candidates."""
        jobs = {str(candidate.sample.job): _light(candidate) for candidate in candidates}
        return cls(jobs=jobs, now=now, collect_interval=collect_interval)

    @property
    def since(self) -> datetime:
        """The first instant that counts for any job."""
        return min((candidate.window_from for candidate in self.jobs.values()), default=self.now)

    def only(self, jobs: Iterable[str]) -> Plan:
        """Give the plan of some of the jobs; names that are not planned are passed over."""
        wanted = set(jobs)
        return replace(self, jobs={name: job for name, job in self.jobs.items() if name in wanted})

    def bounds(self) -> pa.Table:
        """Give each job's window as a row."""
        rows = ((name, epoch_ms(job.window_from), epoch_ms(self.now)) for name, job in self.jobs.items())
        return pa.Table.from_pylist([dict(zip(BOUNDS.names, row, strict=True)) for row in rows], schema=BOUNDS)

    @property
    def keys(self) -> Mapping[str, JobKey]:
        """The jobs' keys by their text form."""
        return {name: job.sample.job for name, job in self.jobs.items()}


def _light(candidate: Candidate) -> Candidate:
    """Leave the values behind: they are in the log, and the plan is sent to every worker."""
    return replace(candidate, sample=replace(candidate.sample, vertices={}))
