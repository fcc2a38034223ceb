"""Where an agent's state is kept: in memory, or in a database that outlives the driver."""

from __future__ import annotations

from contextlib import ExitStack

from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.ports import StateStore
from headgate.stores.memory import MemoryStateStore

_MEMORY = "memory"


def open_state_store(reference: str, opened: ExitStack) -> StateStore:
    """
    Give the store that the option `state-store` names, until `opened` is closed; only a database needs other packages.

    Raises:
        ConfigError: there is no such store, a secret in its URL cannot be had, or a package is missing.
    """
    if reference == _MEMORY:
        return MemoryStateStore()
    try:
        from headgate.stores.opening import open_store  # noqa: PLC0415 - who keeps it in memory has no SQLAlchemy

        store = open_store(resolve(reference))
    except ImportError as error:
        fault = f"state-store: a database needs the package {error.name}. Hint: install it in the driver's environment"
        raise ConfigError([fault]) from error
    except ValueError as error:
        raise ConfigError([f"state-store: {error}"]) from error
    if not isinstance(store, MemoryStateStore):
        opened.callback(store.close)
    return store
