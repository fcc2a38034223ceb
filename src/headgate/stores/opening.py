"""From the option `state-store` to a store."""

from __future__ import annotations

from sqlalchemy import exc, make_url

from headgate.errors import ConfigError
from headgate.stores.memory import MemoryStateStore
from headgate.stores.sql import SqlStateStore

MEMORY = "memory"
"""The value of the option that keeps states for the life of the process only."""


def open_store(url_or_memory: str) -> MemoryStateStore | SqlStateStore:
    """
    Make the store that the option names; a database is not contacted before the first use.

    Args:
        url_or_memory: `memory`, or an SQLAlchemy URL with its secrets resolved.

    Raises:
        ConfigError: no such URL, no such kind of database, or its driver is not installed.
    """
    if url_or_memory == MEMORY:
        return MemoryStateStore()
    try:
        url = make_url(url_or_memory)
        store = SqlStateStore(url_or_memory)
    except (exc.ArgumentError, exc.NoSuchModuleError) as error:
        raise ConfigError([_NO_URL]) from error
    except ImportError as error:
        fault = f"state-store: the database driver {error.name} is missing. Hint: pip install {error.name}"
        raise ConfigError([fault]) from error
    if url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}:
        raise ConfigError([_NO_FILE])
    return store


# The text itself is not shown: it may hold a password in a place where nobody looks for one.
_NO_URL = "state-store: not a database URL. Hint: write `memory`, or a URL like sqlite:///headgate.db"
_NO_FILE = "state-store: an SQLite URL without a file. Hint: `memory` keeps states in the process"
