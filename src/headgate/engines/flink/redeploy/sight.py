"""What a cluster shows of a redeploy at one instant: which of its jobs there are, and how far each is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.model.state import Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The jobs of one redeploy, as the cluster lists them."""

    old: ListedJob | None
    successor: ListedJob | None
    back: Mapping[str, ListedJob]
    """Those started again as it was, by job id."""
    strangers: tuple[str, ...]
    """Ids of other jobs that are alive under the same name."""


async def look(client: FlinkClient, intent: Intent, name: str) -> Sight:
    """
    Look at the cluster once.

    Raises:
        UnreachableError: it does not answer.
    """
    jobs = {job.job_id: job for job in await client.get("/jobs/overview", read_jobs)}
    redeploy = intent.redeploy
    successor = redeploy.successor if redeploy else ""
    ways_back = redeploy.ways_back if redeploy else ()
    ours = {intent.job_id, successor, *ways_back}
    return Sight(
        old=jobs.get(intent.job_id),
        successor=jobs.get(successor),
        back={job_id: jobs[job_id] for job_id in ways_back if job_id in jobs},
        strangers=tuple(
            job.job_id
            for job in jobs.values()
            if job.name == name and not job.status.is_over and job.job_id not in ours
        ),
    )
