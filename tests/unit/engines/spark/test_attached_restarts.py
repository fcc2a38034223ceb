"""Queries are started anew with other settings, one after the other, and as before where that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from threading import Event as Flag
from typing import Any

import pytest

from headgate.engines.spark.attached.checkpoint import UnrestoredError
from headgate.engines.spark.attached.restart import FAR_OFF, Patience, Restarted
from headgate.engines.spark.attached.restarts import REMEMBERED, QueryRestarts
from headgate.engines.spark.attached.start_settings import StartSettings
from headgate.errors import ConflictError, PermanentError, RefusedError, TransientError
from headgate.model.decision import ConfigChanges

pytestmark = pytest.mark.asyncio


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


class Application:
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
        assert not any(query.isActive for query in self.started)
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
        assert not query.isActive
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


async def test_a_query_is_started_anew_with_what_was_asked_for() -> None:
    """After its batch has ended; the factory gets the whole settings."""
    application = Application()
    first = application.query
    assert await application.change(max_offsets_per_trigger="5000", trigger_interval="10 s")
    assert first.batch == 1
    wanted = StartSettings(max_offsets_per_trigger=5000, trigger_interval=timedelta(seconds=10))
    assert application.query.settings == wanted == application.restarts.settings("orders")
    assert [(one.failure, one.runs) for one in application.reports] == [("", True)]


async def test_asking_again_starts_nothing() -> None:
    """Neither while the query is being started nor afterwards."""
    application = Application()
    assert await application.restarts.change(changes(trigger_interval="10 s"))
    assert not await application.restarts.change(changes(trigger_interval="10 s"))
    await application.restarts.finished()
    assert not await application.change(trigger_interval="10 s")
    assert len(application.started) == 2


async def test_settings_add_up_until_they_are_taken_away() -> None:
    """A later change keeps what an earlier one has set."""
    application = Application()
    await application.change(max_offsets_per_trigger="5000")
    await application.change(trigger_interval="1 min")
    assert application.query.settings.max_offsets_per_trigger == 5000
    removal = ConfigChanges(removals=frozenset({"spark.headgate.query.orders.max-offsets-per-trigger"}))
    assert await application.restarts.change(removal)
    await application.restarts.finished()
    assert application.query.settings == StartSettings(trigger_interval=timedelta(minutes=1))


async def test_what_fails_in_its_first_batch_goes_back_to_what_ran() -> None:
    """It is reported, and the same is refused from then on."""
    application = Application()
    application.fails = lambda settings: settings.max_offsets_per_trigger is not None
    await application.change(max_offsets_per_trigger="5000")
    assert application.query.isActive
    assert application.query.settings == StartSettings()
    (report,) = application.reports
    assert "a row is too long" in report.failure
    assert report.runs
    with pytest.raises(RefusedError, match="a row is too long"):
        await application.change(max_offsets_per_trigger="5000")


async def test_a_query_that_fails_either_way_is_reported_as_down() -> None:
    """The application must see to it."""
    application = Application()
    application.fails = lambda _: True
    await application.change(max_offsets_per_trigger="5000")
    assert not application.reports[0].runs


async def test_a_query_that_does_not_stop_gets_no_second_one() -> None:
    """Two on one checkpoint would spoil it."""
    application = Application()
    application.query.stops_when_told = False
    await application.change(max_offsets_per_trigger="5000")
    assert len(application.started) == 1
    assert application.reports[0].failure == "it did not stop"
    assert application.reports[0].runs


async def test_a_batch_that_does_not_end_is_broken_off() -> None:
    """After the limit; Spark does it again from the same offsets."""
    application = Application()
    application.pause = None  # type: ignore[assignment, method-assign] # no batch ends on its own
    patience = Patience(
        batch=timedelta(seconds=30),
        trial=timedelta(seconds=30),
        clock=application.clock,
        pause=lambda seconds: setattr(application, "now", application.now + seconds),
    )
    restarts = QueryRestarts(application, {"orders": application.start}, patience=patience)
    await restarts.change(changes(max_offsets_per_trigger="5000"))
    await restarts.finished()
    assert application.query.settings.max_offsets_per_trigger == 5000
    assert application.now >= 60


async def test_without_a_factory_nothing_is_started() -> None:
    """Only the application knows how to start its queries."""
    with pytest.raises(RefusedError, match="factory"):
        await Application().restarts.change(changes("payments", trigger_interval="10 s"))


@pytest.mark.parametrize(
    "key",
    ["spark.sql.shuffle.partitions", "spark.headgate.query.orders.colour", "spark.headgate.query.trigger-interval"],
)
async def test_only_settings_of_queries_can_be_changed(key: str) -> None:
    """The others are those of the running application."""
    with pytest.raises(RefusedError, match=key):
        await Application().restarts.change(ConfigChanges(overrides={key: "1"}))


@pytest.mark.parametrize(("setting", "value"), [("max_offsets_per_trigger", "0"), ("trigger_interval", "soon")])
async def test_values_that_make_no_sense_are_refused(setting: str, value: str) -> None:
    """Before anything is stopped."""
    application = Application()
    with pytest.raises(RefusedError, match=value):
        await application.change(**{setting: value})
    assert application.query.isActive


async def test_shuffle_partitions_of_a_stateful_query_are_refused() -> None:
    """Its state would stay where it is; the hint names what moves it."""
    with pytest.raises(RefusedError, match="state-partitions"):
        await Application(stateful=True).change(shuffle_partitions="8")


async def test_shuffle_partitions_are_refused_where_the_checkpoint_fixes_them() -> None:
    """Older versions of Spark take them from there, state or not."""
    application = Application()
    application.anew = False
    with pytest.raises(RefusedError, match="checkpoint"):
        await application.change(shuffle_partitions="8")


async def test_shuffle_partitions_wait_for_the_first_batch() -> None:
    """It tells whether there is state."""
    application = Application()
    application.query.batch = -1
    with pytest.raises(TransientError):
        await application.change(shuffle_partitions="8")


async def test_state_is_spread_while_nothing_runs() -> None:
    """And once."""
    application = Application(stateful=True)
    await application.change(state_partitions="8")
    await application.change(trigger_interval="10 s")
    assert application.spread == [8]


async def test_state_is_spread_with_no_batch_half_done() -> None:
    """Spark refuses it otherwise: the query runs once more, with its next trigger far off, until it waits."""
    application = Application(stateful=True)
    await application.change(state_partitions="8")
    first, quiet, last = application.started
    assert quiet.settings == StartSettings(trigger_interval=FAR_OFF)
    assert quiet.batch >= 0
    assert last.settings == StartSettings(state_partitions=8)
    assert not first.isActive


async def test_state_that_is_spread_so_already_is_left_alone() -> None:
    """As after a start of the application, which remembers nothing of what Headgate did."""
    application = Application(stateful=True)
    assert not await application.change(state_partitions="4")
    assert len(application.started) == 1


async def test_state_that_cannot_be_spread_lets_the_query_go_on() -> None:
    """As it was."""
    application = Application(stateful=True)
    application.refusal = RefusedError("rows are missing")
    await application.change(state_partitions="8")
    assert application.query.isActive
    assert application.reports[0].failure == "rows are missing"


async def test_one_restart_at_a_time() -> None:
    """What comes in between is asked for again later."""
    application, goes_on = Application(), Flag()

    def start(settings: StartSettings) -> FakeQuery:
        goes_on.wait()
        return application.start(settings)

    application.restarts.manage("orders", start)
    await application.restarts.change(changes(trigger_interval="10 s"))
    with pytest.raises(ConflictError):
        await application.restarts.change(changes(trigger_interval="20 s"))
    goes_on.set()
    await application.restarts.finished()


async def test_a_query_that_does_not_run_is_no_refusal() -> None:
    """It may be started soon."""
    application = Application()
    application.query.stop()
    with pytest.raises(TransientError):
        await application.change(trigger_interval="10 s")


async def test_a_restart_that_breaks_off_is_reported() -> None:
    """As where the JVM ends meanwhile: nobody waits for it, so nobody else would hear of it."""
    application = Application()

    def start(settings: StartSettings) -> None:
        """Give no query at all."""

    application.restarts.manage("orders", start)
    await application.change(trigger_interval="10 s")
    assert not application.reports[0].runs


async def test_awaiting_the_end_outlives_restarts() -> None:
    """It raises what the last run failed with."""
    application = Application()
    await application.change(trigger_interval="10 s")
    application.query.failure = ValueError("the sink is full")
    with pytest.raises(ValueError, match="the sink is full"):
        application.restarts.await_termination("orders")


async def test_nothing_is_started_from_a_checkpoint_that_could_not_be_put_back() -> None:
    """It would begin anew, without its offsets and its state; the report says where the copy is."""
    application = Application(stateful=True)
    application.refusal = UnrestoredError("its whole copy is /data/checkpoint.before-repartition")
    await application.change(state_partitions="8")
    assert len(application.started) == 2  # the second one ended the batch under way, before anything was changed
    assert not application.query.isActive
    (report,) = application.reports
    assert not report.runs
    assert "checkpoint.before-repartition" in report.failure
    with pytest.raises(PermanentError, match="before-repartition"):
        application.restarts.await_termination("orders")


async def test_what_a_repartition_left_is_told_when_a_query_is_managed() -> None:
    """The query may have begun anew beside the only whole state."""
    application = Application()
    application.left = ["/data/checkpoint.before-repartition"]
    assert application.restarts.manage("orders", application.start) == application.left


async def test_a_query_that_hangs_in_between_is_told_of_and_freed_when_it_stops() -> None:
    """With its next trigger a day off it does nothing, so it does not count as one that runs."""
    application = Application(stateful=True)
    application.quiet_refusals = 3
    await application.change(state_partitions="8")
    hanging, freed = application.reports
    assert not hanging.runs
    assert "trigger-interval=1 day" in hanging.failure
    assert freed.runs
    assert application.query.isActive
    assert application.query.settings == StartSettings()
    assert application.spread == []


async def test_a_query_that_was_stopped_while_a_restart_waited_stays_so() -> None:
    """Somebody wanted it to end; whoever waits for it goes on."""
    application = Application()
    first = application.query
    first.go_on = first.stop  # type: ignore[method-assign]
    await application.change(trigger_interval="10 s")
    assert application.started == [first]
    assert application.reports[0].by_itself
    application.restarts.await_termination("orders")


async def test_a_query_that_fails_while_a_restart_waits_is_not_hidden() -> None:
    """Whoever waits for it is told, and decides whether it is started again."""
    application = Application()
    application.query.failure = ValueError("the sink is full")
    await application.change(trigger_interval="10 s")
    assert len(application.started) == 1
    with pytest.raises(ValueError, match="the sink is full"):
        application.restarts.await_termination("orders")


async def test_awaiting_the_end_raises_what_a_restart_came_to() -> None:
    """It runs neither way: to go on as if it had ended well would be wrong."""
    application = Application()
    application.fails = lambda _: True
    await application.change(trigger_interval="10 s")
    with pytest.raises(PermanentError, match="a row is too long"):
        application.restarts.await_termination("orders")


async def test_settings_that_failed_may_be_tried_again_much_later() -> None:
    """What they failed by may have passed."""
    application = Application()
    application.fails = lambda settings: settings.max_offsets_per_trigger is not None
    await application.change(max_offsets_per_trigger="5000")
    application.fails = lambda _: False
    application.now += REMEMBERED.total_seconds()
    assert await application.change(max_offsets_per_trigger="5000")
    assert application.query.settings.max_offsets_per_trigger == 5000
