"""What a cluster shows of a redeploy at one instant: which of its jobs there are, and how far each is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.model.measures import JobStatus
from headgate.model.redeploy import number_of_way_back
from headgate.model.state import Intent

UP = frozenset({JobStatus.RUNNING, JobStatus.FINISHED})
"""What a job has come to that was started well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The jobs of one redeploy, as the cluster lists them."""

    old: ListedJob | None
    successor: ListedJob | None
    back: Mapping[int, ListedJob]
    """Those started again as it was, by the number of the attempt, the first one first."""
    strangers: tuple[str, ...]
    """Ids of other jobs that are alive under the same name."""

    @property
    def way_back(self) -> ListedJob | None:
        """The way back that goes on, or has come to its own end."""
        return next((job for job in self.back.values() if goes_on(job)), None)

    @property
    def surplus(self) -> tuple[str, ...]:
        """
        Ids of those that must not go on beside another one.

        A start that was not answered may still come about when something else was started since. What runs already
        counts more than what is starting, then a way back more than the successor.
        """
        ours = [*self.back.values(), *([self.successor] if self.successor else [])]
        going = sorted((job for job in ours if goes_on(job)), key=lambda job: job.status not in UP)
        return tuple(job.job_id for job in going[1:] if not job.status.is_over)


def goes_on(job: ListedJob) -> bool:
    """Tell whether nothing need be started instead."""
    return job.status is JobStatus.FINISHED or not job.status.is_over


async def look(client: FlinkClient, intent: Intent, name: str) -> Sight:
    """
    Look at the cluster once.

    Raises:
        UnreachableError: it does not answer.
    """
    jobs = {job.job_id: job for job in await client.get("/jobs/overview", read_jobs)}
    redeploy = intent.redeploy
    successor = redeploy.successor if redeploy else ""
    numbers = {job_id: number_of_way_back(job_id, intent.job_id) for job_id in jobs}
    back = {number: jobs[job_id] for job_id, number in numbers.items() if number is not None}
    ours = {intent.job_id, successor, *(job.job_id for job in back.values())}
    return Sight(
        old=jobs.get(intent.job_id),
        successor=jobs.get(successor),
        back=dict(sorted(back.items())),
        strangers=tuple(
            job.job_id
            for job in jobs.values()
            if job.name == name and not job.status.is_over and job.job_id not in ours
        ),
    )
