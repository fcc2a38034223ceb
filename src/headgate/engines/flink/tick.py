"""One job at one tick: every vertex is read, looked at, and becomes a sample if it says something new."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from headgate.engines.flink.backlog import Backlog
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.counters import Counters
from headgate.engines.flink.details import JobDetails, VertexDetails
from headgate.engines.flink.gauges import Gauges, lag_of, observed_of
from headgate.engines.flink.load import LoadReading, gauge_values, read_gauges, read_load
from headgate.engines.flink.look import Look, Reading, look
from headgate.engines.flink.memory import JobMemory, VertexMemory
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.source import SourceReading, observed_since, read_source
from headgate.engines.flink.waiting import Found, Waiting, idling
from headgate.errors import NotFoundError
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What all vertices of a job are read with."""

    client: FlinkClient
    job_id: str
    at: datetime
    refresh: timedelta
    """How often the engine fetches its metrics."""
    options: AutoscalerOptions
    details: JobDetails
    asked_s: float
    """When the details were asked for, on the event loop's clock."""
    memory: JobMemory
    waiting: Waiting
    by_gauges: bool
    """Whether loads and rates come from the engine's gauges, as the reference autoscaler takes them."""

    async def observe(self) -> dict[VertexId, VertexSample]:
        """Look at every vertex that runs; one with nothing new, or not wholly reported yet, is left out."""
        known = [vertex for vertex in self.details.vertices if not vertex.finished and vertex.counters]
        asking = [vertex for vertex in known if self._asks_more(vertex)]
        samples = {vertex.id: await self._observe(vertex) for vertex in known if vertex not in asking}
        answers = await _all([self._observe(vertex) for vertex in asking])
        samples |= {vertex.id: sample for vertex, sample in zip(asking, answers, strict=True)}
        return {vertex: sample for vertex, sample in samples.items() if sample is not None}

    def _asks_more(self, vertex: VertexDetails) -> bool:
        """Tell whether `/jobs/:id` is not enough for a vertex."""
        if self.by_gauges or vertex.id in self.details.sources:
            return True
        if vertex.counters is None or vertex.counters.busy_ms is None:
            return True
        return self.options.busy_time_aggregator is not BusyTimeAggregator.AVG and vertex.parallelism > 1

    async def _observe(self, vertex: VertexDetails) -> VertexSample | None:
        memory = self.memory.vertex(vertex.id)
        try:
            if vertex.id in self.details.sources:
                return await self._observe_source(vertex, memory)
            return await self._observe_inner(vertex, memory)
        except NotFoundError:
            return None  # the job answered just now; its task is being replaced

    async def _observe_source(self, vertex: VertexDetails, memory: VertexMemory) -> VertexSample | None:
        source = await read_source(
            self.client,
            self._path(vertex),
            known=memory.names,
            at=self.at,
            gauges=self.by_gauges,
            offsets=self.waiting.offsets is not None,
        )
        if source is None:
            return None
        memory.names = source.known
        if source.kafka is not None and not source.kafka.is_settled(vertex.parallelism, self._age(vertex)):
            memory.names = None  # not all subtasks may have told their names
            return None
        seen = self._look(vertex, source.counters, memory)
        if seen is None or not seen.is_sample:
            return None
        found = await self._before(source, seen, memory)
        if found is None:
            return None
        waiting, origin = found.backlog.values, found.backlog.origin
        own = {**waiting, **self._observed(source, seen, memory, waiting.get(Measure.LAG))}
        if origin is not None:
            own[Measure.LAG_ORIGIN] = float(origin)
        tells_all = self.by_gauges or source.counters.busy_ms is None
        load = await self._load(vertex, seen, memory, source.gauges if tells_all else None)
        return _sample(memory, seen, load, own, anew=found.begins_anew)

    async def _observe_inner(self, vertex: VertexDetails, memory: VertexMemory) -> VertexSample | None:
        seen = self._look(vertex, vertex.counters or Counters(), memory)
        if seen is None or not seen.is_sample:
            return None
        tells_all = self.by_gauges or seen.seen.reading.counters.busy_ms is None
        gauges = await read_gauges(self.client, self._path(vertex)) if tells_all else None
        return _sample(memory, seen, await self._load(vertex, seen, memory, gauges), {})

    async def _before(self, source: SourceReading, seen: Look, memory: VertexMemory) -> Found | None:
        """Give what waits before a source, and what else is known of that; None while it is cut off."""
        if self.by_gauges:
            lag = lag_of(source.gauges)
            values = {} if math.isnan(lag) else {Measure.LAG: lag}
            return Found(backlog=Backlog(origin=None, values=values), begins_anew=False)
        clock_ms = seen.seen.reading.clock_ms
        age = timedelta(milliseconds=self.details.now_ms - clock_ms) if clock_ms is not None else timedelta()
        return await self.waiting.before(source, seen, idling(seen), memory.backlog, self.at - age)

    def _observed(
        self, source: SourceReading, seen: Look, memory: VertexMemory, lag: float | None
    ) -> dict[Measure, float]:
        options = self.options
        behind_s = options.observed_tpr_lag_threshold // timedelta(seconds=1)
        before = memory.observations(instant(self.details.running_since_ms))
        carried = before.mean(options.observed_tpr_min_observations)
        if self.by_gauges:
            rate = observed_of(source.gauges, behind_s, carried)
        else:
            rate = observed_since(seen, lag, behind_s, carried)
        before.add(self.at, rate, stabilization=options.stabilization_interval, window=options.metrics_window)
        return {} if math.isnan(rate) else {Measure.OBSERVED_TPR: rate}

    async def _load(
        self, vertex: VertexDetails, seen: Look, memory: VertexMemory, gauges: Gauges | None
    ) -> LoadReading:
        """Take the load from the gauges where there are some, else from the counters."""
        aggregator = self.options.busy_time_aggregator
        if gauges is not None:
            return LoadReading(values=gauge_values(gauges, aggregator))
        before = memory.subtasks if seen.before else {}
        return await read_load(self.client, self._path(vertex), look=seen, before=before, aggregator=aggregator)

    def _look(self, vertex: VertexDetails, counters: Counters, memory: VertexMemory) -> Look | None:
        reading = Reading(
            counters=counters,
            parallelism=vertex.parallelism,
            started_at_ms=vertex.started_at_ms,
            running_since_ms=self.details.running_since_ms,
            now_ms=self._now_ms(),
            all_running=vertex.all_running,
        )
        found = look(memory.seen, reading, at=self.at, refresh=self.refresh)
        memory.seen = found.seen if found else memory.seen
        return found

    def _now_ms(self) -> float:
        """Give the JobManager's clock, epoch milliseconds."""
        return self.details.now_ms + 1000 * self._elapsed_s()

    def _elapsed_s(self) -> float:
        return asyncio.get_running_loop().time() - self.asked_s

    def _age(self, vertex: VertexDetails) -> timedelta:
        """Give how long a vertex has run."""
        return timedelta(milliseconds=self._now_ms() - max(vertex.started_at_ms, self.details.running_since_ms))

    def _path(self, vertex: VertexDetails) -> str:
        return f"/jobs/{self.job_id}/vertices/{vertex.id}"


def _sample(
    memory: VertexMemory, seen: Look, load: LoadReading, own: Mapping[Measure, float], *, anew: bool = False
) -> VertexSample:
    """Put a sample together; a subtask that started anew begins an epoch even where no sum has fallen."""
    memory.subtasks = load.subtasks
    begins = load.restarted or anew
    if begins:
        memory.seen = replace(seen.seen, epoch=seen.seen.epoch + 1)
    return VertexSample(
        measured_at=seen.seen.measured_at,
        epoch=seen.seen.epoch + begins,
        values={**seen.seen.reading.counters.values(), **load.values, **own},
    )


async def _all(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Wait for all calls, and only then raise the first failure: none is left running behind."""
    if len(calls) == 1:
        return [await calls[0]]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if not isinstance(answer, BaseException)]
