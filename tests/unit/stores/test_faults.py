"""The database library's exceptions as Headgate's."""

from __future__ import annotations

import pytest
from sqlalchemy import exc

from headgate.errors import ConflictError, PermanentError, UnreachableError
from headgate.stores.faults import translated

_STATEMENT = "UPDATE secret_table"


@pytest.mark.parametrize("kind", [exc.OperationalError, exc.InterfaceError])
def test_no_answer_is_transient_and_told_in_the_drivers_words(kind: type[exc.DBAPIError]) -> None:
    """The statement and the library's links stay out of the text."""
    with (
        pytest.raises(UnreachableError, match=r"state store sqlite:///x did not answer: it is away$"),
        translated("sqlite:///x"),
    ):
        raise kind(_STATEMENT, None, Exception("it is away"))


def test_an_exhausted_pool_is_transient() -> None:
    """Too many callers at once is a fault that passes."""
    with pytest.raises(UnreachableError), translated("sqlite:///x"):
        raise exc.TimeoutError


def test_what_waiting_does_not_cure_is_permanent() -> None:
    """A missing right, a damaged file."""
    with pytest.raises(PermanentError, match=r"cannot be used: no right$"), translated("sqlite:///x"):
        raise exc.ProgrammingError(_STATEMENT, None, Exception("no right"))


def test_headgates_own_errors_pass() -> None:
    """A conflict found inside a transaction stays a conflict."""
    with pytest.raises(ConflictError), translated("sqlite:///x"):
        raise ConflictError
