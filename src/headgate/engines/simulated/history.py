"""What a simulated engine remembers of a job's failures. Implements `headgate.ports.FailureHistory`."""

from __future__ import annotations

from datetime import datetime, timedelta

from headgate.engines.simulated.cluster import START, SimulatedCluster
from headgate.engines.simulated.collector import find
from headgate.engines.simulated.retries import Setback
from headgate.model.rollback import JobFailure, JobFailures
from headgate.ports import JobContext


class SimulatedFailureHistory:
    """Tells of the present submission of a job, its latest failures only."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        """Remember where to look."""
        self._cluster = cluster

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """Give the failures since an instant."""
        job = find(self._cluster, ctx)
        failures = tuple(failure for failure in map(_failure, job.retries.known()) if failure.at >= since)
        return JobFailures(failures=failures, restarts=job.restarts_of_submission)


def _failure(setback: Setback) -> JobFailure:
    return JobFailure(at=START + timedelta(seconds=setback.at_s), text=setback.text)
