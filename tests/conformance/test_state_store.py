"""The stores that come with Headgate keep the contract, and the SQL one keeps it over restarts and faults."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.errors import ConflictError, PermanentError, UnreachableError
from headgate.model.orders import NO_ORDERS, Orders, StandingOrders
from headgate.model.state import JobState, VersionedState
from headgate.stores.memory import MemoryStateStore
from headgate.stores.sql import SqlStateStore
from headgate.testing.conformance.state_store import JOB, MINUTE, NOON, StateStoreSuite, full_orders, full_state


class TestMemoryStateStore(StateStoreSuite):
    """The store for one process."""

    @pytest.fixture
    def store(self) -> MemoryStateStore:
        """Give an empty store."""
        return MemoryStateStore()


class TestSqlStateStore(StateStoreSuite):
    """The store in an SQLite file."""

    @pytest.fixture
    def database(self, tmp_path: Path) -> Path:
        """Give the path of a database that is not there yet."""
        return tmp_path / "headgate.db"

    @pytest.fixture
    def store(self, database: Path) -> Iterator[SqlStateStore]:
        """Give an empty store that does not wait long for locks."""
        with closing(_open(database)) as store:
            yield store

    def test_states_outlive_the_process(self, store: SqlStateStore, database: Path) -> None:
        """A store opened later on the same file finds state, version and history."""
        store.save(JOB, full_state(), 0)
        store.close()
        with closing(_open(database)) as reopened:
            assert reopened.load(JOB) == VersionedState(state=full_state(), version=1)
            assert reopened.history(JOB, NOON) == full_state().history

    def test_orders_outlive_the_process(self, store: SqlStateStore, database: Path) -> None:
        """Whoever opens the same file later is held to them."""
        store.change_orders(JOB, lambda _: full_orders())
        store.change_orders(None, lambda _: full_orders())
        store.close()
        with closing(_open(database)) as reopened:
            assert reopened.orders() == StandingOrders(fleet=full_orders(), jobs={JOB: full_orders()})

    def test_of_two_processes_that_order_at_once_one_waits(self, store: SqlStateStore, database: Path) -> None:
        """What the other orders is not between what one reads and what it writes."""

        def pause(before: Orders) -> Orders:
            with closing(_open(database)) as other, pytest.raises(UnreachableError, match="locked"):
                other.change_orders(JOB, lambda _: NO_ORDERS)
            return replace(before, pause=full_orders().pause)

        store.change_orders(JOB, lambda _: NO_ORDERS)
        assert store.orders().jobs == {}
        store.change_orders(JOB, pause)
        assert store.orders().jobs == {JOB: Orders(pause=full_orders().pause)}

    def test_unreadable_orders_name_job_and_store(self, store: SqlStateStore, database: Path) -> None:
        """They are never taken for none: a pause may be among them."""
        store.change_orders(JOB, lambda _: full_orders())
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE headgate_orders SET orders = '[]'")
        with pytest.raises(PermanentError, match=r"the orders for local/sales.*headgate\.db are unreadable"):
            store.orders()

    def test_a_save_is_in_the_file_when_it_returns(self, store: SqlStateStore, database: Path) -> None:
        """Nothing waits for the store to be closed: another connection sees it at once."""
        store.save(JOB, full_state(), 0)
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("SELECT version FROM headgate_job_state").fetchall() == [(1,)]

    def test_two_processes_cannot_both_save_over_one_version(self, store: SqlStateStore, database: Path) -> None:
        """The second of two handles on one file is told, and what the first saved stays."""
        with closing(_open(database)) as other:
            assert store.load(JOB).version == other.load(JOB).version == 0
            store.save(JOB, full_state(), 0)
            with pytest.raises(ConflictError):
                other.save(JOB, JobState(), 0)
            assert other.load(JOB) == VersionedState(state=full_state(), version=1)

    def test_a_locked_database_is_unreachable_and_then_works(self, store: SqlStateStore, database: Path) -> None:
        """A writer that does not let go is a fault that passes."""
        store.save(JOB, JobState(), 0)
        with closing(sqlite3.connect(database, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            with pytest.raises(UnreachableError, match="locked"):
                store.save(JOB, full_state(), 1)
            writer.execute("ROLLBACK")
        assert store.save(JOB, full_state(), 1) == 2

    def test_an_order_waits_longer_than_a_save(self, store: SqlStateStore, database: Path) -> None:
        """A fleet that is being saved does not keep anybody from pausing it."""
        store.save(JOB, JobState(), 0)
        patient = SqlStateStore(f"sqlite:///{database}", answer_within=timedelta(seconds=1))
        with closing(patient), closing(sqlite3.connect(database, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            with ThreadPoolExecutor(1) as person:
                ordered = person.submit(patient.change_orders, JOB, lambda _: full_orders())
                with pytest.raises(UnreachableError, match="locked"):
                    patient.save(JOB, full_state(), 1)
                writer.execute("ROLLBACK")
                assert ordered.result() == full_orders()

    def test_a_store_that_is_down_is_unreachable_and_may_come_up(self, tmp_path: Path) -> None:
        """A directory that is not there is a fault that passes, as a database server that is down."""
        absent = tmp_path / "absent"
        with closing(_open(absent / "headgate.db")) as store:
            with pytest.raises(UnreachableError, match=r"absent/headgate\.db"):
                store.load(JOB)
            with pytest.raises(UnreachableError):
                store.save(JOB, JobState(), 0)
            absent.mkdir()
            assert store.save(JOB, JobState(), 0) == 1

    def test_a_file_in_use_on_another_host_is_refused(self, store: SqlStateStore) -> None:
        """SQLite's locks hold on one host only: while a lease of another one is good, none is given."""
        assert store.acquire(0, "here/1", MINUTE, now=NOON)
        assert store.acquire(1, "here/2", MINUTE, now=NOON)
        with pytest.raises(PermanentError, match=r"headgate\.db is in use on host here, this is there\. Hint: "):
            store.acquire(2, "there/1", MINUTE, now=NOON)
        assert store.acquire(2, "there/1", MINUTE, now=NOON + MINUTE)

    def test_a_file_that_is_no_database_will_not_cure_itself(self, store: SqlStateStore, database: Path) -> None:
        """Waiting does not help, and the file is named."""
        database.write_text("not a database, but long enough to be taken for one" * 100)
        with pytest.raises(PermanentError, match=r"headgate\.db cannot be used: file is not a database"):
            store.load(JOB)

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ('{"schema_version": 99, "state": {}}', "has schema version 99, this Headgate reads 1"),
            ('{"state": {}}', "has schema version None"),
            ('{"schema_version": 1, "state": {"intent": {}}}', "is unreadable: state.intent"),
            ("{", "is unreadable"),
        ],
    )
    def test_an_unreadable_state_names_job_and_store(
        self, store: SqlStateStore, database: Path, text: str, why: str
    ) -> None:
        """What another version wrote, or what was damaged, is reported and never taken for a new job."""
        store.save(JOB, full_state(), 0)
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE headgate_job_state SET state = ?", [text])
        with pytest.raises(PermanentError, match=why) as raised:
            store.load(JOB)
        assert str(JOB) in str(raised.value)
        assert str(database) in str(raised.value)

    def test_an_unreadable_rescale_names_job_and_store(self, store: SqlStateStore, database: Path) -> None:
        """A damaged row of the history is reported, not skipped."""
        store.save(JOB, full_state(), 0)
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE headgate_scaling_history SET record = '[]'")
        with pytest.raises(PermanentError, match=r"a rescale of job local/sales.*headgate\.db is unreadable"):
            store.history(JOB, NOON)

    def test_the_file_survives_a_power_failure_after_a_save(self, store: SqlStateStore, database: Path) -> None:
        """The journal is a write-ahead log, and each commit waits for the disk."""
        store.save(JOB, JobState(), 0)
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        with store._engine.connect() as own:
            full = 2
            assert own.exec_driver_sql("PRAGMA synchronous").scalar() == full


def _open(database: Path) -> SqlStateStore:
    return SqlStateStore(f"sqlite:///{database}", answer_within=timedelta(milliseconds=200))
