"""Lists the jobs of any number of Flink clusters, and gives each its key and its options."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.engines.flink.wishes import Basis, SettingsOf, Wishes
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.ports import JobContext, JobList


class FlinkJobListFetcher:
    """Asks all clusters at once. Implements `headgate.ports.JobListFetcher`."""

    def __init__(
        self, clients: Mapping[str, FlinkClient], settings_of: SettingsOf, *, basis: Basis = lambda: None
    ) -> None:
        """
        Ask nothing yet.

        Args:
            clients: the clusters by name; whoever made them closes them.
            settings_of: gives the options that hold for a job, by its key and its own configuration.
            basis: gives another object whenever these may have changed.
        """
        self._clients = clients
        self._wishes = {name: Wishes(client, settings_of, basis=basis) for name, client in clients.items()}

    async def fetch(self) -> JobList:
        """List the jobs of every cluster that answers; the contract is the port's."""
        answers = await asyncio.gather(*(self._list(cluster) for cluster in self._clients))
        by_cluster = dict(zip(self._clients, answers, strict=True))
        return JobList(
            jobs=tuple(job for answer in answers if not isinstance(answer, str) for job in answer),
            failures={cluster: answer for cluster, answer in by_cluster.items() if isinstance(answer, str)},
        )

    async def _list(self, cluster: str) -> Sequence[JobContext] | str:
        try:
            listed = await self._clients[cluster].get("/jobs/overview", read_jobs)
        except HeadgateError as error:
            return str(error)
        self._wishes[cluster].keep(job.job_id for job in listed)
        return await asyncio.gather(*(self._context(key, job) for key, job in name_jobs(cluster, listed)))

    async def _context(self, key: JobKey, job: ListedJob) -> JobContext:
        # by the name alone: the second job of a name is no less bound by what its owner wants
        owner_key = JobKey(key.cluster, job.name)
        settings = await self._wishes[key.cluster].settings(owner_key, job.job_id, status=job.status)
        return JobContext(
            key=key,
            job_id=job.job_id,
            status=job.status,
            options=settings.options,
            faults=settings.told,
            started_at=instant(job.started_at_ms),
        )


def name_jobs(cluster: str, jobs: Iterable[ListedJob]) -> Iterator[tuple[JobKey, ListedJob]]:
    """
    Give each job its key, in order of keys.

    Of a name's jobs that are alive the oldest has the name, the others `name (job id)`. Jobs that are over count only
    when none of their name lives, and then the latest alone: Flink lists them for an hour.
    """
    by_name: dict[str, list[ListedJob]] = defaultdict(list)
    for job in sorted(jobs, key=lambda job: (job.started_at_ms, job.job_id)):
        by_name[job.name].append(job)
    for name in sorted(by_name):
        alive = [job for job in by_name[name] if not job.status.is_over]
        first, *others = alive or by_name[name][-1:]
        yield JobKey(cluster, name), first
        yield from ((JobKey(cluster, f"{name} ({job.job_id})"), job) for job in others)
