"""The SQL store keeps the contract on database servers, and outlives their end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import create_engine
from tests.services.database_server import DatabaseServer

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.stores.connecting import url_of
from headgate.stores.sql import SqlStateStore
from headgate.stores.tables import metadata
from headgate.testing.conformance.state_store import JOB, StateStoreSuite, full_state

_SERVERS = ["postgresql_server", "mariadb_server"]


class TestPostgresqlStateStore(StateStoreSuite):
    """The store in PostgreSQL."""

    @pytest.fixture
    def store(self, postgresql_url: str) -> Iterator[SqlStateStore]:
        """Give an empty store."""
        yield from _emptied(postgresql_url)


class TestMysqlStateStore(StateStoreSuite):
    """The store in MySQL or MariaDB."""

    @pytest.fixture
    def store(self, mysql_url: str) -> Iterator[SqlStateStore]:
        """Give an empty store."""
        yield from _emptied(mysql_url)

    def test_job_names_are_exact(self, store: SqlStateStore) -> None:
        """Where a database takes case, accents and a space at the end lightly, jobs do not become one another."""
        names = ["orders", "Orders", "örders", "orders "]
        for name in names:
            assert store.save(JobKey("local", name), full_state(), 0) == 1
        assert {key.name for key in store.in_flight()} == set(names)


@pytest.mark.parametrize("fixture", _SERVERS)
def test_a_server_that_was_killed_is_unreachable_and_then_works(fixture: str, request: pytest.FixtureRequest) -> None:
    """An error that passes, and nothing that was saved is lost."""
    server: DatabaseServer = request.getfixturevalue(fixture)
    for store in _emptied(server.url):
        store.save(JOB, full_state(), 0)
        server.kill()
        for _ in range(2):
            with pytest.raises(UnreachableError, match=f"{server.port}/.* did not answer"):
                store.save(JOB, JobState(), 1)
        server.start()
        assert store.load(JOB).state == full_state()
        assert store.save(JOB, JobState(), 1) == 2


def _emptied(url: str) -> Iterator[SqlStateStore]:
    with closing(SqlStateStore(url, answer_within=timedelta(seconds=5))) as store:
        store.in_flight()  # makes the tables
        engine = create_engine(url_of(url))
        with engine.begin() as connection:
            for table in metadata.sorted_tables:
                connection.execute(table.delete())
        engine.dispose()
        yield store
