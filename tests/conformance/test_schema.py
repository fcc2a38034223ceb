"""Every database comes to the present tables: empty ones, those of Headgate 0.1, and with several coming at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    insert,
    text,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT

from headgate.errors import PermanentError
from headgate.model.instants import epoch_us
from headgate.model.orders import Given, Orders, StandingOrders
from headgate.model.state import JobState
from headgate.stores import tables
from headgate.stores.codec import encode_record, encode_state
from headgate.stores.connecting import url_of
from headgate.stores.schema import STEPS, VERSION_TABLE
from headgate.stores.sql import SqlStateStore
from headgate.testing.conformance.state_store import JOB, NOON, OTHER, full_state

_FIRST = MetaData()
_FIRST_STATES = Table(
    "headgate_job_state",
    _FIRST,
    Column("job", String(500), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("state", Text().with_variant(MEDIUMTEXT(), "mysql"), nullable=False),
    mysql_charset="utf8mb4",
)
_FIRST_HISTORY = Table(
    "headgate_scaling_history",
    _FIRST,
    Column("job", String(500), primary_key=True),
    Column("decision_id", String(200), primary_key=True),
    Column("at_us", BigInteger, nullable=False),
    Column("record", Text, nullable=False),
    mysql_charset="utf8mb4",
)

_FIRST_CALL = "import sys; from headgate.stores.sql import SqlStateStore; print(SqlStateStore(sys.argv[1]).migrate())"


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give a database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'headgate.db'}"
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """Give a way into the database past the store; nothing of Headgate's is in it."""
    engine = create_engine(url_of(url))
    with engine.begin() as connection:
        for name in (VERSION_TABLE, *tables.metadata.tables):
            connection.execute(text(f"DROP TABLE IF EXISTS {name}"))
    yield engine
    engine.dispose()


def test_an_empty_database_gets_the_tables_that_are_worked_with(url: str, engine: Engine) -> None:
    """The steps lead to exactly what the store's statements are written against."""
    with closing(SqlStateStore(url)) as store:
        assert store.migrate()
        assert not store.migrate()
    with engine.connect() as connection:
        assert _differences(connection) == []


def test_a_database_of_the_first_headgate_is_taken_on(url: str, engine: Engine) -> None:
    """Its states, versions and rescales are kept, its open intents are found, and its columns are made right."""
    _make_first(engine)
    with closing(SqlStateStore(url)) as store:
        assert store.in_flight() == (JOB,)
        assert (store.load(JOB).state, store.load(JOB).version) == (full_state(), 3)
        assert store.load(OTHER).version == 1
        assert store.history(JOB, NOON) == full_state().history
        assert store.save(JOB, JobState(), 3) == 4
    with engine.connect() as connection:
        assert _differences(connection) == []


def test_a_database_from_before_there_were_orders_is_taken_on(url: str, engine: Engine) -> None:
    """Its states are kept, and what is ordered from now on holds."""
    pause = Orders(pause=Given(at=NOON, by="anna@host"))
    with closing(SqlStateStore(url)) as store:
        store.save(JOB, full_state(), 0)
    with engine.begin() as connection:
        connection.execute(text(f"DROP TABLE {tables.orders.name}"))
    _note_step(engine, "0002")
    with closing(SqlStateStore(url)) as store:
        assert store.orders() == StandingOrders()
        assert store.change_orders(JOB, lambda _: pause) == pause
        assert store.orders() == StandingOrders(jobs={JOB: pause})
        assert store.load(JOB).state == full_state()


def test_a_step_that_was_cut_off_is_taken_again(url: str, engine: Engine) -> None:
    """As after a power failure in MySQL, where the tables are changed and the step is not noted."""
    _make_first(engine)
    with closing(SqlStateStore(url)) as store:
        store.migrate()
    _note_step(engine, "0001")
    with closing(SqlStateStore(url)) as store:
        assert store.migrate()
        assert store.in_flight() == (JOB,)


def test_of_processes_that_start_at_once_one_makes_the_tables(url: str, engine: Engine) -> None:
    """The others wait for it; none fails."""
    engine.dispose()
    command = [sys.executable, "-c", _FIRST_CALL, url]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    outcomes = [process.communicate(timeout=60) for process in started]
    assert sorted(out.strip() for out, _ in outcomes) == ["False", "False", "True"], outcomes


def test_a_newer_schema_is_refused(url: str, engine: Engine) -> None:
    """An older Headgate does not guess what a newer one means."""
    with closing(SqlStateStore(url)) as store:
        store.migrate()
    _note_step(engine, "9999")
    with (
        closing(SqlStateStore(url)) as store,
        pytest.raises(PermanentError, match=f"has schema 9999, this Headgate knows {STEPS[-1]} at most. Hint: "),
    ):
        store.load(JOB)


def _note_step(engine: Engine, step: str) -> None:
    noted = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32)))
    with engine.begin() as connection:
        connection.execute(noted.update().values(version_num=step))


def _make_first(engine: Engine) -> None:
    with engine.begin() as connection:
        _FIRST.create_all(connection)
        idle = replace(full_state(), intent=None)
        for job, version, state in ((JOB, 3, full_state()), (OTHER, 1, idle)):
            row = {"job": str(job), "version": version, "schema_version": 1, "state": encode_state(state)}
            connection.execute(insert(_FIRST_STATES).values(row))
        for record in full_state().history:
            row = {"job": str(JOB), "decision_id": record.decision_id, "at_us": epoch_us(record.at)}
            connection.execute(insert(_FIRST_HISTORY).values(row | {"record": encode_record(record)}))


def _differences(connection: Connection) -> list[object]:
    ours = {VERSION_TABLE, *tables.metadata.tables}
    context = MigrationContext.configure(
        connection,
        opts={
            "version_table": VERSION_TABLE,
            "include_name": lambda name, kind, _: kind != "table" or name in ours,
            "compare_type": True,
        },
    )
    found: list[object] = compare_metadata(context, tables.metadata)
    # SQLite keeps no comments; the changes of one column come as a list of them.
    return [one for one in found if not (isinstance(one, list) and one[0][0] == "modify_comment")]
