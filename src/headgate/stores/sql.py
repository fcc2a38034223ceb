"""
A state store in any database that SQLAlchemy speaks to; SQLite is the default.

Versions are optimistic: an update names the version it expects, and the database says whether a row still had it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, delete, exc, insert, select, true, update

from headgate.errors import ConflictError, PermanentError
from headgate.model.identity import JobKey
from headgate.model.instants import epoch_us
from headgate.model.orders import Orders, StandingOrders
from headgate.model.state import JobState, ScalingRecord, VersionedState
from headgate.ports import Lease
from headgate.stores import forgetting, schema, shard_leases, standing_orders
from headgate.stores.codec import SCHEMA_VERSION, decode_record, decode_state, encode_record, encode_state
from headgate.stores.connecting import connect, name_of
from headgate.stores.faults import translated
from headgate.stores.tables import job_state, scaling_history


class SqlStateStore:
    """
    Keeps states in a database; a save is on disk when it returns.

    Nothing is opened before the first call, so a database may come up after Headgate. Safe to call from several
    threads and from several processes on one database.
    """

    def __init__(self, url: str, *, answer_within: timedelta = timedelta(seconds=5)) -> None:
        """
        Remember where the database is.

        Args:
            url: an SQLAlchemy URL, for example `sqlite:///headgate.db`; its password never reaches a text.
            answer_within: how long a connection, a lock and a statement may take before it is an `UnreachableError`;
                an order may take longer.

        Raises:
            sqlalchemy.exc.ArgumentError: no such URL; `open_store` tells people what to write instead.
            ImportError: the database's driver is not installed.
        """
        self._name = name_of(url)
        self._engine = connect(url, answer_within)
        self._unhurried = connect(url, _ORDER_PATIENCE * answer_within)
        self._one_order = Lock()
        self._patient = partial(connect, url, _MIGRATION_LIMIT)
        self._prepare_once = Lock()
        self._prepared = False

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state; an unknown job has the default state with version 0."""
        query = select(job_state.c.version, job_state.c.state).where(job_state.c.job == str(job))
        with self._transaction() as connection:
            row = connection.execute(query).one_or_none()
        return VersionedState() if row is None else self._versioned(row, str(job))

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """
        Replace the job's state if it still has the expected version, and remember the rescales in its history.

        Raises:
            ConflictError: the version is another one, or somebody else has taken the lease; nothing was saved.
            UnreachableError: no answer; it is not known whether it was saved.
        """
        with self._transaction() as connection:
            if lease is not None and not shard_leases.fence(connection, lease):
                message = f"the lease of shard {lease.shard} is no longer {lease.holder}'s: job {job} was not saved"
                raise ConflictError(message)
            if not _replace(connection, job, state, expected_version):
                message = f"the state of job {job} in {self._name} is no longer at version {expected_version}"
                raise ConflictError(message)
            _remember(connection, job, state.history)
        return expected_version + 1

    def forget(self, job: JobKey, /, *, gone_before: datetime | None = None, unused: bool = False) -> bool:
        """Remove all that is kept of the job, if it is gone for so long and not in use; whether it was removed."""
        with self._transaction() as connection:
            return forgetting.forget(connection, job, gone_before=gone_before, unused=unused, store=self._name)

    def kept(self) -> Mapping[JobKey, datetime | None]:
        """Give every job of which a state is kept, and since when it is noted as gone."""
        with self._transaction() as connection:
            return forgetting.kept(connection)

    def note_gone(self, jobs: Collection[JobKey], at: datetime | None, /) -> None:
        """Note since when jobs are gone, or with None that they are back."""
        with self._transaction() as connection:
            forgetting.note_gone(connection, jobs, at)

    def forget_history(self, before: datetime, /) -> None:
        """Remove the rescales that were made before an instant, in transactions that nobody waits long for."""
        is_more = True
        while is_more:
            with self._transaction() as connection:
                is_more = forgetting.forget_some_history(connection, before)

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

    def in_flight(self) -> tuple[JobKey, ...]:
        """Give the jobs that have an open intent or events that wait, sorted."""
        query = select(job_state.c.job).where(job_state.c.in_flight == true())
        with self._transaction() as connection:
            jobs = connection.execute(query).scalars().all()
        return tuple(sorted(map(JobKey.parse, jobs)))

    def states(self) -> Mapping[JobKey, VersionedState]:
        """Give the state of every job, by one query."""
        query = select(job_state.c.job, job_state.c.version, job_state.c.state).order_by(job_state.c.job)
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        return {JobKey.parse(row.job): self._versioned(row, row.job) for row in rows}

    def orders(self) -> StandingOrders:
        """Give what people have ordered."""
        with self._transaction() as connection:
            return standing_orders.standing(connection, self._name)

    def change_orders(self, job: JobKey | None, change: Callable[[Orders], Orders], /) -> Orders:
        """
        Replace the orders for a job, or with None those for all; others wait until it is done.

        They wait for each other here, and for the database longer than a cycle would: SQLite lets nobody queue for its
        lock, and a process that saves the states of a fleet leaves it free for moments only.
        """
        with self._one_order, self._transaction(self._unhurried) as connection:
            return standing_orders.changed(connection, job, change, self._name)

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        """
        Take or renew the lease of a shard; None while somebody else holds it.

        Raises:
            PermanentError: it is an SQLite file and somebody on another host holds a lease in it.
        """
        with self._transaction() as connection:
            if connection.dialect.name == "sqlite":
                self._refuse_other_hosts(connection, holder, now)
            return shard_leases.take(connection, shard, holder, duration=duration, now=now) or shard_leases.take_first(
                connection, shard, holder, duration=duration, now=now
            )

    def renew(self, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Renew all that a holder has, and give them by shard; expired leases stay so."""
        with self._transaction() as connection:
            return shard_leases.prolong(connection, holder, duration=duration, now=now)

    def release(self, lease: Lease, /) -> None:
        """Give a lease back; one that somebody else has taken since is left alone."""
        with self._transaction() as connection:
            shard_leases.give_back(connection, lease)

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        """Tell whether a lease is still good: not expired, not taken over."""
        with self._transaction() as connection:
            return shard_leases.is_good(connection, lease, now=now)

    def leases(self, *, now: datetime | None = None) -> tuple[Lease, ...]:
        """Give every lease that is good, by shard."""
        with self._transaction() as connection:
            return shard_leases.all_good(connection, now=now)

    def token_of(self, shard: int, /) -> int:
        """Give the last token of a shard; 0 if it never had one."""
        with self._transaction() as connection:
            return shard_leases.token_of(connection, shard)

    def raise_fence(self, lease: Lease, /) -> bool:
        """
        Let through only what is saved under a lease that is kept elsewhere; false when its token is too small.

        Raises:
            PermanentError: somebody keeps the leases of the same jobs in this database.
        """
        with self._transaction() as connection:
            for other in shard_leases.all_good(connection):
                if other.shard == lease.shard:
                    message = f"{other.holder} has its leases in {self._name} itself. {_ONE_KEEPER}"
                    raise PermanentError(message)
            return shard_leases.follow(connection, lease)

    def let_through(self, leases: Collection[Lease], /) -> frozenset[int]:
        """Give the shards of those leases that nobody has followed."""
        with self._transaction() as connection:
            return shard_leases.unfollowed(connection, leases)

    def migrate(self) -> bool:
        """
        Bring the tables up to date, as the first call of anything else does; whether there was something to do.

        Raises:
            PermanentError: a newer Headgate has been here.
            UnreachableError: no answer.
        """
        with translated(self._name):
            return self._prepare()

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._engine.dispose()
        self._unhurried.dispose()

    def _refuse_other_hosts(self, connection: Connection, holder: str, now: datetime | None) -> None:
        """SQLite's locks and its log in shared memory hold on one host only."""
        here = holder.partition("/")[0]
        for lease in shard_leases.all_good(connection, now=now):
            if lease.host != here:
                message = f"the state store {self._name} is in use on host {lease.host}, this is {here}. {_ONE_HOST}"
                raise PermanentError(message)

    def _versioned(self, row: Any, job: str) -> VersionedState:
        return VersionedState(state=decode_state(row.state, job=job, store=self._name), version=row.version)

    def _prepare(self) -> bool:
        with self._prepare_once:
            done = not self._prepared and schema.upgrade(self._engine, self._name, patient=self._patient)
            self._prepared = True
            return done

    @contextmanager
    def _transaction(self, engine: Engine | None = None) -> Iterator[Connection]:
        with translated(self._name):
            self._prepare()
            with (engine or self._engine).begin() as connection:
                yield connection


_ORDER_PATIENCE = 6
"""How many times as long as a cycle a person may wait: an order to keep off a job matters most when all are busy."""

_MIGRATION_LIMIT = timedelta(minutes=5)
"""How long one statement of a migration may take."""

_ONE_KEEPER = (
    "Hint: give all Headgates that share the state store the same lease.kubernetes; stop them all to change it"
)
_ONE_HOST = "Hint: an SQLite file is for one host; share a PostgreSQL or MySQL database instead"


def _replace(connection: Connection, job: JobKey, state: JobState, expected_version: int) -> bool:
    """Write the state over the expected version; false when the job is at another one."""
    row = {
        "version": expected_version + 1,
        "schema_version": SCHEMA_VERSION,
        "state": encode_state(state),
        "in_flight": state.intent is not None or bool(state.outbox),
        "gone_since_us": None,
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
