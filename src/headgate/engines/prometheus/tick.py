"""One job at one tick: every vertex that was scraped anew becomes a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.engines.flink.details import JobDetails, VertexDetails
from headgate.engines.flink.gauges import lag_of, observed_of
from headgate.engines.flink.load import gauge_values, load_since
from headgate.engines.flink.look import Look
from headgate.engines.flink.names import FlinkMetric
from headgate.engines.flink.numbers import instant, number
from headgate.engines.flink.source import observed_since
from headgate.engines.prometheus.look import Now, ScrapedVertex, look
from headgate.engines.prometheus.memory import ScrapedJob
from headgate.engines.prometheus.reading import VertexReading, read_vertex
from headgate.engines.prometheus.scrapes import Scrapes
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import VertexSample
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What all vertices of a job are read with."""

    at: datetime
    now_ms: float
    """The JobManager's clock."""
    options: AutoscalerOptions
    details: JobDetails
    scrapes: Scrapes
    memory: ScrapedJob
    by_gauges: bool
    """Whether loads and rates come from the engine's gauges, as the reference autoscaler takes them."""

    def observe(self) -> dict[VertexId, VertexSample]:
        """Look at every vertex that runs; one with nothing new, or not wholly scraped, is left out."""
        running = [vertex for vertex in self.details.vertices if not vertex.finished]
        found = [(vertex, read) for vertex in running if (read := self._read(vertex)) is not None]
        self.memory.lacks_times = any(read.counters.busy_ms is None for _, read in found)
        samples = {vertex.id: self._observe(vertex, read) for vertex, read in found}
        return {vertex: sample for vertex, sample in samples.items() if sample is not None}

    def _read(self, vertex: VertexDetails) -> VertexReading | None:
        return read_vertex(self.scrapes.of(self.memory.job_id, vertex.id), vertex.parallelism)

    def _observe(self, vertex: VertexDetails, read: VertexReading) -> VertexSample | None:
        memory, is_source = self.memory.scraped_vertex(vertex.id), vertex.id in self.details.sources
        counters = read.counters_of_source if is_source else read.counters
        now = Now(at=self.at, now_ms=self.now_ms, running_since_ms=self.details.running_since_ms)
        seen = look(memory, vertex, read, counters, now)
        if seen is None:
            return None
        load = self._load(seen, read, memory)
        own = self._of_source(seen, read, memory) if is_source else {}
        memory.seen, memory.read = seen.seen, read
        return VertexSample(
            measured_at=seen.seen.measured_at,
            epoch=seen.seen.epoch,
            values={**counters.values(), **load, **own},
        )

    def _load(self, seen: Look, read: VertexReading, memory: ScrapedVertex) -> Mapping[Measure, float]:
        """Take the load from the gauges where there are no counters, or the job wants it, else from the counters."""
        aggregator = self.options.busy_time_aggregator
        if self.by_gauges or read.counters.busy_ms is None:
            return gauge_values(read.gauges, aggregator)
        if aggregator is BusyTimeAggregator.AVG or seen.before is None or memory.read is None:
            return {}
        return load_since(memory.read.by_index, read.by_index, aggregator)

    def _of_source(self, seen: Look, read: VertexReading, memory: ScrapedVertex) -> Mapping[Measure, float]:
        lag = lag_of(read.gauges) if self.by_gauges else _lag(read)
        observed = self._observed(seen, read, memory)
        known = {Measure.LAG: math.nan if lag is None else lag, Measure.OBSERVED_TPR: observed}
        return {measure: value for measure, value in known.items() if not math.isnan(value)}

    def _observed(self, seen: Look, read: VertexReading, memory: ScrapedVertex) -> float:
        options = self.options
        behind_s = options.observed_tpr_lag_threshold // timedelta(seconds=1)
        before = memory.observations(instant(self.details.running_since_ms))
        carried = before.mean(options.observed_tpr_min_observations)
        if self.by_gauges:
            rate = observed_of(read.gauges, behind_s, carried)
        else:
            rate = observed_since(seen, _lag(read), behind_s, carried)
        before.add(self.at, rate, stabilization=options.stabilization_interval, window=options.metrics_window)
        return rate


def _lag(read: VertexReading) -> float | None:
    """Give the records waiting; None when the connector does not tell, which is not a lag of 0."""
    return number(lag_of(read.gauges)) if FlinkMetric.PENDING_RECORDS in read.gauges else None
