"""Which collector and which realizer is asked for a job: the one that its options name, else that of its cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from headgate.errors import HeadgateError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.plugins.host import PluginHost
from headgate.plugins.hosted import HostedCollector
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.soundness import sound_sample, sound_signals, sound_topology
from headgate.ports import JobContext, MetricCollector, ScalingRealizer

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SelectedCollector:
    """
    A `ports.MetricCollector` that asks the one that a job's options name.

    What it gives must make sense; a failure is a `PluginError`, after which the job has no sample of this tick.
    """

    usual: MetricCollector
    host: PluginHost
    _in_use: dict[str, Plugin] = field(default_factory=dict, init=False)
    _leaving: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job."""
        plugin = await self._own(ctx)
        if plugin is None:
            return await self.usual.update_metrics(ctx, at)
        sample: JobSample = await _asked(plugin, lambda: plugin.port.update_metrics(ctx, at))
        return _sound(plugin, lambda: sound_sample(sample, ctx, at))

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs."""
        plugin = await self._own(ctx)
        if plugin is None:
            return await self.usual.query_topology(ctx)
        topology: Topology = await _asked(plugin, lambda: plugin.port.query_topology(ctx))
        return _sound(plugin, lambda: sound_topology(topology))

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the metrics of the JobManager."""
        plugin = await self._own(ctx)
        if plugin is None:
            return await self.usual.query_jm_metrics(ctx)
        return await _asked(plugin, lambda: plugin.port.query_jm_metrics(ctx))

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the metrics of the TaskManagers."""
        plugin = await self._own(ctx)
        if plugin is None:
            return await self.usual.query_tm_metrics(ctx)
        return await _asked(plugin, lambda: plugin.port.query_tm_metrics(ctx))

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give signals that the engine does not have."""
        plugin = await self._own(ctx)
        if plugin is None:
            return await self.usual.query_external_metrics(ctx)
        signals: Mapping[str, Signal] = await _asked(plugin, lambda: plugin.port.query_external_metrics(ctx))
        return sound_signals(signals)

    def forget(self, job: JobKey, /) -> None:
        """Let all collectors that were ever asked forget the job; nobody waits for those in a worker process."""
        self.usual.forget(job)
        for plugin in self._in_use.values():
            if isinstance(plugin.port, HostedCollector):
                leaving = asyncio.ensure_future(_dropped(plugin.port, job))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
            else:
                plugin.port.forget(job)

    async def _own(self, ctx: JobContext) -> Plugin | None:
        name = ctx.options.collector
        if name is None:
            return None
        made = await _ready(self.host, Kind.METRIC_COLLECTOR, name)
        if made.port is self.usual:
            return None
        self._in_use[name] = made
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedRealizer:
    """A `ports.ScalingRealizer` that asks the one that a job's options name."""

    usual: ScalingRealizer
    host: PluginHost

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask the engine for these parallelisms."""
        return await (await self._for(ctx)).realize_parallelism_overrides(ctx, overrides)

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Change the job's configuration."""
        return await (await self._for(ctx)).realize_config_overrides(ctx, changes)

    async def _for(self, ctx: JobContext) -> ScalingRealizer:
        name = ctx.options.realizer
        if name is None:
            return self.usual
        made = await _ready(self.host, Kind.SCALING_REALIZER, name)
        port: ScalingRealizer = made.port
        return port


async def _ready(host: PluginHost, kind: Kind, name: str) -> Plugin:
    """Make a plugin ready in a thread, as its worker process may have to be started."""
    known = host.known(kind, name)
    if known is not None:
        return known
    return await host.aside(lambda: host.ready(kind, name), collects=kind is Kind.METRIC_COLLECTOR)


async def _dropped(collector: HostedCollector, job: JobKey) -> None:
    # What it remembers of a job that is gone does no harm; its worker may be dead already.
    with suppress(HeadgateError):
        await collector.drop(job)


async def _asked(plugin: Plugin, call: Callable[[], Awaitable[T]]) -> T:
    try:
        return await call()
    except HeadgateError as error:
        raise plugin.masked(error) from None
    except Exception as error:
        raise plugin.failure(error) from error


def _sound(plugin: Plugin, check: Callable[[], T]) -> T:
    try:
        return check()
    except ValueError as error:
        raise plugin.nonsense(error) from error
