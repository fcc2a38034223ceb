"""The state store of a service, opened for a command that looks into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.options.service import ServiceOptions
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import MEMORY, open_store
from headgate.stores.sql import SqlStateStore


@contextmanager
def opened_store(options: ServiceOptions) -> Iterator[SqlStateStore]:
    """
    Give the store, and close it afterwards.

    Raises:
        ConfigError: it cannot be opened, or keeps nothing between two processes.
    """
    store = open_store(resolved("state-store", options.state_store))
    if isinstance(store, MemoryStateStore):
        raise ConfigError(["state-store: `memory` keeps nothing between two processes. Hint: give a database URL"])
    try:
        yield store
    finally:
        store.close()


@contextmanager
def store_if_kept(options: ServiceOptions) -> Iterator[SqlStateStore | None]:
    """Give the store, or None where the service keeps its states to itself."""
    if options.state_store == MEMORY:
        yield None
    else:
        with opened_store(options) as store:
            yield store


def resolved(key: str, reference: str) -> str:
    """
    Give a text with its references to secrets replaced.

    Raises:
        ConfigError: one of them leads nowhere.
    """
    try:
        return resolve(reference)
    except ValueError as error:
        raise ConfigError([f"{key}: {error}"]) from error
