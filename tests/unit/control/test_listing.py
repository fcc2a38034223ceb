"""Jobs that a plugin lists: with the operator's options, and not gone because the list cannot be had."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from headgate.control.listing import PluginJobList
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobList
from headgate.testing.builders import ORDERS, context

OPTIONS = AutoscalerOptions(utilization_target=0.5)


class Listing:
    """Lists one job, or does what a faulty plugin does."""

    def __init__(self) -> None:
        """Begin sound."""
        self.fault: Exception | None = None
        self.hangs = False

    async def fetch(self) -> JobList:
        """List, raise or hang."""
        if self.hangs:
            await asyncio.Event().wait()
        if self.fault:
            raise self.fault
        return JobList(jobs=(context(ORDERS),), failures={"lab": "away"})


def jobs_of(plugin: Listing) -> PluginJobList:
    """Stand in front of a plugin."""
    asked: list[JobKey] = []

    def options_of(job: JobKey) -> AutoscalerOptions:
        asked.append(job)
        return OPTIONS

    return PluginJobList(name="ours", plugin=plugin, options_of=options_of, time_limit=timedelta(seconds=0.05))


async def test_its_jobs_have_the_operators_options() -> None:
    """Whatever the plugin put there."""
    listed = await jobs_of(Listing()).fetch()
    assert listed.jobs == (replace(context(ORDERS), options=OPTIONS),)
    assert listed.failures == {"lab": "away"}


async def test_one_that_never_answered_fails_under_its_own_name() -> None:
    """Nobody knows which clusters it has."""
    plugin = Listing()
    plugin.fault = RuntimeError("no such table")
    listed = await jobs_of(plugin).fetch()
    assert listed == JobList(jobs=(), failures={"ours": "the job list ours failed: RuntimeError: no such table"})


async def test_where_it_fails_or_hangs_its_clusters_have_failed() -> None:
    """So the jobs that were there last are unreachable, not gone."""
    plugin = Listing()
    jobs = jobs_of(plugin)
    await jobs.fetch()
    plugin.hangs = True
    hung = await jobs.fetch()
    assert hung.failures == dict.fromkeys(["lab", ORDERS.cluster], "the job list ours failed: no answer within 0.05 s")
    plugin.hangs = False
    assert [job.key for job in (await jobs.fetch()).jobs] == [ORDERS]
