"""The whole examination: looks at everything that the options name, and has every check judge what was seen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

from headgate.doctor.checks.cluster import check_cluster
from headgate.doctor.checks.job import (
    check_checkpoints,
    check_headroom,
    check_own_options,
    check_reactive_mode,
    check_realizer,
    check_running,
)
from headgate.doctor.checks.machine import check_machine
from headgate.doctor.checks.metrics import check_busy_time, check_chaining, check_lag, check_partitions
from headgate.doctor.checks.pace import check_intervals, check_pace
from headgate.doctor.checks.places import check_places
from headgate.doctor.facts import ClusterFacts, JobFacts
from headgate.doctor.findings import Finding, Report, broken, doubtful
from headgate.doctor.looks.cluster import look_at_cluster
from headgate.doctor.looks.machine import look_at_machine
from headgate.doctor.looks.others import look_at_others
from headgate.doctor.looks.places import is_there, look_at_places
from headgate.options.service import Mode, ServiceOptions

MACHINE, OWN = "this machine", "Headgate"


async def examine(options: ServiceOptions, *, deep: bool = False) -> tuple[Report, ...]:
    """
    Examine the machine, Headgate's own places, every cluster and every job that is not over. Changes nothing.

    Args:
        options: the service's.
        deep: whether to start Spark.
    """
    # One after the other: importing PySpark would make a cluster seem slow, and its clock doubtful.
    machine = await asyncio.to_thread(look_at_machine, options, deep=deep)
    own = await asyncio.to_thread(look_at_places, options)
    others, clusters = await asyncio.gather(
        look_at_others(options), asyncio.gather(*(look_at_cluster(each, options) for each in options.clusters))
    )
    return (
        Report(about=MACHINE, findings=tuple(check_machine(machine))),
        Report(about=OWN, findings=(*check_places(own), *check_intervals(options))),
        *judge(clusters, options),
        *judge(others, options),
    )


def judge(clusters: Iterable[ClusterFacts], options: ServiceOptions) -> Iterator[Report]:
    """Have every check judge what was seen of clusters, and of the jobs of those that were looked into."""
    for cluster in clusters:
        yield Report(about=cluster.name, findings=tuple(check_cluster(cluster)))
        if cluster.flink:
            yield from (Report(about=str(job.job.key), findings=tuple(_of_job(job, options))) for job in cluster.jobs)


def of_file(path: Path, *, faults: Iterable[str] = (), warnings: Iterable[str] = ()) -> Report:
    """Say what is wrong with the service's file."""
    remedy = "correct it" if is_there(path) else "write one: `headgate init URL`, or name another with --config"
    wrong = [broken("options", fault, why="`headgate run` does not start like that", remedy=remedy) for fault in faults]
    old = [doubtful("options", text, why="it may not hold as you think", remedy="change it") for text in warnings]
    return Report(about=str(path), findings=(*wrong, *old))


def _of_job(job: JobFacts, options: ServiceOptions) -> Iterator[Finding]:
    wants = job.job.options
    yield from check_own_options(job)
    yield from check_running(job)
    if job.gone is not None or not wants.enabled:
        return
    mode = options.mode if wants.scaling_enabled else Mode.ADVISE
    yield from check_realizer(job, mode)
    yield from check_reactive_mode(job)
    yield from check_checkpoints(job, mode)
    yield from check_headroom(job)
    yield from check_lag(job)
    yield from check_partitions(job)
    yield from check_busy_time(job)
    yield from check_chaining(job)
    yield from check_pace(job, options)
