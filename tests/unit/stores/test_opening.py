"""From the option `state-store` to a store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from headgate.errors import ConfigError
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import open_store
from headgate.stores.sql import SqlStateStore


def test_memory_is_a_store_in_memory() -> None:
    """The word `memory` is no URL."""
    assert isinstance(open_store("memory"), MemoryStateStore)


def test_a_url_is_a_database_that_is_not_contacted_yet(tmp_path: Path) -> None:
    """Opening makes no file: a database may come up after Headgate."""
    database = tmp_path / "headgate.db"
    with closing(open_store(f"sqlite:///{database}")) as store:
        assert isinstance(store, SqlStateStore)
    assert not database.exists()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_that_each_thread_would_have_for_itself_is_refused(url: str) -> None:
    """SQLite in memory is one database a connection: states would be lost between threads."""
    with pytest.raises(ConfigError, match="Hint: `memory`"):
        open_store(url)


@pytest.mark.parametrize("url", ["", "headgate.db", "oracel://user:planted-secret@host/db", "planted-secret"])
def test_what_is_no_database_url_is_refused_without_showing_it(url: str) -> None:
    """The fault says what to write; the text may hold a password and is not repeated."""
    with pytest.raises(ConfigError, match="state-store: not a database URL") as raised:
        open_store(url)
    assert "planted-secret" not in str(raised.value)


def test_a_missing_driver_is_named() -> None:
    """A database that SQLAlchemy knows and this machine does not."""
    with pytest.raises(ConfigError, match="driver pymssql is missing"):
        open_store("mssql+pymssql://user:planted-secret@host/db")
