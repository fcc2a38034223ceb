"""One cluster: its Flink, its Prometheus, and what all its jobs share at a tick."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import Slots
from headgate.engines.flink.shared import Shared
from headgate.engines.flink.standing import StandingSettings
from headgate.engines.flink.standstill import Standstills
from headgate.engines.prometheus.queries import COUNTERS, Quantity, Queries, partition_of
from headgate.engines.prometheus.scrapes import Scrapes
from headgate.engines.prometheus.server import PrometheusServer
from headgate.engines.prometheus.workers import ScrapedProcesses
from headgate.errors import UnreachableError
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure

Partitions = Mapping[str, Mapping[VertexId, int]]

_PARTITIONS_AGE = timedelta(minutes=1)
_GAUGES_FOR = timedelta(minutes=1)
"""Once a job has needed the gauges, all jobs share the wider answer for so long, instead of having one each."""
_COUNTED = COUNTERS | {Quantity.PENDING_RECORDS}


class ScrapedCluster:
    """Asks once a tick, whichever job comes first."""

    def __init__(self, client: FlinkClient, server: PrometheusServer) -> None:
        """Ask nothing yet."""
        self.client = client
        self.name = server.name
        self.scrape_interval = server.options.scrape_interval
        self.settings = StandingSettings(client)
        self.standstills = Standstills(client)
        self._server = server
        self._queries = Queries(server.options.matchers, self.scrape_interval)
        self.processes = ScrapedProcesses(server, self._queries)
        self._counters: Shared[Scrapes | UnreachableError] = Shared(lambda: self._ask(_COUNTED))
        self._all: Shared[Scrapes | UnreachableError] = Shared(lambda: self._ask(frozenset(Quantity)))
        self._gauges_until: datetime | None = None
        self._partitions: Shared[Partitions] = Shared(self._read_partitions, _PARTITIONS_AGE)
        self.slots: Shared[Slots | None] = Shared(self.processes.slots)
        self.values: Shared[Mapping[JobMeasure, float]] = Shared(self.processes.values)

    async def scrapes(self, at: datetime, *, gauges: bool) -> Scrapes:
        """
        Give what was scraped of all jobs, at a tick.

        Args:
            at: the tick.
            gauges: whether the gauges of rates and times are needed too.

        Raises:
            UnreachableError: Prometheus gives no usable answer.
        """
        if gauges:
            self._gauges_until = at + _GAUGES_FOR
        wide = self._gauges_until is not None and at <= self._gauges_until
        found = await (self._all if wide else self._counters).get(at)
        if isinstance(found, Scrapes):
            return found
        # a new one for each job: an error that several raise gathers the traces of all
        raise UnreachableError(str(found)) from found

    async def partitions(self, job_id: str, at: datetime) -> Mapping[VertexId, int]:
        """Give how many partitions a job's sources read; one that names none is absent."""
        return (await self._partitions.get(at) or {}).get(job_id, {})

    async def _ask(self, quantities: Collection[Quantity]) -> Scrapes | UnreachableError:
        try:
            answers = await self._server.ask_all([*map(self._queries.of_subtasks, quantities)])
        except UnreachableError as error:
            return error
        return await asyncio.to_thread(Scrapes, dict(zip(quantities, answers, strict=True)))

    async def _read_partitions(self) -> Partitions:
        found: dict[str, dict[VertexId, set[tuple[str, ...]]]] = {}
        for series in await self._server.ask(self._queries.partitions()):
            of_job = found.setdefault(series.labels.get("job_id", ""), {})
            of_job.setdefault(VertexId(series.labels.get("task_id", "")), set()).add(partition_of(series.labels))
        return {job: {vertex: len(each) for vertex, each in of_job.items()} for job, of_job in found.items()}
