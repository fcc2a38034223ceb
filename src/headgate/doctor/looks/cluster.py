"""Looks at one Flink cluster over REST, and at all of its jobs; one that does not answer is no error."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headgate.config import for_job
from headgate.doctor.facts import ClusterFacts, JobFacts, Tried
from headgate.doctor.looks.brokers import brokers_of
from headgate.doctor.looks.job import Standing, look_at_job, tried
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.overview import Slots, read_slots
from headgate.engines.flink.settings import read_config
from headgate.engines.flink.workers import read_size
from headgate.engines.prometheus.server import PrometheusServer
from headgate.errors import HeadgateError
from headgate.options.service import ClusterOptions, ServiceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Overview:
    version: str | None
    workers: int
    slots: Slots


async def look_at_cluster(cluster: ClusterOptions, options: ServiceOptions) -> ClusterFacts:
    """Look at one of the service's clusters."""
    async with FlinkClient(cluster) as client:
        began_s = time.monotonic()
        try:
            overview = await client.get("/overview", _read_overview)
        except HeadgateError as error:
            return ClusterFacts(name=cluster.name, failure=error)
        answered_in = timedelta(seconds=time.monotonic() - began_s)
        config, size, prometheus = await asyncio.gather(
            tried(client, "/jobmanager/config", read_config),
            tried(client, "/taskmanagers", read_size),
            _scraped(cluster),
        )
        async with brokers_of(options) as offsets:
            standing = Standing(config=config, size=size, offsets=offsets)
            jobs, listed = await _look_at_jobs(client, standing, options)
    return ClusterFacts(
        name=cluster.name,
        listed=listed,
        answered_in=answered_in,
        version=overview.version,
        workers=overview.workers,
        slots=overview.slots,
        config=config,
        staffed=cluster.workers.provider is not None,
        prometheus=prometheus,
        jobs=tuple(jobs),
    )


def _read_overview(answer: Any) -> _Overview:
    return _Overview(version=answer.get("flink-version"), workers=int(answer["taskmanagers"]), slots=read_slots(answer))


async def _look_at_jobs(
    client: FlinkClient, standing: Standing, options: ServiceOptions
) -> tuple[Sequence[JobFacts], str | None]:
    """Look at the jobs that are not over, or say why they could not be listed."""
    listed = await FlinkJobListFetcher({client.cluster: client}, lambda key, own: for_job(options, key, own)).fetch()
    alive = [job for job in listed.jobs if not job.status.is_over]
    looks = await asyncio.gather(*(look_at_job(client, job, standing, options) for job in alive))
    return looks, listed.failures.get(client.cluster)


async def _scraped(cluster: ClusterOptions) -> Tried | None:
    if cluster.prometheus.url is None:
        return None
    server = PrometheusServer(cluster.name, cluster.prometheus)
    try:
        return Tried(told=f"{len(await server.ask('up'))} targets are known to it")
    except HeadgateError as error:
        return Tried(fault=str(error))
    finally:
        await server.close()
