"""Lists simulated jobs. Implements `headgate.ports.JobListFetcher`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from headgate.engines.simulated.cluster import START, SimulatedCluster
from headgate.engines.simulated.failures import FailureKind
from headgate.engines.simulated.job import RunningJob
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext, JobList


class SimulatedJobListFetcher:
    """Lists what runs on one simulated cluster."""

    def __init__(self, cluster: SimulatedCluster, options_of: Callable[[JobKey], AutoscalerOptions]) -> None:
        """Remember where to look, and what gives the options of a job."""
        self._cluster = cluster
        self._options_of = options_of

    async def fetch(self) -> JobList:
        """List the jobs, or say that the cluster does not answer."""
        cluster = self._cluster
        if cluster.suffers(FailureKind.CLUSTER):
            return JobList(jobs=(), failures={cluster.name: "no answer, as the scenario has it"})
        keys = {JobKey(cluster.name, name): job for name, job in cluster.jobs.items()}
        return JobList(
            jobs=tuple(self._context(key, job) for key, job in keys.items()),
            failures={},
        )

    def _context(self, key: JobKey, job: RunningJob) -> JobContext:
        return JobContext(
            key=key,
            job_id=job.job_id,
            status=job.status(self._cluster.now_s),
            options=self._options_of(key),
            started_at=START + timedelta(seconds=job.submitted_s),
        )
