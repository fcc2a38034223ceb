"""
From a database URL to an engine: the driver that comes with Headgate, time limits, and SQLite's settings.

Whatever the URL itself says goes before what is chosen here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection

from headgate.config.databases import DRIVERS, time_limits


def url_of(text: str) -> URL:
    """
    Read a database URL; one without a driver gets the one that comes with Headgate.

    Raises:
        sqlalchemy.exc.ArgumentError: no such URL.
    """
    url = make_url(text)
    return url.set(drivername=DRIVERS.get(url.drivername, url.drivername))


def name_of(text: str) -> str:
    """Give what a database is called in texts: no password, and no parameters, some of which are passwords too."""
    return url_of(text).set(query={}).render_as_string(hide_password=True)


def connect(text: str, answer_within: timedelta) -> Engine:
    """
    Make an engine; nothing is contacted.

    Args:
        text: the URL.
        answer_within: how long a connection, a lock and a statement may take.

    Raises:
        sqlalchemy.exc.ArgumentError: no such URL.
        ImportError: its driver is not installed.
    """
    url = url_of(text)
    backend = url.get_backend_name()
    limits = {key: value for key, value in _limits(backend, answer_within).items() if key not in url.query}
    # Parameters of statements hold the state, and the state holds what jobs are called: not for logs.
    engine = create_engine(url, hide_parameters=True, pool_pre_ping=True, connect_args=limits, **_isolation(backend))
    if backend == "sqlite":
        event.listen(engine, "connect", lambda connection, _: _prepare_sqlite(connection, answer_within))
    return engine


def _limits(backend: str, answer_within: timedelta) -> Mapping[str, Any]:
    limits = time_limits(backend, answer_within)
    if backend != "postgresql":
        return limits
    milliseconds = answer_within // timedelta(milliseconds=1)
    return {**limits, "options": f"-c statement_timeout={milliseconds} -c lock_timeout={milliseconds}"}


def _isolation(backend: str) -> Mapping[str, Any]:
    # MySQL's own default locks the gaps between rows, and two jobs that are saved at once deadlock on them.
    return {"isolation_level": "READ COMMITTED"} if backend in {"mysql", "mariadb"} else {}


def _prepare_sqlite(connection: DBAPIConnection, answer_within: timedelta) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {answer_within // timedelta(milliseconds=1)}")
    cursor.execute("PRAGMA journal_mode = WAL")
    # WAL alone may lose the last commits with the power: an intent must not be lost.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()
