"""The database of events: transactions on it, its table, and the library's exceptions as Headgate's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy import Connection, Engine, exc

from headgate.errors import ConflictError, PermanentError, UnreachableError
from headgate.events.tables import metadata

_NO_ANSWER = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError)
"""Refused, locked, timed out, disk full: all may pass."""
_OVERTAKEN = frozenset({1213, "40001", "40P01"})
"""What MySQL and PostgreSQL call a transaction that they gave up for another one's sake."""


class EventDatabase:
    """Transactions on the database that has the table of events; nothing is opened before the first."""

    def __init__(self, engine: Engine) -> None:
        """Use this engine, and close it."""
        self.name = engine.url.set(query={}).render_as_string(hide_password=True)
        self._engine = engine
        self._create_once = Lock()
        self._created = False

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """
        Run a block of work in one transaction.

        Raises:
            ConflictError: the database gave this transaction up for another one's sake; nothing was done.
            UnreachableError: the database is locked or gave no answer.
            PermanentError: it answered with something that waiting does not cure.
        """
        try:
            self._create_table()
            with self._engine.begin() as connection:
                yield connection
        except _NO_ANSWER as error:
            message = f"the database of events {self.name} did not answer: {_cause(error)}"
            raise (ConflictError if _is_overtaken(error) else UnreachableError)(message) from error
        except exc.SQLAlchemyError as error:
            message = f"the database of events {self.name} cannot be used: {_cause(error)}"
            raise PermanentError(message) from error

    def close(self) -> None:
        """Give the connections back; the next transaction opens new ones."""
        self._engine.dispose()

    def _create_table(self) -> None:
        with self._create_once:
            if not self._created:
                self._create_or_find()
                self._created = True

    def _create_or_find(self) -> None:
        try:
            metadata.create_all(self._engine)
        except exc.DatabaseError:
            # Another process may have made it at the same time; then it is there the second time.
            metadata.create_all(self._engine)


def _is_overtaken(error: exc.SQLAlchemyError) -> bool:
    original = getattr(error, "orig", None)
    codes = {getattr(original, "sqlstate", None), *getattr(original, "args", ())[:1]}
    return not _OVERTAKEN.isdisjoint(codes)


def _cause(error: exc.SQLAlchemyError) -> str:
    """Give the driver's own words: SQLAlchemy's text also holds the statement and a link."""
    return str(getattr(error, "orig", None) or error)
