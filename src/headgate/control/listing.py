"""Jobs that a plugin lists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobList, JobListFetcher


@dataclass(kw_only=True)
class PluginJobList:
    """
    A `ports.JobListFetcher` in front of somebody's: its jobs get the options that the operator has for them.

    Where it fails or hangs, its clusters have failed: the jobs that were there last are not gone.
    """

    name: str
    """As the options call it."""
    plugin: JobListFetcher
    options_of: Callable[[JobKey], AutoscalerOptions]
    time_limit: timedelta
    _clusters: frozenset[str] = field(default=frozenset(), init=False)
    """Of the jobs that were there last."""

    async def fetch(self) -> JobList:
        """List its jobs."""
        try:
            async with asyncio.timeout(self.time_limit.total_seconds()):
                listed = await self.plugin.fetch()
        except TimeoutError:
            return self._failed(f"no answer within {self.time_limit.total_seconds():g} s")
        except Exception as error:  # noqa: BLE001 - it is anybody's code
            return self._failed(f"{type(error).__name__}: {error}")
        self._clusters = frozenset(job.key.cluster for job in listed.jobs) | listed.failures.keys()
        jobs = (replace(job, options=self.options_of(job.key)) for job in listed.jobs)
        return replace(listed, jobs=tuple(jobs))

    def _failed(self, why: str) -> JobList:
        told = f"the job list {self.name} failed: {why}"
        return JobList(jobs=(), failures=dict.fromkeys(self._clusters or {self.name}, told))
