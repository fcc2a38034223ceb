"""Queries are started anew with other settings, one after the other, and as before where that fails."""

from __future__ import annotations

from datetime import timedelta
from threading import Event as Flag

import pytest

from headgate.engines.spark.attached.restart import FAR_OFF, Patience
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.engines.spark.attached.start_settings import StartSettings
from headgate.errors import ConflictError, RefusedError, TransientError
from headgate.model.decision import ConfigChanges
from headgate.testing.restarted_application import FakeQuery, changes
from headgate.testing.restarted_application import RestartedApplication as Application

pytestmark = pytest.mark.asyncio


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
