"""SQLAlchemy's exceptions as Headgate's: nothing above the store sees the database library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from headgate.errors import PermanentError, UnreachableError

_NO_ANSWER = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError)
"""Refused, locked, timed out, disk full, file cannot be opened: all may pass."""


@contextmanager
def translated(store: str) -> Iterator[None]:
    """
    Run a block of database work on the named store.

    Raises:
        UnreachableError: the database is locked or gave no answer.
        PermanentError: it answered with something that waiting does not cure.
    """
    try:
        yield
    except _NO_ANSWER as error:
        message = f"the state store {store} did not answer: {_cause(error)}"
        raise UnreachableError(message) from error
    except exc.SQLAlchemyError as error:
        message = f"the state store {store} cannot be used: {_cause(error)}"
        raise PermanentError(message) from error


def _cause(error: exc.SQLAlchemyError) -> str:
    """Give the driver's own words: SQLAlchemy's text also holds the statement and a link."""
    return str(getattr(error, "orig", None) or error)
