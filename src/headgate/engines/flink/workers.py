"""What the TaskManagers of a cluster tell: how much of their memory and time they use, and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.numbers import number
from headgate.model.measures import JobMeasure
from headgate.model.samples import Aggregate

HEAP_MAX, HEAP_USED = "Status.JVM.Memory.Heap.Max", "Status.JVM.Memory.Heap.Used"
MANAGED_USED, METASPACE_USED = "Status.Flink.Memory.Managed.Used", "Status.JVM.Memory.Metaspace.Used"
GC_PER_SECOND = "Status.JVM.GarbageCollector.All.TimeMsPerSecond"
"""Younger than the others: a Flink that does not know it answers nothing at all when it is asked for it."""
_MEMORY = (HEAP_MAX, HEAP_USED, MANAGED_USED, METASPACE_USED)
_MILLIS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskManagerSize:
    """One TaskManager, the largest where they differ."""

    slots: int
    memory_bytes: int | None
    """Total process memory; None where the TaskManager does not know it."""


class WorkerMetrics:
    """Asks one cluster's TaskManagers; remembers whether they know the metric of garbage collection."""

    def __init__(self, client: FlinkClient) -> None:
        """Ask nothing yet."""
        self._client = client
        self._tells_gc: bool | None = None

    async def read(self) -> Mapping[JobMeasure, float]:
        """
        Give what is known; nothing while no TaskManager has reported.

        Raises:
            HeadgateError: as the client.
        """
        if self._tells_gc is not None:
            return await self._read_chosen(self._tells_gc)
        for tells_gc in (True, False):
            if found := await self._read_chosen(tells_gc):
                return found
        return {}

    async def aggregates(self) -> Mapping[str, Aggregate]:
        """
        Give the same metrics under Flink's names, aggregated in every way; nothing while no TaskManager has reported.

        Raises:
            HeadgateError: as the client.
        """
        for tells_gc in (True, False) if self._tells_gc is None else (self._tells_gc,):
            path = f"/taskmanagers/metrics?get={','.join(_names(tells_gc))}&agg=min,max,avg,sum"
            if found := await self._client.get(path, read_aggregates):
                return found
        return {}

    async def _read_chosen(self, tells_gc: bool) -> Mapping[JobMeasure, float]:  # noqa: FBT001 -- the probe's answer
        path = f"/taskmanagers/metrics?get={','.join(_names(tells_gc))}&agg=max"
        largest = await self._client.get(path, read_largest)
        self._tells_gc = tells_gc if largest else None
        return job_values(largest)


def _names(tells_gc: bool) -> tuple[str, ...]:  # noqa: FBT001 -- the probe's answer
    return (*_MEMORY, GC_PER_SECOND) if tells_gc else _MEMORY


def read_largest(answer: Any) -> dict[str, float]:
    """Read metrics aggregated over TaskManagers: the maxima that are numbers."""
    known = ((entry["id"], number(entry.get("max"))) for entry in answer)
    return {name: value for name, value in known if value is not None}


def read_aggregates(answer: Any) -> dict[str, Aggregate]:
    """Read metrics aggregated over TaskManagers in every way; one of which something is no number is left out."""
    found: dict[str, Aggregate] = {}
    for entry in answer:
        least, most, mean, total = (number(entry.get(name)) for name in ("min", "max", "avg", "sum"))
        if least is not None and most is not None and mean is not None and total is not None:
            found[entry["id"]] = Aggregate(least=least, most=most, mean=mean, total=total)
    return found


def job_values(largest: Mapping[str, float]) -> dict[JobMeasure, float]:
    """
    Give the job-wide measures of the largest values of any TaskManager; what is not known is absent.

    Heap in use counts where its maximum is known, too; they may be of different TaskManagers. Source: the reference's
    `computeGlobalMetrics`.
    """
    heap_max = largest.get(HEAP_MAX)
    heap_used = None if heap_max is None else largest.get(HEAP_USED)
    found = {
        JobMeasure.GC_PRESSURE: _ratio(largest.get(GC_PER_SECOND), _MILLIS),
        JobMeasure.HEAP_MEMORY_USED: heap_used,
        JobMeasure.HEAP_MAX_USAGE_RATIO: _ratio(heap_used, heap_max),
        JobMeasure.MANAGED_MEMORY_USED: largest.get(MANAGED_USED),
        JobMeasure.METASPACE_MEMORY_USED: largest.get(METASPACE_USED),
    }
    return {measure: value for measure, value in found.items() if value is not None}


def read_size(answer: Any) -> TaskManagerSize | None:
    """Read `/taskmanagers`; None while there is none."""
    workers = answer["taskmanagers"]
    if not workers:
        return None
    memory = [int(known) for worker in workers if (known := _process_memory(worker)) is not None]
    return TaskManagerSize(
        slots=max(int(worker["slotsNumber"]) for worker in workers),
        memory_bytes=max(memory, default=None),
    )


def _process_memory(worker: Mapping[str, Any]) -> float | None:
    known = number((worker.get("memoryConfiguration") or {}).get("totalProcessMemory"))
    return known if known and known > 0 else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    # the JVM says -1 of a heap without a bound
    return part / whole if part is not None and whole is not None and whole > 0 else None
