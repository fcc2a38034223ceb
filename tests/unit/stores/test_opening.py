"""From the option `state-store` to a store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url

from headgate.errors import ConfigError
from headgate.stores.connecting import name_of, url_of
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import _refuse_what_is_no_local_file, open_store, url_faults
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


def test_a_file_that_several_hosts_could_open_is_refused(tmp_path: Path) -> None:
    """SQLite's locks do not hold over a network, and its users find out by losing data."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text("30 27 0:40 / /data rw - nfs4 server:/export rw\n")
    with pytest.raises(ConfigError, match=r"/data/x\.db is on a network file system \(nfs4\).* Hint: "):
        _refuse_what_is_no_local_file(make_url("sqlite:////data/x.db"), mounts)


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("postgresql://u@h/db", "postgresql+psycopg"),
        ("postgres://u@h/db", "postgresql+psycopg"),
        ("mysql://u@h/db", "mysql+pymysql"),
        ("mariadb://u@h/db", "mariadb+pymysql"),
        ("postgresql+psycopg2://u@h/db", "postgresql+psycopg2"),
    ],
)
def test_a_url_without_a_driver_means_the_one_of_headgates_extra(url: str, driver: str) -> None:
    """Not the library's own default, which nobody may have installed; a driver that is named is taken."""
    assert url_of(url).drivername == driver


@pytest.mark.parametrize(("url", "extra"), [("postgresql://h/db", "postgresql"), ("mysql://h/db", "mysql")])
def test_a_missing_driver_of_ours_is_an_extra(url: str, extra: str) -> None:
    """Whoever reads it knows what to install."""
    with pytest.raises(ConfigError, match=rf"driver x is missing. Hint: pip install headgate\[{extra}\]"):  # noqa: SIM117
        with url_faults("state-store", url):
            raise ModuleNotFoundError(name="x")


def test_a_password_in_a_url_is_in_no_text() -> None:
    """Neither where passwords stand nor among the parameters."""
    name = name_of("postgresql://u:planted-secret@h/db?password=planted-secret")
    assert name == "postgresql+psycopg://u:***@h/db"
