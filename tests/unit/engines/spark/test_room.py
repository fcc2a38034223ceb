"""How many executors a standalone cluster has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from headgate.engines.spark.application import Executors
from headgate.engines.spark.attached.collector import AttachedMetricCollector
from headgate.engines.spark.attached.room import Room, books_of, room_in, with_room
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.builders import at, chain, sample
from headgate.testing.fake_gateway import FakeGateway

OURS = "app-1"
Told = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A worker, as its master tells of it."""

    cores_free: int = 1
    memory_free: int = 700
    state: str = "ALIVE"


def page(*machines: Machine, granted: int = 2, memory: int = 512) -> Told:
    """Give a master's page with our application on it, and another one."""
    workers = [{"coresfree": one.cores_free, "memoryfree": one.memory_free, "state": one.state} for one in machines]
    ours = {"id": OURS, "cores": granted, "memoryperexecutor": memory}
    return {"status": "ALIVE", "workers": workers, "activeapps": [{**ours, "id": "app-2", "cores": 7}, ours]}


def room(told: Told, cores_each: int = 1, most: int | None = None) -> Room:
    """Read a page as our application does."""
    books = books_of(told, OURS, cores_each)
    assert books
    return room_in(books, most)


def test_what_the_application_has_and_what_is_free_is_its_room() -> None:
    """The cores of another application are not."""
    assert room(page(Machine(), Machine(cores_free=0))) == Room(total=3, free=1)
    assert room(page(granted=0)) == Room(total=0, free=0)


def test_an_executor_fits_into_one_worker_only() -> None:
    """Two workers with one core free each have no room for an executor of two, and none where memory is short."""
    assert room(page(Machine(), Machine(), granted=2), cores_each=2) == Room(total=1, free=0)
    assert room(page(Machine(cores_free=5, memory_free=2000), granted=2), cores_each=2) == Room(total=3, free=2)
    assert room(page(Machine(cores_free=4, memory_free=600))) == Room(total=3, free=1)


def test_a_worker_that_died_has_no_room() -> None:
    """The master lists it for a while."""
    assert room(page(Machine(state="DEAD"), Machine(state="DECOMMISSIONED"))) == Room(total=2, free=0)


def test_the_application_s_own_limit_holds() -> None:
    """`spark.cores.max` counts what it has; where that is more already nothing is free."""
    assert room(page(Machine(cores_free=8, memory_free=9000)), most=5) == Room(total=5, free=3)
    assert room(page(Machine(), granted=4), most=3) == Room(total=4, free=0)


def test_a_master_that_does_not_know_the_application_tells_nothing() -> None:
    """It was started anew, and the application has not come back to it yet."""
    assert books_of(page(Machine()), "app-9", 1) is None


def test_the_slots_of_a_sample_become_those_of_the_cluster() -> None:
    """Each executor has as many as tasks can run on it; an unknown room is no room of zero."""
    taken = sample(chain({"a": 2}), tick=at(0))
    assert slots(taken, Room(total=3, free=1)) == [6, 2]
    assert slots(taken, None) == [None, None]


@pytest.mark.parametrize("found", [Room(total=5, free=3), None])
async def test_a_collector_in_reactive_mode_asks_for_the_room(found: Room | None) -> None:
    """Without anybody to ask, the slots are those that the application has."""
    gateway = FakeGateway()
    gateway.start_query("count")
    gateway.run_batch("count")
    job = JobContext(
        key=JobKey("spark", "orders"), job_id="app-1", status=JobStatus.RUNNING, options=AutoscalerOptions()
    )
    alone = await AttachedMetricCollector(gateway, gateway.feed).update_metrics(job, gateway.now)
    seen = await AttachedMetricCollector(gateway, gateway.feed, room=lambda _: found).update_metrics(job, gateway.now)
    assert (alone.slots_total, alone.slots_free) == (gateway.executors().cores, 0)
    assert (seen.slots_total, seen.slots_free) == ((found.total, found.free) if found else (None, None))


def slots(taken: Any, found: Room | None) -> Sequence[int | None]:
    """Give all slots and the free ones, for executors on which two tasks run at once."""
    executors = Executors(ids=("0", "1"), cores_each=4, task_cpus=2, changed_at=at(0))
    seen = with_room(taken, found, executors)
    return [seen.slots_total, seen.slots_free]
