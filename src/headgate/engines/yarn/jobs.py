"""Lists the jobs of all Flink applications of a YARN cluster. Implements `headgate.ports.JobListFetcher`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from headgate.engines.yarn.applications import Applications
from headgate.engines.yarn.manager import ResourceManagers
from headgate.errors import HeadgateError
from headgate.ports import JobList


class YarnJobListFetcher:
    """Asks the ResourceManager what runs, and each application for its jobs."""

    def __init__(self, name: str, managers: ResourceManagers, applications: Applications) -> None:
        """
        Ask nothing yet.

        Args:
            name: the YARN cluster's, under which it fails while no application is known.
            managers: who to ask; whoever made them closes them.
            applications: follows what runs; collector and realizer look there, too.
        """
        self._name = name
        self._managers = managers
        self._applications = applications

    async def fetch(self) -> JobList:
        """List the jobs of every application that answers; the contract is the port's."""
        try:
            listing = await self._managers.applications()
        except HeadgateError as error:
            return JobList(jobs=(), failures=self._all_failing(str(error)))
        await self._applications.follow(listing)
        lists = await asyncio.gather(*(one.fetcher.fetch() for one in self._applications.running.values()))
        failing = {cluster: why for listed in lists for cluster, why in listed.failures.items()}
        return JobList(
            jobs=tuple(job for listed in lists for job in listed.jobs),
            failures={**self._applications.failures, **failing},
        )

    def _all_failing(self, why: str) -> Mapping[str, str]:
        """Say it of each application that ran last: not seen is not gone."""
        known = [*self._applications.running, *self._applications.failures]
        return dict.fromkeys(known or [self._name], why)
