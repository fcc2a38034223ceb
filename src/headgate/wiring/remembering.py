"""The state store, and how its jobs are divided."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from headgate.config.secrets import resolve
from headgate.control.leases import Leases
from headgate.control.outbox import Outbox
from headgate.errors import ConfigError
from headgate.options.service import ServiceOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import EventHandler, StateStore
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import open_store


def remember(options: ServiceOptions, host: PluginHost, events: EventHandler, stack: AsyncExitStack) -> Outbox:
    """
    Give the state store, with the events that leave from it, under the leases of this process.

    Raises:
        ConfigError: a secret that is not there, or no such store.
    """
    store = _open_state(options.state_store, host)
    return Outbox(store=store, events=events, leases=_divide(store, options, stack))


def _open_state(reference: str, host: PluginHost) -> StateStore:
    if reference in host.factories(Kind.STATE_STORE):
        store: StateStore = host.made(Kind.STATE_STORE, reference)
        return store
    try:
        return open_store(resolve(reference))
    except ValueError as error:
        raise ConfigError([f"state-store: {error}"]) from error


def _divide(store: StateStore, options: ServiceOptions, stack: AsyncExitStack) -> Leases | None:
    """Divide the jobs among all that share store and clusters; None where no other process can see the store."""
    if isinstance(store, MemoryStateStore):
        return None
    leases = Leases(
        store,
        shards=options.lease.shards,
        duration=options.lease.duration,
        clusters=[*options.cluster_names, *options.job_lists],
        whole=[cluster.name for cluster in options.clusters if cluster.workers.provider is not None],
    )
    stack.push_async_callback(asyncio.to_thread, leases.give_up)
    return leases
