"""Executors are asked for and told to go through the scheduler backend, each once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.draining import Draining
from headgate.engines.spark.attached.lever import BackendLever
from headgate.errors import RefusedError, TransientError
from headgate.testing.fake_spark_backend import FakeBackend

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = START + timedelta(minutes=5)

pytestmark = pytest.mark.asyncio


def lever_of(backend: FakeBackend) -> BackendLever:
    """Give a lever whose clock stands still."""
    return BackendLever(backend, clock=lambda: LATER)


async def test_more_are_asked_for_once() -> None:
    """Also while they are not there yet."""
    backend = FakeBackend(executors=2)
    lever = lever_of(backend)
    assert await lever.request(4)
    assert not await lever.request(4)
    assert backend.requests == ["total 4"]


async def test_what_is_there_is_not_asked_for() -> None:
    """An application that was never changed and has what it needs is left alone."""
    backend = FakeBackend(executors=2)
    assert not await lever_of(backend).request(2)
    assert backend.requests == []


async def test_fewer_are_wanted_before_any_goes() -> None:
    """Or the cluster manager would put another one in the place of the first that left."""
    backend = FakeBackend(executors=3)
    await lever_of(backend).request(1)
    assert backend.requests == ["total 1", "decommission 2", "decommission 1"]


async def test_who_does_least_goes_first_and_of_these_the_youngest() -> None:
    """The youngest holds the least state."""
    backend = FakeBackend(executors=4)
    backend.running = {"0": 1, "1": 0, "2": 2, "3": 1}
    await lever_of(backend).request(1)
    assert backend.requests[1:] == ["decommission 1", "decommission 3", "decommission 0"]


async def test_who_was_told_to_go_counts_as_gone() -> None:
    """Although it still ends its tasks; it is not told again, and nobody goes in its place."""
    backend = FakeBackend(executors=3)
    lever = lever_of(backend)
    await lever.request(2)
    executors = await lever.executors()
    assert executors.ids == ("0", "1")
    assert executors.changed_at == LATER
    assert not await lever.request(2)


async def test_a_killed_executor_is_asked_for_again() -> None:
    """Whatever became of the earlier request."""
    backend = FakeBackend(executors=2)
    lever = lever_of(backend)
    await lever.request(3)
    backend.add()
    assert not await lever.request(3)
    backend.lose("1")
    assert await lever.request(3)
    assert backend.requests == ["total 3", "total 3"]


async def test_one_that_left_as_told_is_not_missed() -> None:
    """It went because fewer were wanted."""
    backend = FakeBackend(executors=3)
    lever = lever_of(backend)
    await lever.request(2)
    backend.lose("2")
    assert not await lever.request(2)


async def test_the_cluster_is_asked_for_no_more_than_the_application_may_have() -> None:
    """`spark.cores.max` is the end, whatever stands in the cluster."""
    backend = FakeBackend(executors=1, cores=2)
    backend.settings["spark.cores.max"] = "5"
    with pytest.raises(RefusedError, match=r"spark\.cores\.max=5"):
        await lever_of(backend).request(3)
    assert await lever_of(backend).request(2)


async def test_an_executor_may_be_a_whole_worker() -> None:
    """Without `spark.executor.cores` the cores of one are what they are, also when all are gone for a moment."""
    backend = FakeBackend(executors=1, cores=8)
    backend.settings["spark.task.cpus"] = "2"
    lever = lever_of(backend)
    assert (await lever.executors()).cores == 4
    backend.lose("0")
    assert (await lever.executors()).count_for(8) == 2


async def test_changes_are_dated() -> None:
    """By the newest executor that came or the last that went; the application's start without either."""
    backend = FakeBackend(executors=0)
    assert (await lever_of(backend).executors()).changed_at == START
    backend.add()
    came = (await lever_of(backend).executors()).changed_at
    backend.lose("0")
    assert START < came < (await lever_of(backend).executors()).changed_at


async def test_a_failing_driver_leaves_the_request_to_be_made_again() -> None:
    """Nothing is taken as asked for that was not."""
    backend = FakeBackend(executors=1)
    lever = lever_of(backend)
    backend.failure = TransientError("no answer")
    with pytest.raises(TransientError):
        await lever.request(2)
    backend.failure = None
    assert await lever.request(2)


async def test_without_decommissioning_executors_are_ended_once_idle() -> None:
    """They ignore that they are to go; the scheduler gives them no more tasks, and then they are killed."""
    backend = FakeBackend(executors=2)
    backend.settings["spark.decommission.enabled"] = "false"
    backend.running = {"0": 1, "1": 1}
    backend.decommission("1")
    draining = Draining(backend, Calls(), poll=timedelta(0))
    draining.begin(["1"])
    for _ in range(3):
        await asyncio.sleep(0)
    assert "kill 1" not in backend.requests
    backend.running = {}
    await draining.drained()
    assert backend.requests == ["decommission 1", "kill 1"]


async def test_executors_that_end_by_themselves_are_not_killed() -> None:
    """They may be copying what they hold."""
    backend = FakeBackend(executors=2)
    backend.decommission("1")
    draining = Draining(backend, Calls(), poll=timedelta(0))
    draining.begin(["1"])
    await draining.drained()
    assert backend.requests == ["decommission 1"]
