"""The queries of an application that Headgate may start anew: which settings they have, and what became of changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any

from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.restart import Patience, Restart, Restarted
from headgate.engines.spark.attached.restartable import Queries
from headgate.engines.spark.attached.start_settings import (
    PREFIX,
    QueryFactory,
    StartSettings,
    split_changes,
    with_changes,
)
from headgate.errors import ConflictError, HeadgateError, PermanentError, RefusedError, TransientError
from headgate.model.decision import ConfigChanges

REMEMBERED = timedelta(hours=1)
"""How long settings that have failed are refused: what they failed by may pass."""
_STUCK_PAUSE_S = 10.0
"""Between two attempts to stop what does not stop."""


class QueryRestarts:
    """
    Changes settings of queries by `spark.headgate.query.<name>.<setting>`; one restart at a time.

    What a change came to is told to `report`: it is made on a thread, and nobody waits for it.
    """

    def __init__(
        self,
        queries: Queries,
        factories: Mapping[str, QueryFactory],
        *,
        report: Callable[[Restarted], None] = lambda _: None,
        patience: Patience | None = None,
        calls: Calls | None = None,
        is_alive: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Start nothing yet.

        Args:
            queries: of the session.
            factories: start queries, by the names or ids of these.
            report: hears what became of each restart, on the thread that made it.
            patience: how long a restart waits.
            calls: makes the short calls to the driver's JVM; None makes a thread for them.
            is_alive: tells whether the application is there still.
        """
        self._queries = queries
        self._factories = dict(factories)
        self._report = report
        self._patience = patience or Patience()
        self._calls = calls or Calls()
        self._settings: dict[str, StartSettings] = {}
        self._failures: dict[tuple[str, StartSettings], tuple[str, float]] = {}
        self._down: dict[str, Restarted] = {}
        """The last restarts that left nothing running."""
        self._begun = 0
        self._under_way: tuple[str, StartSettings] | None = None
        """Cleared by the restart's own thread: it may outlive the loop that it was begun in."""
        self._thread: Thread | None = None
        self._is_alive = is_alive
        self._stuck: set[str] = set()
        """Queries that do not stop: only they have to wait for that."""
        self._turn = Lock()
        """Held while a query is started anew: factories may set what all of them read."""
        self._closed = Flag()

    def close(self) -> None:
        """Begin nothing more with what does not stop; a restart under way is seen through."""
        self._closed.set()

    def manage(self, name: str, factory: QueryFactory) -> Sequence[str]:
        """
        Let a query be started anew by this factory from now on.

        Returns:
            What an earlier repartition of its state left beside its checkpoint when it broke off.
        """
        self._factories[name] = factory
        with suppress(HeadgateError):
            query = self._queries.find(name)
            return self._queries.leftovers(query) if query is not None else ()
        return ()

    def settings(self, name: str) -> StartSettings:
        """Tell how a query was started last."""
        return self._settings.get(name, StartSettings())

    async def change(self, changes: ConfigChanges, /) -> bool:
        """
        Begin to restart the query whose settings change; idempotent, and it never waits for the restart.

        Changes of several queries are made one after the other: call it again.

        Returns:
            Whether a restart was begun.

        Raises:
            RefusedError: a key or value is wrong, nobody said how to start the query, or these settings have failed.
            TransientError: another restart is under way, or the query does not run now or has not stopped yet.
        """
        return await self._calls.make(partial(self._change, changes))

    def _change(self, changes: ConfigChanges) -> bool:
        wanted = {name: self._wanted(name, by_key) for name, by_key in split_changes(changes).items()}
        for name, settings in wanted.items():
            self._confirm(name, settings)
        stuck = self._stuck & wanted.keys()
        for name, settings in wanted.items():
            if name in stuck:
                continue
            if self._is_under_way(name, settings):
                return False
            if settings != self._present(name, settings):
                self._begin(name, settings)
                return True
        if stuck:
            message = f"told to stop, and has not yet: {', '.join(map(repr, sorted(stuck)))}"
            raise ConflictError(message)
        return False

    def await_termination(self, name: str) -> None:
        """
        Block until a query has ended, other than to be started anew: `StreamingQuery.awaitTermination` returns then.

        Raises:
            StreamingQueryException: it failed.
            PermanentError: its last restart left nothing running.
        """
        last = known = None
        while self._is_alive():
            begun, restarting = self._begun, self._is_restarting(name)
            query = self._queries.find(name)
            if query is not None:
                last, known = query, self._down.get(name)
            elif not restarting and begun == self._begun:
                break
            self._patience.pause(self._patience.poll.total_seconds())
        down = self._down.get(name)
        failure = _failure_of(down) if down is not None and down is not known else None
        failure = failure or (last.exception() if last is not None else None)
        if failure is not None:
            raise failure

    async def finished(self) -> None:
        """Wait until no restart is under way."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _wanted(self, name: str, changes: Mapping[str, str | None]) -> StartSettings:
        if name not in self._factories:
            message = f"nobody said how to start query {name!r}: its settings stay. Hint: hand a factory over for it"
            raise RefusedError(message)
        return with_changes(self.settings(name), changes)

    def _present(self, name: str, wanted: StartSettings) -> StartSettings:
        """Give how it was started, with the partitions of its state as they are, whoever spread it so."""
        settings, query = self.settings(name), self._queries.find(name)
        progress = query.lastProgress if query is not None else None
        operators = progress["stateOperators"] if progress is not None else ()
        spread = {operator["numShufflePartitions"] for operator in operators}
        if wanted.state_partitions is None or spread == {wanted.state_partitions}:
            return replace(settings, state_partitions=wanted.state_partitions)
        return settings

    def _confirm(self, name: str, settings: StartSettings) -> None:
        why, at = self._failures.get((name, settings), ("", 0.0))
        if why and self._patience.clock() - at < REMEMBERED.total_seconds():
            message = f"query {name!r} was started with {settings.text} before: {why}"
            raise RefusedError(message)

    def _is_restarting(self, name: str) -> bool:
        under_way = self._under_way
        # In this order: a restart is stuck before it is under way no more.
        return (under_way is not None and under_way[0] == name) or name in self._stuck

    def _is_under_way(self, name: str, settings: StartSettings) -> bool:
        under_way = self._under_way
        if under_way is None:
            return False
        if under_way == (name, settings):
            return True
        message = f"query {under_way[0]!r} is being started with {under_way[1].text}"
        raise ConflictError(message)

    def _begin(self, name: str, settings: StartSettings) -> None:
        query = self._queries.find(name)
        if query is None:
            message = f"query {name!r} does not run now"
            raise TransientError(message)
        if settings.shuffle_partitions != self.settings(name).shuffle_partitions:
            self._confirm_free(name, query)
        restart = self._restart(name, query, settings)
        self._under_way = (name, settings)
        self._begun += 1
        self._thread = Thread(target=self._make, args=(restart,), name="headgate-restart", daemon=True)
        self._thread.start()

    def _confirm_free(self, name: str, query: Any) -> None:
        """
        Raise unless another number of partitions of its shuffles would be heeded.

        Raises:
            RefusedError: its checkpoint fixes the number.
            TransientError: that is not known yet.
        """
        progress = query.lastProgress
        if progress is None:
            message = f"query {name!r} has not ended a batch yet: it is not known whether it keeps state"
            raise TransientError(message)
        if progress["stateOperators"]:
            message = (
                f"query {name!r} keeps state, whose partitions stay whatever spark.sql.shuffle.partitions says. "
                f"Hint: {PREFIX}{name}.state-partitions spreads it anew (experimental, Spark 4.2 and RocksDB)"
            )
            raise RefusedError(message)
        if not self._queries.shuffles_anew():
            message = f"this Spark takes the shuffle partitions of query {name!r} from its checkpoint, whatever is set"
            raise RefusedError(message)

    def _restart(self, name: str, query: Any, settings: StartSettings) -> Restart:
        before = self._present(name, settings)
        between = None
        if settings.state_partitions not in {None, before.state_partitions}:
            between = partial(self._queries.repartition, query, settings.state_partitions)
        return Restart(
            name=name,
            query=query,
            factory=self._factories[name],
            before=before,
            wanted=settings,
            between=between,
            patience=self._patience,
        )

    def _make(self, restart: Restart) -> None:
        try:
            with self._turn:
                made = restart.make()
            self._note(made)
            if made.stuck is not None:
                self._stuck.add(restart.name)
                self._under_way = None
                self._free(restart, made)
        except Exception as error:  # noqa: BLE001 - nobody else hears of it, and the application may go on
            failure = f"it is not known what became of it: {error}"
            self._note(
                Restarted(query=restart.name, before=restart.before, wanted=restart.wanted, failure=failure, runs=False)
            )
        finally:
            if self._under_way is not None and self._under_way[0] == restart.name:
                self._under_way = None
            self._stuck.discard(restart.name)

    def _free(self, restart: Restart, made: Restarted) -> None:
        """Start it again once it has stopped, unless nobody is there any more who wants that."""
        while made.stuck is not None and not self._closed.is_set() and self._is_alive():
            self._patience.pause(_STUCK_PAUSE_S)
            if restart.is_freed(made):
                with self._turn:
                    made = restart.free(made)
                self._note(made)

    def _note(self, made: Restarted) -> None:
        self._settings[made.query] = made.settings
        if made.failure and not made.by_itself:
            self._failures[made.query, made.wanted] = made.failure, self._patience.clock()
        if made.runs:
            self._down.pop(made.query, None)
        else:
            self._down[made.query] = made
        with suppress(Exception):
            self._report(made)


def _failure_of(down: Restarted) -> BaseException | None:
    """Give what to tell whoever waits for the query; nothing where somebody stopped it."""
    if down.by_itself:
        return down.exception
    return PermanentError(f"query {down.query!r} does not run: {down.failure}")
