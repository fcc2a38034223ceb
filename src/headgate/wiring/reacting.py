"""Reactive mode: what steers the workers of the clusters that have a provider."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial

from headgate.control.outbox import Outbox
from headgate.control.reactive.keeping import KeptCluster
from headgate.control.reactive.steering import SteeredCluster, Steering
from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.clusters import SparkClusters
from headgate.options.reactive import WorkersOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import EventHandler, ResourceProvider

Now = Callable[[], ServiceOptions]


def open_steering(
    now: Now, host: PluginHost, spark: SparkClusters, *, outbox: Outbox, events: EventHandler, stack: AsyncExitStack
) -> Steering:
    """
    Give what steers workers; with the stack providers are closed, and the workers stay.

    Those of Spark clusters are kept as their applications' realizer asks for them: it has their providers from here.

    Raises:
        ConfigError: a provider is unknown or cannot be made.
    """
    options = now()
    return Steering(
        events=events,
        clusters=tuple(
            SteeredCluster(
                name=cluster.name,
                provider=_open_provider(cluster.workers.provider, host, stack),
                options=partial(_workers_of, cluster, now),
            )
            for cluster in options.clusters
            if cluster.workers.provider is not None
        ),
        kept=tuple(_kept(cluster, host, stack) for cluster in spark.clusters if cluster.options.workers.provider),
        mode=lambda: now().mode,
        looks_after=outbox.looks_after,
        time_limit=options.plugins.realize_deadline,
    )


def _open_provider(name: str, host: PluginHost, stack: AsyncExitStack) -> ResourceProvider:
    provider: ResourceProvider = host.made(Kind.RESOURCE_PROVIDER, name)
    stack.push_async_callback(provider.close)
    return provider


def _kept(cluster: SparkCluster, host: PluginHost, stack: AsyncExitStack) -> KeptCluster:
    provider = cluster.provider = _open_provider(cluster.options.workers.provider or "", host, stack)
    return KeptCluster(name=cluster.options.name, provider=provider, options=lambda: cluster.workers)


def _workers_of(cluster: ClusterOptions, now: Now) -> WorkersOptions:
    """Give the options of now; those of the start where the cluster is no longer named, until a restart."""
    return next((each.workers for each in now().clusters if each.name == cluster.name), cluster.workers)
