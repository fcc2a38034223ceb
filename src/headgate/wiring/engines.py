"""The engines: how jobs are found, observed and changed by Headgate's own adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from headgate.algorithm.suitability import Facts
from headgate.config import for_job
from headgate.config.launches import SAVEPOINT_REDEPLOY
from headgate.control.reactive.fitness import FactsFinder
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.clusters import ClustersFailureHistory, ClustersMetricCollector
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.dynamic import DynamicConfigRealizer
from headgate.engines.flink.exceptions import FlinkFailureHistory
from headgate.engines.flink.fleet import Crew, FleetMetricCollector
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.engines.flink.redeploy.realizer import SavepointRedeployRealizer, StillOurs
from headgate.engines.flink.suitability import inspect
from headgate.engines.flink.wishes import SettingsOf
from headgate.engines.kubernetes.api import ResourceApi
from headgate.engines.kubernetes.deployments import Deployments
from headgate.engines.kubernetes.jobs import KubernetesJobListFetcher
from headgate.engines.kubernetes.realizer import FlinkOperatorRealizer, KubernetesScalingRealizer
from headgate.engines.prometheus.clusters import ScrapedClusters
from headgate.engines.prometheus.collector import PrometheusMetricCollector
from headgate.engines.prometheus.server import PrometheusServer
from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.clusters import SparkClusters
from headgate.engines.spark.outside.jobs import SparkJobListFetcher
from headgate.engines.spark.outside.realizer import SparkScalingRealizer
from headgate.engines.yarn.applications import Applications
from headgate.engines.yarn.jobs import YarnJobListFetcher
from headgate.engines.yarn.manager import ResourceManagers
from headgate.engines.yarn.realizer import YarnScalingRealizer
from headgate.kafka.offsets import KafkaEndOffsets
from headgate.model.events import Event
from headgate.options.autoscaler import IN_PLACE
from headgate.options.kubernetes import KubernetesOptions
from headgate.options.micro_batch import DEFAULTS as MICRO_BATCH_DEFAULTS
from headgate.options.reactive import WorkersOptions
from headgate.options.service import Place, ServiceOptions
from headgate.options.spark import SparkOptions
from headgate.options.yarn import YarnOptions
from headgate.plugins.host import Provided
from headgate.plugins.kinds import Kind
from headgate.ports import EndOffsets, FailureHistory, JobContext, JobListFetcher, MetricCollector, ScalingRealizer

Now = Callable[[], ServiceOptions]
"""Gives the options that hold now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """The adapters of all clusters."""

    fetchers: Mapping[str, JobListFetcher]
    """By the name of the cluster."""
    collector: MetricCollector
    """Observes jobs over Flink's REST."""
    scraped: ScrapedClusters
    """Those whose jobs are observed through a Prometheus server."""
    history: FailureHistory
    """Tells of the failures of jobs; of a job of somebody else's engine it knows none."""
    in_place: ScalingRealizer
    """Changes running jobs."""
    operator: FlinkOperatorRealizer
    """Changes jobs of Flink's Kubernetes operator, in place or not."""
    facts: FactsFinder
    """Looks at whether a job is fit for reactive mode."""
    redeploy: SavepointRedeployRealizer
    """Replaces jobs; to be closed while this process still has the leases of what it does."""
    spark: SparkClusters
    """Spark clusters; whoever has a provider of their workers sets it."""

    def listing(self, further: Mapping[str, JobListFetcher]) -> Engines:
        """Give these with further job lists."""
        return replace(self, fetchers={**self.fetchers, **further})

    @property
    def by_default(self) -> MetricCollector:
        """Observes each job where the metrics of its cluster are."""
        return ClustersMetricCollector(self.scraped, self.collector)

    @property
    def provided(self) -> Provided:
        """The adapters by the names under which they are registered."""
        return {
            (Kind.METRIC_COLLECTOR, "flink-rest"): self.collector,
            (Kind.METRIC_COLLECTOR, "prometheus"): self.scraped.collector,
            (Kind.METRIC_COLLECTOR, "spark"): ClustersMetricCollector(self.spark),
            (Kind.SCALING_REALIZER, IN_PLACE): self.in_place,
            (Kind.SCALING_REALIZER, "flink-operator"): self.operator,
            (Kind.SCALING_REALIZER, SAVEPOINT_REDEPLOY): self.redeploy,
            (Kind.SCALING_REALIZER, "spark-workers"): SparkScalingRealizer(self.spark.clusters),
        }


async def open_engines(
    options: ServiceOptions,
    now: Now,
    stack: AsyncExitStack,
    *,
    still_ours: StillOurs,
    tell: Callable[[Event], None] = lambda _: None,
    crew: Crew | None = None,
) -> Engines:
    """
    Give the adapters of all clusters; nothing is asked yet. Whoever has opened the leases closes `redeploy`.

    A crew collects from Flink clusters elsewhere; without one it is done here. What goes wrong outside of jobs is told.

    Raises:
        ConfigError: a file or secret that a cluster names is not there.
    """
    offsets = _end_offsets(options, tell, stack)
    clients = {cluster.name: await stack.enter_async_context(FlinkClient(cluster)) for cluster in options.clusters}
    settings_of: SettingsOf = lambda key, own: for_job(now(), key, own)  # noqa: E731 - bound to what holds now
    engines = Engines(
        fetchers={
            name: FlinkJobListFetcher({name: client}, settings_of, basis=now) for name, client in clients.items()
        },
        collector=_flink_collector(options, clients, crew, stack, offsets=offsets),
        scraped=_scraped(options, clients, stack),
        history=FlinkFailureHistory(clients),
        in_place=_in_place(options, clients),
        operator=FlinkOperatorRealizer(()),
        facts=partial(_facts, clients),
        redeploy=SavepointRedeployRealizer(clients, still_ours=still_ours),
        spark=_open_spark(options, now, stack),
    )
    for yarn in options.yarn:
        engines = _with_yarn(engines, yarn, settings_of, stack, offsets)
    engines = _with_spark(engines, now)
    kubernetes = [_open_deployments(one, stack, offsets) for one in options.kubernetes]
    return _with_kubernetes(engines, kubernetes, partial(KubernetesJobListFetcher, settings_of=settings_of, basis=now))


async def _facts(clients: Mapping[str, FlinkClient], ctx: JobContext) -> Facts:
    client = clients.get(ctx.key.cluster)
    return (await inspect(client, ctx)).facts if client else Facts()


def _end_offsets(options: ServiceOptions, tell: Callable[[Event], None], stack: AsyncExitStack) -> KafkaEndOffsets:
    offsets = KafkaEndOffsets(options.kafka_clusters, tell)
    stack.push_async_callback(offsets.close)
    return offsets


def _flink_collector(
    options: ServiceOptions,
    clients: Mapping[str, FlinkClient],
    crew: Crew | None,
    stack: AsyncExitStack,
    *,
    offsets: KafkaEndOffsets,
) -> MetricCollector:
    here = FlinkMetricCollector(clients, offsets=offsets)
    if crew is None:
        return here
    clusters = {cluster.name: cluster for cluster in options.clusters}
    fleet = FleetMetricCollector(clusters=clusters, here=here, crew=crew, time_limit=collect_time_limit(options))
    stack.callback(fleet.close)
    return fleet


def observe_time_limit(options: ServiceOptions) -> timedelta:
    """Bound what an observer waits for the sample of a job: on Spark it has to go there and to come back as well."""
    limit = collect_time_limit(options)
    return limit if options.collect_on is Place.SERVICE else limit + executors_time_limit(options)


def executors_time_limit(options: ServiceOptions) -> timedelta:
    """Bound one tick's collecting on Spark, with the wait for free cores."""
    return 2 * collect_time_limit(options)


def collect_time_limit(options: ServiceOptions) -> timedelta:
    """Bound the collection of one job: no tick is held up for longer than a request or a tick may last."""
    timeouts = [cluster.request_timeout for cluster in options.clusters]
    timeouts += [cluster.prometheus.timeout for cluster in options.clusters if cluster.prometheus.url]
    timeouts += [yarn.request_timeout for yarn in options.yarn]
    timeouts += [kubernetes.request_timeout for kubernetes in options.kubernetes]
    timeouts += [spark.request_timeout for spark in options.spark]
    return max([options.collect_interval, *timeouts])


def _scraped(options: ServiceOptions, clients: Mapping[str, FlinkClient], stack: AsyncExitStack) -> ScrapedClusters:
    servers = {
        cluster.name: PrometheusServer(cluster.name, cluster.prometheus)
        for cluster in options.clusters
        if cluster.prometheus.url is not None
    }
    for server in servers.values():
        stack.push_async_callback(server.close)
    return ScrapedClusters(servers, PrometheusMetricCollector(clients, servers), FlinkFailureHistory(clients))


def _in_place(options: ServiceOptions, clients: Mapping[str, FlinkClient]) -> ScalingRealizer:
    realizer = ResourceRequirementsRealizer(clients)
    asking = {cluster.name: clients[cluster.name] for cluster in options.clusters if cluster.dynamic_configuration}
    return DynamicConfigRealizer(realizer, asking) if asking else realizer


def _with_yarn(
    engines: Engines, yarn: YarnOptions, settings_of: SettingsOf, stack: AsyncExitStack, offsets: EndOffsets
) -> Engines:
    """Put a YARN cluster in front: it answers for its applications, whatever stood before for the others."""
    managers, applications = ResourceManagers(yarn), Applications(yarn, settings_of, offsets=offsets)
    stack.push_async_callback(managers.close)
    stack.push_async_callback(applications.close)
    return replace(
        engines,
        fetchers={**engines.fetchers, yarn.name: YarnJobListFetcher(yarn.name, managers, applications)},
        collector=ClustersMetricCollector(applications, engines.collector),
        history=ClustersFailureHistory(applications, engines.history),
        in_place=YarnScalingRealizer(applications, engines.in_place),
    )


def _open_spark(options: ServiceOptions, now: Now, stack: AsyncExitStack) -> SparkClusters:
    clusters = [SparkCluster(one, workers=partial(_spark_workers, one, now)) for one in options.spark]
    for one in clusters:
        stack.push_async_callback(one.close)
    return SparkClusters(clusters)


def _spark_workers(cluster: SparkOptions, now: Now) -> WorkersOptions:
    """Give the bounds of now; those of the start where the cluster is no longer named, until a restart."""
    return next((each.workers for each in now().spark if each.name == cluster.name), cluster.workers)


def _with_spark(engines: Engines, now: Now) -> Engines:
    """Put the Spark clusters in front: each answers for its applications, whatever stood before for the others."""
    clusters = engines.spark.clusters
    settings_of: SettingsOf = lambda key, own: for_job(now(), key, own, beneath=MICRO_BATCH_DEFAULTS)  # noqa: E731
    fetchers = {cluster.options.name: SparkJobListFetcher(cluster, settings_of) for cluster in clusters}
    return replace(
        engines,
        fetchers={**engines.fetchers, **fetchers},
        collector=ClustersMetricCollector(engines.spark, engines.collector),
        history=ClustersFailureHistory(engines.spark, engines.history),
        in_place=SparkScalingRealizer(clusters, engines.in_place),
    )


def _with_kubernetes(
    engines: Engines, clusters: Sequence[Deployments], listing: Callable[[Deployments], JobListFetcher]
) -> Engines:
    """Put Kubernetes clusters in front: each answers for its deployments, whatever stood before for the others."""
    operator = FlinkOperatorRealizer(clusters)
    for one in clusters:
        engines = replace(
            engines,
            fetchers={**engines.fetchers, one.options.name: listing(one)},
            collector=ClustersMetricCollector(one, engines.collector),
            history=ClustersFailureHistory(one, engines.history),
        )
    in_place = KubernetesScalingRealizer(operator, clusters, engines.in_place)
    return replace(engines, operator=operator, in_place=in_place) if clusters else engines


def _open_deployments(options: KubernetesOptions, stack: AsyncExitStack, offsets: EndOffsets) -> Deployments:
    deployments = Deployments(options, ResourceApi(options), offsets=offsets)
    stack.push_async_callback(deployments.api.close)
    stack.push_async_callback(deployments.close)
    return deployments
