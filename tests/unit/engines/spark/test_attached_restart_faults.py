"""What ends a query while it is started anew, or keeps it from being started, is never hidden and never made worse."""

from __future__ import annotations

import asyncio
from threading import Event as Flag

import pytest

from headgate.engines.spark.attached.checkpoint import UnrestoredError
from headgate.engines.spark.attached.restart import Patience
from headgate.engines.spark.attached.restarts import REMEMBERED, QueryRestarts
from headgate.engines.spark.attached.start_settings import StartSettings
from headgate.errors import ConflictError, PermanentError, TransientError
from headgate.testing.restarted_application import RestartedApplication as Application
from headgate.testing.restarted_application import changes

pytestmark = pytest.mark.asyncio


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


@pytest.mark.parametrize("end", ["closed", "gone"])
async def test_what_never_stops_is_given_up_with_the_agent_or_the_application(end: str) -> None:
    """Whoever waits for the query is told, and no thread goes on for ever."""
    application, hangs, ends = Application(), Flag(), Flag()
    first, usual = application.query, application.pause

    def stop() -> None:
        first.isActive = False  # and yet it may write
        raise TimeoutError

    def pause(seconds: float) -> None:
        usual(seconds)
        if not first.isActive:
            hangs.set()
            ends.wait()

    first.stop = stop  # type: ignore[method-assign]
    restarts = QueryRestarts(
        application,
        {"orders": application.start, "payments": application.start},
        patience=Patience(clock=application.clock, pause=pause),
        is_alive=lambda: end == "closed" or not ends.is_set(),
    )
    await restarts.change(changes(trigger_interval="10 s"))
    assert await asyncio.to_thread(hangs.wait, 60)
    with pytest.raises(ConflictError, match="orders"):
        await restarts.change(changes(trigger_interval="20 s"))
    with pytest.raises(TransientError, match="'payments' does not run now"):
        await restarts.change(changes("payments", trigger_interval="20 s"))
    if end == "closed":
        restarts.close()
    ends.set()
    await restarts.finished()
    assert application.started == [first]
    first.isActive = end == "gone"  # the books of a driver that ends may have it still
    with pytest.raises(PermanentError, match="TimeoutError"):
        restarts.await_termination("orders")


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
