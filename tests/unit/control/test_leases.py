"""Processes that share a store divide the jobs fairly, notice who comes and goes, and never overlap."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from headgate.control.leases import Leases, holder_of_this_process, shard_of
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at

SHARDS = 10
DURATION = timedelta(minutes=1)
JOBS = [JobKey("prod", f"job {number}") for number in range(300)]


def process(store: MemoryStateStore, name: str, *, shards: int = SHARDS) -> Leases:
    """Start a process."""
    return Leases(store, shards=shards, duration=DURATION, holder=f"host/{name}/{shards}")


def jobs_of(leases: Leases) -> set[JobKey]:
    """Give the jobs that a process acts for."""
    return {job for job in JOBS if leases.lease_of(job)}


def shards_of(leases: Leases) -> int:
    """Count the shards that a process has jobs of."""
    return len({shard_of(job, SHARDS) for job in jobs_of(leases)})


def live(processes: Sequence[Leases], now: datetime) -> None:
    """Let each process end a cycle and renew its leases, twice, as time goes."""
    for _ in range(2):
        for each in processes:
            each.share_out(now)
            each.renew(now)


@pytest.fixture
def store() -> MemoryStateStore:
    """Give a store that nobody uses yet."""
    return MemoryStateStore()


def test_a_jobs_shard_never_changes() -> None:
    """Neither with the process nor with the release: these values are written down for good."""
    assert [shard_of(job, 64) for job in (ORDERS, JobKey("local", "ünï"), JobKey("a", "b"))] == [41, 9, 29]
    assert len({shard_of(job, SHARDS) for job in JOBS}) == SHARDS


def test_a_process_is_named_like_no_other() -> None:
    """The same process id may come again, on this host or another one."""
    first, second = (holder_of_this_process(64) for _ in range(2))
    assert first != second
    assert first.endswith("/64")


def test_before_the_first_renewal_no_job_is_ours(store: MemoryStateStore) -> None:
    """Nobody acts on what nobody gave it."""
    assert jobs_of(process(store, "anna")) == set()


def test_a_process_alone_has_every_job(store: MemoryStateStore) -> None:
    """From its first renewal on."""
    anna = process(store, "anna")
    anna.renew(at(0))
    assert jobs_of(anna) == set(JOBS)


@pytest.mark.parametrize(("count", "expected"), [(2, [5, 5]), (3, [4, 4, 2]), (4, [3, 3, 3, 1])])
def test_processes_share_fairly(store: MemoryStateStore, count: int, expected: list[int]) -> None:
    """Each gets its part though the first had all; every job is one process's."""
    processes = [process(store, f"p{number}") for number in range(count)]
    processes[0].renew(at(0))
    live(processes, at(0))
    assert sorted(map(shards_of, processes), reverse=True) == expected
    assert set[JobKey]().union(*map(jobs_of, processes)) == set(JOBS)
    assert sum(len(jobs_of(each)) for each in processes) == len(JOBS)


def test_more_processes_than_shards_are_no_harm(store: MemoryStateStore) -> None:
    """One that has no shard is alive all the same, and gets one when another goes."""
    processes = [process(store, f"p{number}") for number in range(SHARDS + 1)]
    live(processes, at(0))
    idle = [each for each in processes if not jobs_of(each)]
    assert len(idle) == 1
    next(each for each in processes if each not in idle).give_up()
    idle[0].renew(at(0))
    assert shards_of(idle[0]) == 1


def test_renewing_takes_nothing_away(store: MemoryStateStore) -> None:
    """A cycle that is under way keeps its jobs until it ends, whoever has come meanwhile."""
    anna, bert = process(store, "anna"), process(store, "bert")
    anna.renew(at(0))
    bert.renew(at(0))
    anna.renew(at(0))
    assert jobs_of(anna) == set(JOBS)
    anna.share_out(at(0))
    assert shards_of(anna) == SHARDS / 2


def test_the_jobs_of_a_process_that_died_are_taken_over_when_its_leases_expire(store: MemoryStateStore) -> None:
    """Not before: it might only be slow."""
    anna, bert = process(store, "anna"), process(store, "bert")
    live([anna, bert], at(0))
    almost = at(0) + DURATION - timedelta(seconds=1)
    bert.renew(almost)
    assert shards_of(bert) == SHARDS / 2
    bert.renew(at(0) + DURATION)
    assert jobs_of(bert) == set(JOBS)


def test_a_process_that_stops_leaves_its_jobs_at_once(store: MemoryStateStore) -> None:
    """Nobody waits for what was given back."""
    anna, bert = process(store, "anna"), process(store, "bert")
    live([anna, bert], at(0))
    anna.give_up()
    bert.renew(at(0))
    assert (jobs_of(anna), jobs_of(bert)) == (set(), set(JOBS))


def test_a_process_that_was_frozen_knows_at_its_next_renewal(store: MemoryStateStore) -> None:
    """Its jobs are another's, and it takes none from it beyond its share."""
    anna, bert = process(store, "anna"), process(store, "bert")
    anna.renew(at(0))
    before = anna.lease_of(ORDERS)
    bert.renew(at(0) + DURATION)
    assert before
    assert not store.holds(before, now=at(0) + DURATION)
    anna.renew(at(0) + DURATION)
    assert jobs_of(anna) == set()
    live([anna, bert], at(0) + DURATION)
    assert jobs_of(anna).isdisjoint(jobs_of(bert))


def test_a_lease_that_expired_unnoticed_comes_back_with_a_new_token(store: MemoryStateStore) -> None:
    """What was decided under the old one is not done under the new one."""
    anna = process(store, "anna")
    anna.renew(at(0))
    old = anna.lease_of(ORDERS)
    anna.renew(at(0) + DURATION)
    new = anna.lease_of(ORDERS)
    assert old
    assert new
    assert new.token > old.token


def test_another_number_of_shards_is_refused(store: MemoryStateStore) -> None:
    """One job would be in two processes' shards: the newcomer takes none, and the first one goes on."""
    anna, bert = process(store, "anna"), process(store, "bert", shards=SHARDS + 1)
    anna.renew(at(0))
    with pytest.raises(ConfigError, match=r"lease\.shards: 11 here, 10 in host/anna/10.* Hint: "):
        bert.renew(at(0))
    anna.renew(at(0))
    assert (jobs_of(anna), jobs_of(bert)) == (set(JOBS), set())


async def test_before_its_first_cycle_a_process_takes_its_share(store: MemoryStateStore) -> None:
    """Whichever comes first, the tick of the leases or that of the decisions: no cycle is lost."""
    anna = process(store, "anna")
    await anna.before_cycle(at(0))
    assert jobs_of(anna) == set(JOBS)


async def test_ticks_and_cycles_divide_the_jobs(store: MemoryStateStore) -> None:
    """As the control loop calls them."""
    anna, bert = process(store, "anna"), process(store, "bert")
    await anna.on_tick(at(0))
    await bert.on_tick(at(0))
    await anna.before_cycle(at(0))
    await bert.on_tick(at(0))
    assert shards_of(anna) == shards_of(bert) == SHARDS / 2
