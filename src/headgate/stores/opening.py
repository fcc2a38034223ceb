"""From the option `state-store` to a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, exc

from headgate.config.databases import EXTRAS
from headgate.errors import ConfigError
from headgate.stores.connecting import url_of
from headgate.stores.file_system import MOUNTS, network_file_system
from headgate.stores.memory import MemoryStateStore
from headgate.stores.sql import SqlStateStore

MEMORY = "memory"
"""The value of the option that keeps states for the life of the process only."""


def open_store(url_or_memory: str) -> MemoryStateStore | SqlStateStore:
    """
    Make the store that the option names; a database is not contacted before the first use.

    Args:
        url_or_memory: `memory`, or an SQLAlchemy URL with its secrets resolved; `postgresql://` and `mysql://` alone
            mean the drivers of Headgate's extras.

    Raises:
        ConfigError: no such URL, no such kind of database, its driver is not installed, or it is an SQLite file that
            several hosts could open.
    """
    if url_or_memory == MEMORY:
        return MemoryStateStore()
    with url_faults("state-store", url_or_memory):
        url = url_of(url_or_memory)
        store = SqlStateStore(url_or_memory)
    if url.get_backend_name() == "sqlite":
        _refuse_what_is_no_local_file(url)
    return store


def _refuse_what_is_no_local_file(url: URL, mounts: Path = MOUNTS) -> None:
    if url.database in {None, "", ":memory:"}:
        raise ConfigError([_NO_FILE])
    if shared := network_file_system(Path(str(url.database)), mounts):
        fault = (
            f"state-store: {url.database} is on a network file system ({shared}), where SQLite loses data. "
            f"Hint: put it on a local disk, or share a PostgreSQL or MySQL database"
        )
        raise ConfigError([fault])


@contextmanager
def url_faults(place: str, text: str) -> Iterator[None]:
    """
    Read a database URL within; what is wrong with it is told without showing it, for it may hold a password.

    Args:
        place: where the URL stands: an option's key, for example.
        text: the URL.

    Raises:
        ConfigError: no such URL, no such kind of database, or its driver is not installed.
    """
    try:
        yield
    except (exc.ArgumentError, exc.NoSuchModuleError) as error:
        fault = f"{place}: not a database URL. Hint: write a URL like sqlite:///headgate.db or postgresql://user@host/database"
        raise ConfigError([fault]) from error
    except ImportError as error:
        extra = EXTRAS.get(url_of(text).get_backend_name())
        package = f"headgate[{extra}]" if extra else error.name
        fault = f"{place}: the database driver {error.name} is missing. Hint: pip install {package}"
        raise ConfigError([fault]) from error


_NO_FILE = "state-store: an SQLite URL without a file. Hint: `memory` keeps states in the process"
