"""What Prometheus has scraped of a cluster's TaskManagers and its JobManager."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from headgate.engines.flink.overview import Slots
from headgate.engines.flink.workers import (
    GC_PER_SECOND,
    HEAP_MAX,
    HEAP_USED,
    MANAGED_USED,
    METASPACE_USED,
    job_values,
)
from headgate.engines.prometheus.queries import Queries
from headgate.engines.prometheus.server import PrometheusServer, Series
from headgate.model.measures import JobMeasure
from headgate.model.samples import Aggregate

_OF_TASK_MANAGERS = (HEAP_MAX, HEAP_USED, MANAGED_USED, METASPACE_USED, GC_PER_SECOND)
_SLOTS, _FREE = "taskSlotsTotal", "taskSlotsAvailable"
_OF_JOB_MANAGER = (_SLOTS, _FREE, "numRegisteredTaskManagers", "numRunningJobs")


class ScrapedProcesses:
    """The processes of one cluster; one that is gone counts until it was missed in a few scrapes."""

    def __init__(self, server: PrometheusServer, queries: Queries) -> None:
        """Ask nothing yet."""
        self._server = server
        self._queries = queries

    async def values(self) -> Mapping[JobMeasure, float]:
        """
        Give the job-wide measures of the largest values of any TaskManager; what is not known is absent.

        Raises:
            UnreachableError: Prometheus gives no usable answer.
        """
        return job_values({name: each.most for name, each in (await self.aggregates()).items()})

    async def aggregates(self) -> Mapping[str, Aggregate]:
        """Give the memory and garbage collection of the TaskManagers by Flink's names; otherwise as `values`."""
        found = await self._latest("flink_taskmanager_", _OF_TASK_MANAGERS)
        return {name: _aggregate(values) for name, values in found.items() if values}

    async def slots(self) -> Slots | None:
        """Give the cluster's slots; None where no JobManager was scraped. Otherwise as `values`."""
        found = await self._latest("flink_jobmanager_", (_SLOTS, _FREE))
        if not (found[_SLOTS] and found[_FREE]):
            return None
        return Slots(total=int(max(found[_SLOTS])), free=int(max(found[_FREE])))

    async def of_job_manager(self) -> Mapping[str, float]:
        """Give the JobManager's slots, TaskManagers and jobs by Flink's names. Otherwise as `values`."""
        found = await self._latest("flink_jobmanager_", _OF_JOB_MANAGER)
        return {name: max(values) for name, values in found.items() if values}

    async def _latest(self, prefix: str, names: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the latest value of every process by name."""
        queries = [self._queries.scraped(prefix + name.replace(".", "_")) for name in names]
        answers = await self._server.ask_all(queries)
        return {name: _newest(series) for name, series in zip(names, answers, strict=True)}


def _newest(series: Sequence[Series]) -> list[float]:
    """Give the latest value of each process; of several series of one, as after a restart, the latest counts."""
    latest: dict[tuple[str, str], tuple[float, float]] = {}
    for each in series:
        if each.samples:
            process = each.labels.get("host", ""), each.labels.get("tm_id", "")
            latest[process] = max(latest.get(process, (-math.inf, 0.0)), *each.samples.items())
    return [value for _, value in latest.values()]


def _aggregate(values: Sequence[float]) -> Aggregate:
    total = math.fsum(values)
    return Aggregate(least=min(values), most=max(values), mean=total / len(values), total=total)
