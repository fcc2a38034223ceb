"""Puts external metrics into the samples of any collector."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from headgate.algorithm.signals import matching, missing, source_of
from headgate.errors import HeadgateError
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.options.signals import OF_COLLECTOR, SignalOptions, SignalUse
from headgate.ports import EventHandler, JobContext, MetricCollector, Missing, SignalSource

Found = dict[str, Signal | Missing]
_ORIGIN = frozenset({JobMeasure.LAG_ORIGIN, JobMeasure.BROKERS_UNKNOWN})
_T = TypeVar("_T")


@dataclass(slots=True, kw_only=True)
class _Memory:
    """What is remembered of one run of a job between two samples."""

    job_id: str
    vertices: Mapping[VertexId, str] = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    """The newest of each that was ever read."""
    entered: dict[VertexId, datetime] = field(default_factory=dict)
    """Of which time the lag is that was entered last for a vertex."""
    telling: set[VertexId] = field(default_factory=set)
    """Sources whose connector has reported a lag: two origins are not mixed within a window."""


class WithSignals:
    """
    A `ports.MetricCollector` around another one: the same samples, with the job's declared signals in them.

    A signal that cannot be read keeps its last value with its own time, as long as the job lives; who reads it tells
    whether that is too old. No failure of a signal is the job's: it is told in one event a signal, which the handler
    merges while it lasts.
    """

    def __init__(
        self,
        collector: MetricCollector,
        sources: Mapping[str, SignalSource],
        *,
        events: EventHandler,
        time_limit: timedelta,
        interval: timedelta = timedelta(minutes=30),
    ) -> None:
        """
        Stand around a collector.

        Args:
            collector: what samples the jobs.
            sources: by the names under which signals refer to them; whoever made them closes them.
            events: is told what cannot be read, and merges.
            time_limit: how long a sample waits for signals; what comes later counts for the next one.
            interval: time within which the failures of one signal are one event.
        """
        self._collector = collector
        self._sources = sources
        self._events = events
        self._limit_s = time_limit.total_seconds()
        self._interval = interval
        self._jobs: dict[JobKey, _Memory] = {}

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job, with its signals; the contract is the port's."""
        declared = ctx.options.signals_in_force
        if not declared:
            return await self._collector.update_metrics(ctx, at)
        memory = self._memory(ctx)
        if memory.vertices:
            sample, found = await _both(self._collector.update_metrics(ctx, at), self._read(ctx, memory.vertices))
        else:
            # The first sample tells the names of the vertices, which a query may need.
            sample = await self._collector.update_metrics(ctx, at)
            found = await self._read(ctx, _names(sample.topology))
        memory.vertices = _names(sample.topology)
        found |= await self._of_collector(ctx)
        self._tell(ctx, found, at)
        memory.signals |= {name: one for name, one in found.items() if isinstance(one, Signal)}
        known = {each.name: memory.signals[each.name] for each in declared if each.name in memory.signals}
        signals = {each.name: _placed(known[each.name], each, sample) for each in declared if each.name in known}
        sample = _with_lags(replace(sample, signals={**sample.signals, **signals}), declared, memory)
        return _by_signals(sample, declared)

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        return await self._collector.query_topology(ctx)

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the collector's own."""
        return await self._collector.query_jm_metrics(ctx)

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the collector's own."""
        return await self._collector.query_tm_metrics(ctx)

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Read the job's signals, and what the collector itself gives; the contract is the port's."""
        own, found = await _both(
            self._collector.query_external_metrics(ctx), self._read(ctx, self._memory(ctx).vertices)
        )
        return {**own, **{name: one for name, one in found.items() if isinstance(one, Signal)}}

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered between samples; the job is gone."""
        self._jobs.pop(job, None)
        self._collector.forget(job)

    def _memory(self, ctx: JobContext) -> _Memory:
        memory = self._jobs.get(ctx.key)
        if memory is None or memory.job_id != ctx.job_id:
            memory = self._jobs[ctx.key] = _Memory(job_id=ctx.job_id)
        return memory

    async def _read(self, ctx: JobContext, vertices: Mapping[VertexId, str]) -> Found:
        asked: dict[str, list[str]] = {}
        for each in ctx.options.signals_in_force:
            if each.source != OF_COLLECTOR:
                asked.setdefault(each.source, []).append(each.name)
        known = replace(ctx, vertices=vertices)
        answers = await asyncio.gather(*(self._ask(source, known, names) for source, names in asked.items()))
        return {name: one for answer in answers for name, one in answer.items()}

    async def _ask(self, source: str, ctx: JobContext, names: Sequence[str]) -> Found:
        if source not in self._sources:
            return dict.fromkeys(names, Missing(why=f"there is no source {source}"))
        found = await self._bounded(lambda: self._sources[source].query(ctx, names), names)
        return {name: _finite(found.get(name, Missing(why=f"{source} gave no answer to it"))) for name in names}

    async def _of_collector(self, ctx: JobContext) -> Found:
        """Ask the collector for what it has: one of somebody's own may have more than the engine tells."""
        names = [each.name for each in ctx.options.signals_in_force if each.source == OF_COLLECTOR]
        if not names:
            return {}
        found = await self._bounded(lambda: self._collector.query_external_metrics(ctx), names)
        return {name: _finite(found.get(name, Missing(why="the job's collector does not give it"))) for name in names}

    async def _bounded(
        self, ask: Callable[[], Awaitable[Mapping[str, Signal] | Mapping[str, Signal | Missing]]], names: Iterable[str]
    ) -> Mapping[str, Signal | Missing]:
        try:
            async with asyncio.timeout(self._limit_s):
                return await ask()
        except TimeoutError:
            why = f"there was no answer within {self._limit_s:g} s"
        except HeadgateError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - somebody's source may raise anything, and the job goes on
            why = f"{type(error).__name__}: {error}"
        return dict.fromkeys(names, Missing(why=why))

    def _tell(self, ctx: JobContext, found: Mapping[str, Signal | Missing], at: datetime) -> None:
        for name, one in found.items():
            if isinstance(one, Missing):
                event = Event(
                    at=at,
                    type=EventType.WARNING,
                    reason=EventReason.SIGNAL_UNAVAILABLE,
                    message=f"signal {name} cannot be read for {ctx.key}: {one.why}",
                    key=f"signal:{name}",
                    subject="headgate",
                    fields={"signal": name, "job": str(ctx.key)},
                    merge_interval=self._interval,
                )
                self._events.handle(event)


async def _both(sample: Awaitable[_T], signals: Awaitable[Found]) -> tuple[_T, Found]:
    """Wait for both; when the sample fails nobody waits for the signals."""
    reading = asyncio.ensure_future(signals)
    try:
        return await sample, await reading
    finally:
        reading.cancel()


def _names(topology: Topology) -> Mapping[VertexId, str]:
    return {vertex.id: vertex.name for vertex in topology.vertices}


def _finite(one: Signal | Missing) -> Signal | Missing:
    if isinstance(one, Signal) and not math.isfinite(one.value):
        return Missing(why=f"its value is {one.value}")
    return one


def _placed(signal: Signal, declared: SignalOptions, sample: JobSample) -> Signal:
    """Note the vertex that a signal is about, if that is exactly one."""
    if declared.vertex is None and declared.use is not SignalUse.LAG:
        return signal
    found = matching(sample.topology, declared)
    return replace(signal, vertex=found[0].id) if len(found) == 1 else signal


def _by_signals(sample: JobSample, declared: Iterable[SignalOptions]) -> JobSample:
    """Leave it to a signal that is a source's lag how surely that is known: while it is missing nothing shrinks."""
    lags = (each for each in declared if each.use is SignalUse.LAG)
    if not any(source_of(sample.topology, each) is not None for each in lags):
        return sample
    return replace(sample, values={each: told for each, told in sample.values.items() if each not in _ORIGIN})


def _with_lags(sample: JobSample, declared: Iterable[SignalOptions], memory: _Memory) -> JobSample:
    """Enter lags that connectors do not report, each reading once: a repeated one is not a lag that stands still."""
    for vertex, seen in sample.vertices.items():
        if Measure.LAG in seen.values:
            memory.telling.add(vertex)
    for each in declared:
        if each.use is SignalUse.LAG:
            sample = _with_lag(sample, each, memory)
    return sample


def _with_lag(sample: JobSample, declared: SignalOptions, memory: _Memory) -> JobSample:
    vertex = source_of(sample.topology, declared)
    if vertex is None or vertex not in sample.vertices or (vertex in memory.telling and not declared.over_engine):
        return sample
    seen = sample.vertices[vertex]
    values: dict[Measure, float] = {**seen.values}
    values.pop(Measure.LAG, None)
    signal = sample.signals.get(declared.name)
    if signal and not missing(sample, declared, sample.at) and memory.entered.get(vertex) != signal.measured_at:
        memory.entered[vertex] = signal.measured_at
        values[Measure.LAG] = max(0.0, signal.value)
    return replace(sample, vertices={**sample.vertices, vertex: replace(seen, values=values)})
