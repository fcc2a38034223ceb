"""The engines: how jobs are found, observed and changed by Headgate's own adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from headgate.algorithm.suitability import Facts
from headgate.config import for_job
from headgate.config.launches import SAVEPOINT_REDEPLOY
from headgate.control.reactive.fitness import FactsFinder
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.dynamic import DynamicConfigRealizer
from headgate.engines.flink.exceptions import FlinkFailureHistory
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.engines.flink.redeploy.realizer import SavepointRedeployRealizer, StillOurs
from headgate.engines.flink.suitability import inspect
from headgate.engines.flink.wishes import SettingsOf
from headgate.engines.yarn.applications import Applications
from headgate.engines.yarn.collector import YarnMetricCollector
from headgate.engines.yarn.history import YarnFailureHistory
from headgate.engines.yarn.jobs import YarnJobListFetcher
from headgate.engines.yarn.manager import ResourceManagers
from headgate.engines.yarn.realizer import YarnScalingRealizer
from headgate.options.service import ServiceOptions
from headgate.options.yarn import YarnOptions
from headgate.plugins.host import Provided
from headgate.plugins.kinds import Kind
from headgate.ports import FailureHistory, JobContext, JobListFetcher, MetricCollector, ScalingRealizer

Now = Callable[[], ServiceOptions]
"""Gives the options that hold now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """The adapters of all clusters."""

    fetchers: Mapping[str, JobListFetcher]
    """By the name of the cluster."""
    collector: MetricCollector
    history: FailureHistory
    """Tells of the failures of jobs; of a job of somebody else's engine it knows none."""
    in_place: ScalingRealizer
    """Changes running jobs."""
    facts: FactsFinder
    """Looks at whether a job is fit for reactive mode."""
    redeploy: SavepointRedeployRealizer
    """Replaces jobs; to be closed while this process still has the leases of what it does."""

    def listing(self, further: Mapping[str, JobListFetcher]) -> Engines:
        """Give these with further job lists."""
        return replace(self, fetchers={**self.fetchers, **further})

    @property
    def provided(self) -> Provided:
        """The adapters by the names under which they are registered."""
        return {
            (Kind.METRIC_COLLECTOR, "flink-rest"): self.collector,
            (Kind.SCALING_REALIZER, "resource-requirements"): self.in_place,
            (Kind.SCALING_REALIZER, SAVEPOINT_REDEPLOY): self.redeploy,
        }


async def open_engines(options: ServiceOptions, now: Now, stack: AsyncExitStack, *, still_ours: StillOurs) -> Engines:
    """
    Give the adapters of all clusters; nothing is asked yet. Whoever has opened the leases closes `redeploy`.

    Raises:
        ConfigError: a file or secret that a cluster names is not there.
    """
    clients = {cluster.name: await stack.enter_async_context(FlinkClient(cluster)) for cluster in options.clusters}
    settings_of: SettingsOf = lambda key, own: for_job(now(), key, own)  # noqa: E731 - bound to what holds now
    engines = Engines(
        fetchers={
            name: FlinkJobListFetcher({name: client}, settings_of, basis=now) for name, client in clients.items()
        },
        collector=FlinkMetricCollector(clients),
        history=FlinkFailureHistory(clients),
        in_place=_in_place(options, clients),
        facts=partial(_facts, clients),
        redeploy=SavepointRedeployRealizer(clients, still_ours=still_ours),
    )
    for yarn in options.yarn:
        engines = _with_yarn(engines, yarn, settings_of, stack)
    return engines


async def _facts(clients: Mapping[str, FlinkClient], ctx: JobContext) -> Facts:
    client = clients.get(ctx.key.cluster)
    return (await inspect(client, ctx)).facts if client else Facts()


def collect_time_limit(options: ServiceOptions) -> timedelta:
    """Bound the collection of one job: no tick is held up for longer than a request or a tick may last."""
    timeouts = [cluster.request_timeout for cluster in options.clusters]
    timeouts += [yarn.request_timeout for yarn in options.yarn]
    return max([options.collect_interval, *timeouts])


def _in_place(options: ServiceOptions, clients: Mapping[str, FlinkClient]) -> ScalingRealizer:
    realizer = ResourceRequirementsRealizer(clients)
    asking = {cluster.name: clients[cluster.name] for cluster in options.clusters if cluster.dynamic_configuration}
    return DynamicConfigRealizer(realizer, asking) if asking else realizer


def _with_yarn(engines: Engines, yarn: YarnOptions, settings_of: SettingsOf, stack: AsyncExitStack) -> Engines:
    """Put a YARN cluster in front: it answers for its applications, whatever stood before for the others."""
    managers, applications = ResourceManagers(yarn), Applications(yarn, settings_of)
    stack.push_async_callback(managers.close)
    stack.push_async_callback(applications.close)
    return replace(
        engines,
        fetchers={**engines.fetchers, yarn.name: YarnJobListFetcher(yarn.name, managers, applications)},
        collector=YarnMetricCollector(applications, engines.collector),
        history=YarnFailureHistory(applications, engines.history),
        in_place=YarnScalingRealizer(applications, engines.in_place),
    )
