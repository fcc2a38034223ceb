"""Looks whether what is no plain Flink cluster answers: YARN, Kubernetes, and Spark clusters seen from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from headgate.doctor.facts import ClusterFacts, JobFacts
from headgate.engines.flink.redeploy.realizer import always
from headgate.errors import HeadgateError, UnreachableError
from headgate.options.service import ServiceOptions
from headgate.ports import JobListFetcher
from headgate.wiring.engines import open_engines


async def look_at_others(options: ServiceOptions) -> Sequence[ClusterFacts]:
    """List the jobs of each; they are not looked into."""
    if not (options.yarn or options.kubernetes or options.spark):
        return ()
    apart = replace(options, clusters=())
    async with AsyncExitStack() as stack:
        try:
            engines = await open_engines(apart, lambda: apart, stack, still_ours=always)
        except HeadgateError as error:
            return [ClusterFacts(name=name, flink=False, failure=error) for name in apart.cluster_names]
        looks = (_look(name, fetcher) for name, fetcher in engines.fetchers.items())
        return await asyncio.gather(*looks)


async def _look(name: str, fetcher: JobListFetcher) -> ClusterFacts:
    try:
        listed = await fetcher.fetch()
    except HeadgateError as error:
        return ClusterFacts(name=name, flink=False, failure=error)
    if listed.failures:
        return ClusterFacts(name=name, flink=False, failure=UnreachableError("; ".join(listed.failures.values())))
    return ClusterFacts(
        name=name, flink=False, jobs=tuple(JobFacts(job=job) for job in listed.jobs if not job.status.is_over)
    )
