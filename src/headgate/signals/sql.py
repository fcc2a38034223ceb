"""Signals from a database: one statement that reads one number, in a transaction that may write nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from headgate.config.databases import DRIVERS, EXTRAS, time_limits
from headgate.config.secrets import redact, resolve
from headgate.errors import ConfigError, RefusedError
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.answers import Answer
from headgate.signals.placeholders import PlaceholderError, values_for
from headgate.signals.source import Clock, DeclaredSource, now_utc, reading

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with the values of its parameters."""

    text: str
    parameters: tuple[tuple[str, str], ...]


class SqlSource(DeclaredSource[Statement]):
    """
    Asks one database. `:job`, `:job_id`, `:cluster` and `:vertex` in a statement are bound, never written into it.

    Statements run in threads of their own. One that does not end keeps its thread until the database gives up.
    """

    def __init__(
        self, options: SignalSourceOptions, declared: Sequence[SignalOptions], *, clock: Clock = now_utc
    ) -> None:
        """Open nothing yet."""
        super().__init__(options, declared, clock=clock)
        self._threads = ThreadPoolExecutor(options.max_calls_in_flight, f"signals-{options.name}")
        self._turns = asyncio.Semaphore(options.max_calls_in_flight)
        self._opening = Lock()
        self._engine: sa.Engine | None = None
        self._secrets: tuple[str, ...] = ()

    async def close(self) -> None:
        """Close the connections, without waiting for statements that hang."""
        await super().close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._engine is not None:
            self._engine.dispose()

    def _question(self, signal: SignalOptions, ctx: JobContext) -> Statement:
        text = signal.query or ""
        known = {name.replace("-", "_"): value for name, value in values_for(ctx, signal).items()}
        parameters: dict[str, str] = {}
        for name in _parameters(text):
            if known.get(name) is None:
                message = f"parameter :{name} has no value. Hint: one of {', '.join(f':{each}' for each in known)}"
                raise PlaceholderError(message)
            parameters[name] = str(known[name])
        return Statement(text=text, parameters=tuple(sorted(parameters.items())))

    async def _ask(self, questions: Sequence[Statement]) -> Mapping[Statement, Answer]:
        return dict(zip(questions, await asyncio.gather(*map(self._ask_one, questions)), strict=True))

    async def _ask_one(self, statement: Statement) -> Answer:
        limit_s = self.options.timeout.total_seconds()
        try:
            async with self._turns, asyncio.timeout(limit_s):
                running = asyncio.get_running_loop().run_in_executor(self._threads, self._run, statement)
                return await running
        except TimeoutError:
            return Missing(why=f"{self.name} did not answer within {limit_s:g} s")
        except sa.exc.SQLAlchemyError as error:
            return Missing(why=redact(f"{self.name}: {_reason(error)}", self._secrets))

    def _run(self, statement: Statement) -> Answer:
        with self._opened().connect() as connection:
            # never committed: what the connection does not forbid to write is undone
            result = connection.execute(sa.text(statement.text), dict(statement.parameters))
            if not result.returns_rows:
                return Missing(why="the statement reads nothing")
            rows = result.fetchmany(2)
            return self._only(rows)

    def _only(self, rows: Sequence[sa.Row[Any]]) -> Answer:
        if not rows:
            return Missing(why="the statement gives no row")
        if len(rows) > 1:
            return Missing(why="the statement gives more than one row, expected one. Hint: sum() or max() them")
        if len(rows[0]) != 1:
            return Missing(why=f"the statement gives {len(rows[0])} columns, expected one")
        return reading(rows[0][0], self._clock(), "the value")

    def _opened(self) -> sa.Engine:
        with self._opening:
            if self._engine is None:
                url = self._address()
                self._secrets = (str(url.password or ""),)
                self._engine = _engine(url, self.options)
            return self._engine

    def _address(self) -> sa.URL:
        try:
            url = sa.make_url(resolve(self.options.url))
            password = resolve(self.options.password)
        except (ValueError, sa.exc.ArgumentError) as error:
            # The address is not shown: it may hold a password.
            message = f"{self.name} cannot be asked: its address is none, or a secret of it cannot be had"
            raise RefusedError(message) from (None if isinstance(error, sa.exc.ArgumentError) else error)
        if self.options.username:
            url = url.set(username=self.options.username, password=password or None)
        return url


def _parameters(text: str) -> frozenset[str]:
    return frozenset(sa.text(text).compile().params)


def _engine(url: sa.URL, options: SignalSourceOptions) -> sa.Engine:
    """Make an engine whose connections may read only, and give up by themselves where the database can be told to."""
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    kind = url.get_backend_name()
    limits = {key: value for key, value in _limits(kind, options.timeout).items() if key not in url.query}
    if kind == "sqlite" and url.database and not url.database.startswith((":", "file:")):
        # A path that is wrong must not become an empty database.
        url = url.set(database=f"file:{quote(url.database)}", query={**url.query, "mode": "ro", "uri": "true"})
    try:
        engine = sa.create_engine(url, pool_size=options.max_calls_in_flight, pool_pre_ping=True, connect_args=limits)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(kind, kind)
        message = f"signal source {options.name}: the driver of {kind} is missing. Hint: pip install headgate[{extra}]"
        raise ConfigError([message]) from error
    prepare = _READ_ONLY.get(kind)
    if prepare is not None:
        sa.event.listen(engine, "connect", lambda connection, _: prepare(connection, options))
    return engine


def _limits(kind: str, timeout: timedelta) -> Mapping[str, Any]:
    if kind == "sqlite":
        return {"timeout": max(1, round(timeout.total_seconds()))}
    # A thread that waits for a host that is gone would be one thread less for good. Later than the signal's own limit,
    # whose words are clearer.
    return time_limits(kind, timeout + timedelta(seconds=1))


def _prepare_postgresql(connection: Any, options: SignalSourceOptions) -> None:
    limit_ms = max(1, round(options.timeout.total_seconds() * 1000))
    _execute(connection, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", f"SET statement_timeout = {limit_ms}")
    connection.commit()


def _prepare_mysql(connection: Any, _: SignalSourceOptions) -> None:
    _execute(connection, "SET SESSION TRANSACTION READ ONLY")


def _prepare_sqlite(connection: Any, _: SignalSourceOptions) -> None:
    _execute(connection, "PRAGMA query_only = ON")


_READ_ONLY: Mapping[str, Callable[[Any, SignalSourceOptions], None]] = {
    "postgresql": _prepare_postgresql,
    "mysql": _prepare_mysql,
    "mariadb": _prepare_mysql,
    "sqlite": _prepare_sqlite,
}


def _execute(connection: Any, *statements: str) -> None:
    cursor = connection.cursor()
    try:
        for statement in statements:
            cursor.execute(statement)
    finally:
        cursor.close()


def _reason(error: sa.exc.SQLAlchemyError) -> str:
    """Give the database's own words in one line, without the statement."""
    original = getattr(error, "orig", None) or error
    return (" ".join(str(original).split()) or type(original).__name__)[:_LONGEST]
