"""
Brings a database to the tables this Headgate works with, and refuses one that is ahead of it.

Of several processes that start at once on an empty database one makes the tables and the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, column, inspect, select, table

from headgate.errors import PermanentError

VERSION_TABLE = "headgate_schema"
"""Where the last step taken is noted: not Alembic's usual table, which another application may use beside us."""

STEPS = ("0001", "0002", "0003", "0004")
"""The steps this Headgate knows, oldest first: the scripts in `headgate.stores.migrations.versions`."""


def upgrade(engine: Engine, store: str, *, patient: Callable[[], Engine]) -> bool:
    """
    Take the steps that a database has not taken yet; whether there were any.

    Args:
        engine: of the database.
        store: what it is called in errors.
        patient: makes an engine to it that allows a statement minutes: a step may go through a large table.

    Raises:
        PermanentError: it has taken a step that this Headgate does not know.
        sqlalchemy.exc.SQLAlchemyError: no answer, or a step failed.
    """
    with engine.connect() as connection:
        if _is_done(connection, store):
            return False
    migrating = patient()
    try:
        with _alone(migrating) as connection:
            return _take_steps(connection, store)
    finally:
        migrating.dispose()


def _take_steps(connection: Connection, store: str) -> bool:
    if _is_done(connection, store):  # by whoever was before us
        return False
    # Only here, once in the life of a database: without it a command starts in half the time.
    from headgate.stores.migrating import take_steps  # noqa: PLC0415

    take_steps(connection, VERSION_TABLE)
    return True


def _is_done(connection: Connection, store: str) -> bool:
    step = _step_of(connection)
    if step is not None and step not in STEPS:
        message = (
            f"the state store {store} has schema {step}, this Headgate knows {STEPS[-1]} at most. "
            f"Hint: a newer Headgate uses it; run that version here too"
        )
        raise PermanentError(message)
    return step == STEPS[-1]


def _step_of(connection: Connection) -> str | None:
    """Give the step at which a database stands; None if it has taken none, or not under migrations."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(column("version_num")).select_from(table(VERSION_TABLE))).scalar_one_or_none()


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """Give a connection for changes that no other process makes at the same time; they are kept at the end."""
    take, give = _LOCKS.get(engine.dialect.name, _MYSQL_LOCK)
    with engine.connect() as connection:
        connection.exec_driver_sql(take)
        try:
            yield connection
            connection.commit()
        finally:
            if give:
                connection.exec_driver_sql(give)


# The first two end with the transaction; MySQL's lock is the connection's, which goes back to the pool, and the
# server's, hence the database in its name. It is waited for longer than the client waits for an answer: without the
# lock nothing must begin.
_LOCKS = {
    "sqlite": ("BEGIN IMMEDIATE", None),
    "postgresql": ("SELECT pg_advisory_xact_lock(4855372101)", None),
}
_MYSQL_NAME = "CONCAT('headgate:', MD5(DATABASE()))"
_MYSQL_LOCK = (f"SELECT GET_LOCK({_MYSQL_NAME}, 3600)", f"SELECT RELEASE_LOCK({_MYSQL_NAME})")
