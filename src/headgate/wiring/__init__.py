"""The composition root: from options to a running service. Nothing else makes adapters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import partial

from headgate.config.ordered import Overlay
from headgate.config.reload import LiveOptions
from headgate.control.runner import Listener, Runner
from headgate.control.selection import SelectedCollector
from headgate.control.threads import DaemonExecutor
from headgate.engines.flink.redeploy.realizer import StillOurs
from headgate.events.opening import EventService
from headgate.model.events import Event
from headgate.options.service import ServiceOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import DecisionSink, EventHandler, MetricCollector, SignalSource
from headgate.samplelog.upkeep import upkeep
from headgate.signals.collector import WithSignals
from headgate.signals.discreet import DiscreetSource
from headgate.signals.opening import close_sources, open_sources
from headgate.wiring.data import data_path
from headgate.wiring.deciding import Deciding
from headgate.wiring.engines import Now, collect_time_limit, open_engines
from headgate.wiring.executors import crew_of, start_spark
from headgate.wiring.extending import job_lists, open_host
from headgate.wiring.reacting import open_steering
from headgate.wiring.remembering import remember
from headgate.wiring.streaming import collecting_only
from headgate.wiring.telling import open_listeners, tellers
from headgate.wiring.watching import open_telemetry


@asynccontextmanager
async def service(
    options: ServiceOptions,
    *,
    live: LiveOptions | None = None,
    on_decisions: Listener = lambda _: None,
    on_early_decisions: Listener = lambda _: None,
    events: EventHandler | None = None,
    decisions: DecisionSink | None = None,
) -> AsyncIterator[Runner]:
    """
    Give a runner over all clusters of the options; what it opened is closed at the end.

    Live options, which hold the given ones at first, are followed; events and decisions go to given places, if any.

    Raises:
        ConfigError: a file, a secret or a plugin that the options name is not there, or an address cannot be had.
    """
    now = partial(_in_force, options, live)
    options = collecting_only(options)
    asyncio.get_running_loop().set_default_executor(DaemonExecutor())
    async with AsyncExitStack() as stack:
        tap = open_telemetry(options.metrics, stack)
        # Asked at each step of a redeploy, of which there is none before there is a cycle, and with that an outbox.
        still_ours: StillOurs = lambda job: outbox.may_act(job)  # noqa: E731, PLW0108 - it is opened further down
        crew = crew_of(options, lambda: data)
        tell: Callable[[Event], None] = lambda event: told.handle(event)  # noqa: E731, PLW0108 - opened further down
        engines = await open_engines(options, now, stack, still_ours=still_ours, tell=tell, crew=crew)
        host = await open_host(now, engines.provided, stack)
        listeners = open_listeners(options.events, host, events, stack)
        saved, told = tellers(listeners.handler, tap)
        outbox = remember(options, host, saved, stack, tap)
        outbox.book.overlay = lambda: Overlay.of(now())
        # Before the leases are given up: who has them next would go on with what this process is still at.
        stack.push_async_callback(engines.redeploy.close)
        data = data_path(options, now, told, stack)
        await start_spark(options, data)
        deciding = Deciding(
            now=now,
            engines=engines.listing(job_lists(options, host, now)),
            host=host,
            collector=_observing(options, engines.by_default, host, told, stack),
            data=data,
            outbox=outbox,
            events=told,
            decisions=decisions,
            steering=open_steering(now, host, engines.spark, outbox=outbox, events=told, stack=stack),
            tap=tap,
        )
        house = partial(_keep_house, now, listeners)
        yield deciding.runner(live=live, on_decisions=on_decisions, on_early_decisions=on_early_decisions, upkeep=house)


def _in_force(options: ServiceOptions, live: LiveOptions | None) -> ServiceOptions:
    return options if live is None else live.options


def _observing(
    options: ServiceOptions, usual: MetricCollector, host: PluginHost, told: EventHandler, stack: AsyncExitStack
) -> MetricCollector:
    """
    Give what observes jobs: the collector that each one names, and external metrics with its samples.

    Raises:
        ConfigError: a signal source cannot be made.
    """
    sources = open_sources(options.signal_sources, options.signals, partial(_signal_source, host))
    stack.push_async_callback(close_sources, sources)
    # What a signal takes longer counts for the next sample, so that no job is left without one.
    patience = collect_time_limit(options) / 2
    return WithSignals(SelectedCollector(usual=usual, host=host), sources, events=told, time_limit=patience)


def _signal_source(host: PluginHost, name: str, parameters: Mapping[str, str]) -> SignalSource:
    return DiscreetSource(plugin=host.made_plugin(Kind.SIGNAL_SOURCE, name, parameters))


def _keep_house(now: Now, listeners: EventService, at: datetime) -> None:
    options = now()
    try:
        upkeep(options.log, at)
    finally:
        listeners.expire(at - options.events.retention)
