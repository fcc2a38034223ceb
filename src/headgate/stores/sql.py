"""
A state store in any database that SQLAlchemy speaks to; SQLite is the default.

Versions are optimistic: an update names the version it expects, and the database says whether a row still had it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock

from sqlalchemy import Connection, Engine, create_engine, delete, event, exc, insert, make_url, select, update
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.schema import CreateTable

from headgate.errors import ConflictError
from headgate.model.identity import JobKey
from headgate.model.state import JobState, ScalingRecord, VersionedState
from headgate.stores.codec import SCHEMA_VERSION, decode_record, decode_state, encode_record, encode_state
from headgate.stores.faults import translated
from headgate.stores.tables import epoch_us, job_state, metadata, scaling_history


class SqlStateStore:
    """
    Keeps states in a database; a save is on disk when it returns.

    Nothing is opened before the first call, so a database may come up after Headgate. Safe to call from several
    threads and from several processes on one database.
    """

    def __init__(self, url: str, *, lock_timeout: timedelta = timedelta(seconds=5)) -> None:
        """
        Remember where the database is.

        Args:
            url: an SQLAlchemy URL, for example `sqlite:///headgate.db`; its password never reaches a text.
            lock_timeout: how long SQLite waits for another writer before the call is an `UnreachableError`.

        Raises:
            sqlalchemy.exc.ArgumentError: no such URL; `open_store` tells people what to write instead.
            ImportError: the database's driver is not installed.
        """
        # Some drivers take a password among the parameters behind the question mark.
        self._name = make_url(url).set(query={}).render_as_string(hide_password=True)
        self._engine = _engine(url, lock_timeout)
        self._create_once = Lock()
        self._created = False

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state; an unknown job has the default state with version 0."""
        query = select(job_state.c.version, job_state.c.state).where(job_state.c.job == str(job))
        with self._transaction() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return VersionedState()
        state = decode_state(row.state, job=str(job), store=self._name)
        return VersionedState(state=state, version=row.version)

    def save(self, job: JobKey, state: JobState, expected_version: int, /) -> int:
        """
        Replace the job's state if it still has the expected version, and remember the rescales in its history.

        Raises:
            ConflictError: the version is another one; nothing was saved.
            UnreachableError: no answer; it is not known whether it was saved.
        """
        with self._transaction() as connection:
            if not _replace(connection, job, state, expected_version):
                message = f"the state of job {job} in {self._name} is no longer at version {expected_version}"
                raise ConflictError(message)
            _remember(connection, job, state.history)
        return expected_version + 1

    def forget(self, job: JobKey, /) -> None:
        """Remove all that is kept of the job; an unknown one is no error."""
        with self._transaction() as connection:
            for table in (job_state, scaling_history):
                connection.execute(delete(table).where(table.c.job == str(job)))

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        """Give the rescales made since then, oldest first, also those the state has dropped meanwhile."""
        table = scaling_history.c
        query = (
            select(table.record)
            .where(table.job == str(job), table.at_us >= epoch_us(since))
            .order_by(table.at_us, table.decision_id)
        )
        with self._transaction() as connection:
            texts = connection.execute(query).scalars().all()
        return tuple(decode_record(text, job=str(job), store=self._name) for text in texts)

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with translated(self._name):
            self._create_tables()
            with self._engine.begin() as connection:
                yield connection

    def _create_tables(self) -> None:
        with self._create_once:
            if self._created:
                return
            with self._engine.begin() as connection:
                for table in metadata.sorted_tables:
                    connection.execute(CreateTable(table, if_not_exists=True))
            self._created = True


def _engine(url: str, lock_timeout: timedelta) -> Engine:
    # Parameters hold the state, and the state holds what jobs are called: not for logs.
    engine = create_engine(url, hide_parameters=True, pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: _prepare_sqlite(connection, lock_timeout))
    return engine


def _prepare_sqlite(connection: DBAPIConnection, lock_timeout: timedelta) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {lock_timeout // timedelta(milliseconds=1)}")
    cursor.execute("PRAGMA journal_mode = WAL")
    # WAL alone may lose the last commits with the power: an intent must not be lost.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _replace(connection: Connection, job: JobKey, state: JobState, expected_version: int) -> bool:
    """Write the state over the expected version; false when the job is at another one."""
    row = {
        "version": expected_version + 1,
        "schema_version": SCHEMA_VERSION,
        "state": encode_state(state),
    }
    if expected_version == 0:
        try:
            connection.execute(insert(job_state).values(job=str(job), **row))
        except exc.IntegrityError:
            return False
        return True
    held = (job_state.c.job == str(job)) & (job_state.c.version == expected_version)
    return connection.execute(update(job_state).where(held).values(row)).rowcount == 1


def _remember(connection: Connection, job: JobKey, records: tuple[ScalingRecord, ...]) -> None:
    """Write the rescales over what was known of them: `reached_at` comes later than the rest."""
    if not records:
        return
    rows = {
        record.decision_id: {
            "job": str(job),
            "decision_id": record.decision_id,
            "at_us": epoch_us(record.at),
            "record": encode_record(record),
        }
        for record in records
    }
    table = scaling_history
    connection.execute(delete(table).where(table.c.job == str(job), table.c.decision_id.in_(rows)))
    connection.execute(insert(table), list(rows.values()))
