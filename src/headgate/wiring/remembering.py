"""The state store, and how its jobs are divided."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

from headgate.config.secrets import resolve
from headgate.control.leases import Leases
from headgate.control.outbox import Outbox
from headgate.errors import ConfigError
from headgate.kube.login import Login
from headgate.kube.pod import own_namespace
from headgate.options.service import ServiceOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import EventHandler, StateStore
from headgate.stores.fence import Fence
from headgate.stores.kubernetes_leases import KubernetesLeases
from headgate.stores.lease_objects import LeaseObjects
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import open_store
from headgate.stores.split import SplitStateStore
from headgate.telemetry.tap import Tap

_CALLS = 6
"""
The part of a lease's duration that a call of Kubernetes may take. A renewal makes one that lists and then one for each
lease, eight at once: if the first is answered and many others are not, it may last longer than the leases.
"""
_STORE_THREADS = 8
"""Calls of the store at once: fewer than the connections that SQLAlchemy opens to a database, which are 15."""
_NO_FENCE = (
    "lease.kubernetes: needs a database that several hosts share. Hint: state-store: postgresql://... or mysql://..."
)

NOBODY_LISTENS = Tap()


def remember(
    options: ServiceOptions, host: PluginHost, events: EventHandler, stack: AsyncExitStack, tap: Tap = NOBODY_LISTENS
) -> Outbox:
    """
    Give the state store, with the events that leave from it, under the leases of this process.

    Raises:
        ConfigError: a secret that is not there, or no such store.
    """
    store = _open_state(options.state_store, host)
    if options.lease.kubernetes.enabled:
        store = _split(store, options, stack)
    watched = tap.store(store)
    leases = None if isinstance(store, MemoryStateStore) else _divide(watched, options, stack)
    threads = ThreadPoolExecutor(_STORE_THREADS, "headgate-store")
    stack.callback(threads.shutdown, wait=False)
    return Outbox(store=watched, events=events, leases=tap.leases(leases), threads=threads)


def _open_state(reference: str, host: PluginHost) -> StateStore:
    if reference in host.factories(Kind.STATE_STORE):
        store: StateStore = host.made(Kind.STATE_STORE, reference)
        return store
    try:
        return open_store(resolve(reference))
    except ValueError as error:
        raise ConfigError([f"state-store: {error}"]) from error


def _split(states: StateStore, options: ServiceOptions, stack: AsyncExitStack) -> StateStore:
    """
    Keep the leases in Kubernetes.

    Raises:
        ConfigError: pods cannot share the state store, or it cannot refuse what comes too late.
    """
    if not isinstance(states, Fence) or resolve(options.state_store).startswith("sqlite"):
        raise ConfigError([_NO_FENCE])
    where = options.lease.kubernetes
    login = Login(kubeconfig=where.kubeconfig, context=where.context, time_limit=options.lease.duration / _CALLS)
    objects = LeaseObjects(login, namespace=where.namespace or own_namespace() or "default", prefix=where.prefix)
    leases = KubernetesLeases(objects, states)
    stack.push_async_callback(asyncio.to_thread, leases.close)
    return SplitStateStore(states, leases)


def _divide(store: StateStore, options: ServiceOptions, stack: AsyncExitStack) -> Leases:
    """Divide the jobs among all that share store and clusters: all processes that can see the store."""
    leases = Leases(
        store,
        shards=options.lease.shards,
        duration=options.lease.duration,
        clusters=[*options.cluster_names, *options.job_lists],
        whole=options.staffed,
    )
    stack.push_async_callback(asyncio.to_thread, leases.give_up)
    return leases
