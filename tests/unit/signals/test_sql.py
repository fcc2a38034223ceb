"""One number of a database, read and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, make_url

from headgate.model.identity import VertexId
from headgate.model.samples import Signal
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.sql import SqlSource, _engine
from headgate.testing.builders import ORDERS, at, context

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT sum(i) FROM n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Make a table of queues."""
    file = tmp_path / "queues.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE queues (job TEXT, cluster TEXT, depth NUMERIC)")
        rows = [("orders", "prod", 5), ("other", "prod", 7), ("o'r\"d;ers", "prod", 9)]
        connection.executemany("INSERT INTO queues VALUES (?, ?, ?)", rows)
    return file


class NotDialledError(Exception):
    """Raised instead of a connection."""


def driver_arguments(url: str) -> dict[str, object]:
    """Give what a driver is told when it is to connect."""
    seen: dict[str, object] = {}

    def note(*parts: Any) -> None:
        seen.update(parts[-1])
        raise NotDialledError

    engine = _engine(
        make_url(url), SignalSourceOptions(name="there", type="sql", url=url, timeout=timedelta(seconds=5))
    )
    event.listen(engine, "do_connect", note)
    with pytest.raises(NotDialledError):
        engine.connect()
    return seen


async def asked(
    url: str, query: str, *, ctx: JobContext | None = None, limit_s: float = 5.0, vertex: str | None = None
) -> object:
    """Ask for one value; give it, or why there is none."""
    options = SignalSourceOptions(name="there", type="sql", url=url, timeout=timedelta(seconds=limit_s))
    source = SqlSource(
        options, [SignalOptions(name="s", source="there", query=query, vertex=vertex)], clock=lambda: at(7)
    )
    found = (await source.query(ctx or context(), ["s"]))["s"]
    await source.close()
    return found.why if isinstance(found, Missing) else found


@pytest.mark.parametrize("kind", ["postgresql", "mysql", "mariadb"])
def test_a_server_that_is_gone_does_not_hold_a_thread_for_ever(kind: str) -> None:
    """The drivers would wait; what the address itself says goes before."""
    plain, told = (driver_arguments(f"{kind}://user@host.invalid/db{query}") for query in ("", "?connect_timeout=2"))
    assert plain["connect_timeout"] == 6
    assert int(str(told["connect_timeout"])) == 2
    assert plain["tcp_user_timeout" if kind == "postgresql" else "read_timeout"]


async def test_parameters_are_bound(database: Path) -> None:
    """A job's name may hold quotes and whatever else: it is compared, never executed."""
    query = "SELECT depth FROM queues WHERE job = :job AND cluster = :cluster"
    assert await asked(f"sqlite:///{database}", query) == Signal(value=5.0, measured_at=at(7))
    evil = context(replace(ORDERS, name="o'r\"d;ers"))
    assert await asked(f"sqlite:///{database}", query, ctx=evil) == Signal(value=9.0, measured_at=at(7))
    assert await asked(f"sqlite:///{database}", "SELECT 3 WHERE :job_id = 'j1'") == Signal(value=3.0, measured_at=at(7))


async def test_a_vertex_is_a_parameter_too(database: Path) -> None:
    """Where exactly one is meant."""
    query = "SELECT length(:vertex)"
    ctx = replace(context(), vertices={VertexId("v"): "Sink"})
    assert await asked(f"sqlite:///{database}", query, ctx=ctx, vertex="S*") == Signal(value=4.0, measured_at=at(7))
    why = "parameter :vertex has no value. Hint: one of :job, :job_id, :cluster, :vertex"
    assert await asked(f"sqlite:///{database}", query) == why


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT depth FROM queues", "the statement gives more than one row, expected one. Hint: sum() or max() them"),
        ("SELECT depth FROM queues WHERE job = 'nobody'", "the statement gives no row"),
        ("SELECT 1, 2", "the statement gives 2 columns, expected one"),
        ("SELECT NULL", "the value is no number but None"),
        ("SELECT 'many'", "the value is no number but 'many'"),
        ("SELECT 9e999", "the value is inf"),
        ("SELECT depth FROM nowhere", "there: no such table: nowhere"),
        ("SELEKT", 'there: near "SELEKT": syntax error'),
        ("SELECT :jobs", "parameter :jobs has no value. Hint: one of :job, :job_id, :cluster, :vertex"),
        ("DELETE FROM queues", "there: attempt to write a readonly database"),
        ("DELETE FROM queues RETURNING 1", "there: attempt to write a readonly database"),
    ],
)
async def test_what_is_no_number_has_its_sentence(database: Path, query: str, why: str) -> None:
    """And nothing is ever written."""
    assert await asked(f"sqlite:///{database}", query) == why
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM queues").fetchone() == (3,)


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A wrong path is a failure, not an empty database."""
    assert await asked(f"sqlite:///{tmp_path}/absent.db", "SELECT 1") == "there: unable to open database file"
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240 - in memory


async def test_a_statement_that_takes_too_long_is_given_up(database: Path) -> None:
    """The thread is left to the database; nobody waits for it."""
    assert await asked(f"sqlite:///{database}", ENDLESS, limit_s=0.05) == "there did not answer within 0.05 s"


@pytest.mark.parametrize("url", ["no address", "${env:HEADGATE_NO_SUCH_URL}", "postgresql://me:secret-word@h:x/d"])
async def test_an_address_that_is_none_is_told_and_not_shown(url: str) -> None:
    """It may hold a password."""
    why = "there cannot be asked: its address is none, or a secret of it cannot be had"
    assert await asked(url, "SELECT 1") == why


async def test_a_missing_driver_names_what_to_install() -> None:
    """Of a database whose driver is no part of Headgate."""
    found = await asked("oracle://h/d", "SELECT 1")
    assert isinstance(found, str)
    assert "the driver of oracle is missing. Hint: pip install" in found
