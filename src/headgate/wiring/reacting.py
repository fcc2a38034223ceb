"""Reactive mode: what steers the workers of the clusters that have a provider."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial

from headgate.control.outbox import Outbox
from headgate.control.reactive.steering import SteeredCluster, Steering
from headgate.options.reactive import WorkersOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import EventHandler, ResourceProvider

Now = Callable[[], ServiceOptions]


def open_steering(
    now: Now, host: PluginHost, *, outbox: Outbox, events: EventHandler, stack: AsyncExitStack
) -> Steering:
    """
    Give what steers workers; with the stack providers are closed, and the workers stay.

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
        mode=lambda: now().mode,
        looks_after=outbox.looks_after,
        time_limit=options.plugins.realize_deadline,
    )


def _open_provider(name: str, host: PluginHost, stack: AsyncExitStack) -> ResourceProvider:
    provider: ResourceProvider = host.made(Kind.RESOURCE_PROVIDER, name)
    stack.push_async_callback(provider.close)
    return provider


def _workers_of(cluster: ClusterOptions, now: Now) -> WorkersOptions:
    """Give the options of now; those of the start where the cluster is no longer named, until a restart."""
    return next((each.workers for each in now().clusters if each.name == cluster.name), cluster.workers)
