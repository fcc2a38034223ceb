"""Executors are asked for and told to go through the scheduler backend, each once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from headgate.engines.spark.attached.backend import Standing
from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.draining import Draining
from headgate.engines.spark.attached.lever import BackendLever
from headgate.errors import NotFoundError, RefusedError, TransientError
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


async def test_executors_that_are_told_to_go_during_a_look_are_seen_to_as_well() -> None:
    """The look knows nothing of them."""
    backend = FakeBackend(executors=3)
    backend.settings["spark.decommission.enabled"] = "false"
    backend.decommission("2")
    backend.decommission("1")
    loop, usual = asyncio.get_running_loop(), backend.is_between_batches
    draining = Draining(backend, Calls(), poll=timedelta(0))

    async def begin() -> None:
        draining.begin(["1"])

    def is_between_batches() -> bool:
        asyncio.run_coroutine_threadsafe(begin(), loop).result()
        return usual()

    backend.is_between_batches = is_between_batches  # type: ignore[method-assign]
    draining.begin(["2"])
    await draining.drained()
    assert [request for request in backend.requests if request.startswith("kill")] == ["kill 2", "kill 1"]


async def test_an_idle_executor_is_not_ended_in_the_middle_of_a_batch() -> None:
    """Output of a shuffle that lies on it may still be read; where batch follows batch it goes after the limit."""
    backend, now = FakeBackend(executors=2), [0.0]
    backend.settings["spark.decommission.enabled"] = "false"
    backend.in_batch = True
    backend.decommission("1")
    looks, usual = asyncio.Event(), backend.look
    loop = asyncio.get_running_loop()

    def look() -> Standing:
        loop.call_soon_threadsafe(looks.set)
        return usual()

    backend.look = look  # type: ignore[method-assign]
    draining = Draining(backend, Calls(), poll=timedelta(0), limit=timedelta(minutes=10), clock=lambda: now[0])
    draining.begin(["1"])
    for _ in range(2):
        await looks.wait()
        looks.clear()
    assert "kill 1" not in backend.requests
    now[0] = 600.0
    await draining.drained()
    assert "kill 1" in backend.requests


async def test_one_look_that_fails_does_not_end_the_draining() -> None:
    """Nobody else would end these executors; an application that is gone has none."""
    backend = FakeBackend(executors=2)
    backend.settings["spark.decommission.enabled"] = "false"
    backend.decommission("1")
    looks: list[Exception] = [TransientError("no answer"), RefusedError("not now")]
    usual = backend.look

    def look() -> Standing:
        if looks:
            raise looks.pop()
        return usual()

    backend.look = look  # type: ignore[method-assign]
    draining = Draining(backend, Calls(), poll=timedelta(0))
    draining.begin(["1"])
    await draining.drained()
    assert "kill 1" in backend.requests
    backend.failure = NotFoundError("the application has ended")
    draining.begin(["0"])
    await draining.drained()


async def test_executors_that_an_earlier_agent_told_to_go_are_seen_to() -> None:
    """At the next request, whatever it asks for; and at the end those that are idle go at once."""
    backend = FakeBackend(executors=3)
    backend.settings["spark.decommission.enabled"] = "false"
    backend.in_batch = True
    backend.decommission("2")
    lever = lever_of(backend)
    await lever.request(2)
    lever.close()
    assert "kill 2" in backend.requests


async def test_a_released_application_is_held_again_by_the_next_request() -> None:
    """Dynamic allocation may have changed its mind meanwhile."""
    backend = FakeBackend(executors=2)
    lever = lever_of(backend)
    await lever.request(2)
    await lever.release()
    assert await lever.request(2)
    assert backend.requests == ["release", "total 2"]


async def test_what_dynamic_allocation_has_made_of_it_is_held_as_it_is() -> None:
    """Elsewhere nobody has changed the number, and what was asked for may be on its way."""
    backend = FakeBackend(executors=2)
    lever = lever_of(backend)
    await lever.request(3)
    await lever.release()
    await lever.hold()
    assert backend.requests == ["total 3", "release"]
    backend.settings["spark.dynamicAllocation.enabled"] = "true"
    await lever.hold()
    assert backend.requests == ["total 3", "release", "total 2"]


async def test_tasks_wider_than_what_is_known_of_executors_divide_by_nothing() -> None:
    """Before any is there, and with no size set, one core is a guess."""
    backend = FakeBackend(executors=0)
    backend.settings["spark.task.cpus"] = "2"
    executors = await lever_of(backend).executors()
    assert (executors.slots_each, executors.cores, executors.count_for(3)) == (1, 0, 3)
