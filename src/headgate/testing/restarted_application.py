"""An application whose one query is started anew, without Spark: batches end while somebody waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from headgate.engines.spark.attached.restart import FAR_OFF, Patience, Restarted
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.engines.spark.attached.start_settings import StartSettings
from headgate.model.decision import ConfigChanges


class FakeQuery:
    """A `StreamingQuery` that ends batches while somebody waits."""

    def __init__(self, settings: StartSettings, *, stateful: bool = False) -> None:
        """Run with these settings."""
        self.settings = settings
        self.isActive = True
        self.batch = -1
        self.failure: Exception | None = None
        self.stops_when_told = True
        self.refusals = 0
        self._operators = [{"numShufflePartitions": 4}] if stateful else []

    @property
    def status(self) -> dict[str, Any]:
        """Tell that a batch is under way; one batch follows the other unless triggers are far apart."""
        waits = self.settings.trigger_interval == FAR_OFF and self.batch >= 0
        return {"isTriggerActive": not waits, "message": "Waiting for next trigger" if waits else "Processing"}

    @property
    def lastProgress(self) -> dict[str, Any] | None:  # noqa: N802 - PySpark's name
        """Give the last batch."""
        return None if self.batch < 0 else {"batchId": self.batch, "stateOperators": self._operators}

    def exception(self) -> Exception | None:
        """Tell why it failed."""
        return self.failure

    def stop(self) -> None:
        """End it, or fail to the first times."""
        if self.refusals:
            self.refusals -= 1
            raise TimeoutError
        self.isActive = not self.stops_when_told

    def go_on(self) -> None:
        """End a batch, or fail."""
        self.batch += 1
        if self.failure is not None:
            self.isActive, self.batch = False, -1


class RestartedApplication:
    """One query `orders`; it counts how many ran at once, and its clock goes while somebody waits."""

    def __init__(self, *, stateful: bool = False) -> None:
        """Start the query with its own settings."""
        self.started: list[FakeQuery] = []
        self.reports: list[Restarted] = []
        self.spread: list[int] = []
        self.refusal: Exception | None = None
        self.anew = True
        self.left: list[str] = []
        self.quiet_refusals = 0
        self.fails: Callable[[StartSettings], bool] = lambda _: False
        self.now = 0.0
        self._stateful = stateful
        self.start(StartSettings()).go_on()
        patience = Patience(batch=timedelta(minutes=1), trial=timedelta(minutes=1), clock=self.clock, pause=self.pause)
        self.restarts = QueryRestarts(self, {"orders": self.start}, report=self.reports.append, patience=patience)

    @property
    def query(self) -> FakeQuery:
        """Give the one that was started last."""
        return self.started[-1]

    def start(self, settings: StartSettings) -> FakeQuery:
        """Start it; two at once on one checkpoint are a fault of Headgate."""
        if any(query.isActive for query in self.started):
            message = "two queries on one checkpoint"
            raise AssertionError(message)
        query = FakeQuery(settings, stateful=self._stateful)
        query.refusals = self.quiet_refusals if settings.trigger_interval == FAR_OFF else 0
        query.failure = ValueError("a row is too long") if self.fails(settings) else None
        self.started.append(query)
        return query

    def find(self, name: str) -> FakeQuery | None:
        """Give the query while it runs."""
        return self.query if name == "orders" and self.query.isActive else None

    def shuffles_anew(self) -> bool:
        """Tell what this Spark does."""
        return self.anew

    def repartition(self, query: FakeQuery, partitions: int) -> None:
        """Note it; the query must not run."""
        if query.isActive:
            message = "the query runs while its state is moved"
            raise AssertionError(message)
        if self.refusal is not None:
            raise self.refusal
        self.spread.append(partitions)

    def leftovers(self, _query: FakeQuery) -> Sequence[str]:
        """Name what lies there."""
        return self.left

    def clock(self) -> float:
        """Tell the time."""
        return self.now

    def pause(self, seconds: float) -> None:
        """Let time pass, in which a batch ends."""
        self.now += seconds
        self.query.go_on()

    async def change(self, **settings: str) -> bool:
        """Ask for settings, and wait until they were tried."""
        begun = await self.restarts.change(changes(**settings))
        await self.restarts.finished()
        return begun


def changes(query: str = "orders", **settings: str) -> ConfigChanges:
    """Write settings as a decision does."""
    return ConfigChanges(
        overrides={f"spark.headgate.query.{query}.{key.replace('_', '-')}": value for key, value in settings.items()}
    )
