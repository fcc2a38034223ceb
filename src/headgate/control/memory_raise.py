"""
Raises the memory of a cluster's TaskManagers through whoever starts them, for a job that its rescale left short of it.

It restarts them all, so it is done only for a job that has its cluster to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.algorithm.memory.raising import NoRaise, raised_memory
from headgate.errors import RefusedError
from headgate.model.identity import JobKey
from headgate.model.rollback import Evidence, Shortage, Trial
from headgate.model.samples import JobSample
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext, JobListFetcher, ResourceProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersMemoryRaise:
    """
    A `control.rollback.memory.MemoryRaise` over the resource providers of the clusters.

    The amount follows from the cluster's own settings, as its JobManager has them: a second rescale that is short of
    the same gets the same, and is told that this was not enough.
    """

    providers: Mapping[str, ResourceProvider]
    """By cluster; one without has workers that nobody can restart."""
    fetchers: Mapping[str, JobListFetcher]
    """By cluster: they tell whose jobs would be disturbed."""

    async def raise_for(
        self, ctx: JobContext, trial: Trial, evidence: Evidence, sample: JobSample | None, /
    ) -> str | None:
        """Ask for more memory; the contract is the port's."""
        shortage, provider = evidence.shortage, self.providers.get(ctx.key.cluster)
        if shortage is None:
            return "more memory is no cure for that"
        if provider is None:
            return f"nobody can restart the TaskManagers of {ctx.key.cluster} with more {shortage.pool}"
        if sample is None:
            return "its memory settings are not known"
        if others := await self._others(ctx.key):
            return f"that would restart the TaskManagers of {others} too"
        wanted = sample.topology.with_parallelism(trial.after)
        return await _raised(provider, shortage, wanted, sample, ctx.options)

    async def _others(self, job: JobKey) -> str:
        """Name who else runs on the cluster; empty for nobody."""
        fetcher = self.fetchers.get(job.cluster)
        listed = await fetcher.fetch() if fetcher else None
        if listed is None or job.cluster in listed.failures:
            return "whoever else runs there, which is not known,"
        names = [
            other.key.name
            for other in listed.jobs
            if other.key.cluster == job.cluster and other.key != job and not other.status.is_over
        ]
        return ", ".join(names)


async def _raised(
    provider: ResourceProvider, shortage: Shortage, wanted: Topology, sample: JobSample, options: AutoscalerOptions
) -> str | None:
    workers = await provider.workers()
    count = max(workers.wanted, workers.ready)
    if count * sample.settings.slots_per_task_manager < (sample.slots_total or 1):
        return "some of its TaskManagers were started by somebody else"
    found = raised_memory(shortage, wanted, sample.settings, options, workers=count)
    if isinstance(found, NoRaise):
        return found.reason
    try:
        changed = await provider.reconfigure(found.settings)
    except RefusedError as error:
        return f"its TaskManagers cannot be given more memory: {error}"
    return None if changed else "it was given all that memory before"
