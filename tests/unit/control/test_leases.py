"""Processes that share a store divide the jobs fairly, notice who comes and goes, and never overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from headgate.control.leases import Leases, holder_of_this_process, shard_of
from headgate.control.territory import Territory
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.ports import Lease
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at

SHARDS = 10
DURATION = timedelta(minutes=1)
JOBS = [JobKey("prod", f"job {number}") for number in range(300)]


def process(store: MemoryStateStore, name: str, *, shards: int = SHARDS, clusters: Sequence[str] = ()) -> Leases:
    """Start a process."""
    return Leases(store, shards=shards, duration=DURATION, clusters=clusters, holder=f"host/{name}/{shards}")


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


class Watched(MemoryStateStore):
    """The same store, at which somebody else looks after each lease that changes hands."""

    def __init__(self, store: MemoryStateStore, look: Callable[[], None]) -> None:
        """Share all that the store holds."""
        super().__init__()
        self._leases = store._leases
        self.looks = 0
        self._look = look

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        """Let somebody look after it."""
        lease = super().acquire(shard, holder, duration, now=now)
        self._looked()
        return lease

    def release(self, lease: Lease, /) -> None:
        """Let somebody look after it."""
        super().release(lease)
        self._looked()

    def _looked(self) -> None:
        self.looks += 1
        self._look()


@pytest.fixture
def store() -> MemoryStateStore:
    """Give a store that nobody uses yet."""
    return MemoryStateStore()


def test_a_jobs_shard_never_changes() -> None:
    """Neither with the process nor with the release: these values are written down for good."""
    assert [shard_of(job, 64) for job in (ORDERS, JobKey("local", "ünï"), JobKey("a", "b"))] == [41, 9, 29]
    assert len({shard_of(job, SHARDS) for job in JOBS}) == SHARDS


def test_a_cluster_that_is_one_whole_has_one_shard() -> None:
    """All its jobs, and its workers, are one process's; other clusters are divided as ever."""
    assert len({shard_of(job, 64, whole={job.cluster}) for job in JOBS}) == len({job.cluster for job in JOBS})
    assert shard_of(ORDERS, 64, whole={ORDERS.cluster}) == shard_of(JobKey(ORDERS.cluster, ""), 64)
    assert shard_of(ORDERS, 64, whole={"other"}) == shard_of(ORDERS, 64)


def test_one_process_has_all_jobs_of_such_a_cluster(store: MemoryStateStore) -> None:
    """However many share the store."""
    clusters = {job.cluster for job in JOBS}
    holders = [f"host/{name}/{SHARDS}" for name in ("anna", "bert", "carl")]
    all_of_them = [
        Leases(store, shards=SHARDS, duration=DURATION, clusters=clusters, whole=clusters, holder=holder)
        for holder in holders
    ]
    for second in range(3):
        for leases in all_of_them:
            leases.renew(at(second))
            leases.share_out(at(second))
    everything = {*JOBS, *(JobKey(cluster, "") for cluster in clusters)}
    for cluster in clusters:
        theirs = {job for job in everything if job.cluster == cluster}
        assert [theirs & {job for job in everything if leases.lease_of(job)} for leases in all_of_them].count(
            theirs
        ) == 1


def test_who_divides_a_cluster_works_beside_nobody_who_does_not(store: MemoryStateStore) -> None:
    """Some jobs would be looked after by both."""
    anna = Leases(
        store, shards=SHARDS, duration=DURATION, clusters=["prod"], whole=["prod"], holder=f"host/anna/{SHARDS}"
    )
    bert = process(store, "bert", clusters=["prod"])
    anna.renew(at(0))
    with pytest.raises(ConfigError, match=r"workers\.provider"):
        bert.renew(at(1))


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


def test_a_lease_outlives_a_renewal_that_fails(store: MemoryStateStore) -> None:
    """A process that renews as often as it should keeps all its leases though the store misses one renewal."""
    anna = process(store, "anna")
    anna.renew(at(0))
    before = anna.lease_of(ORDERS)
    assert before

    # The renewal one interval later got no answer.
    anna.renew(at(0) + 2 * anna.interval)

    after = anna.lease_of(ORDERS)
    assert after
    assert after.token == before.token


def test_another_number_of_shards_is_refused(store: MemoryStateStore) -> None:
    """One job would be in two processes' shards: the newcomer takes none, and the first one goes on."""
    anna, bert = process(store, "anna"), process(store, "bert", shards=SHARDS + 1)
    anna.renew(at(0))
    with pytest.raises(ConfigError, match=r"lease\.shards: 11 here, 10 in host/anna/10.* Hint: "):
        bert.renew(at(0))
    anna.renew(at(0))
    assert (jobs_of(anna), jobs_of(bert)) == (set(JOBS), set())


def test_processes_of_other_clusters_take_no_share(store: MemoryStateStore) -> None:
    """A Headgate of `staging` cannot look after jobs of `prod`: they would be nobody's."""
    anna, bert = process(store, "anna", clusters=["prod"]), process(store, "bert", clusters=["staging"], shards=3)
    live([anna, bert], at(0))
    assert jobs_of(anna) == set(JOBS)
    assert anna.company() == bert.company() == ()


def test_processes_of_the_same_clusters_share_in_whatever_order_they_name_them(store: MemoryStateStore) -> None:
    """Others beside them on the store do not count."""
    anna, bert = (process(store, name, clusters=order) for name, order in [("anna", "xy"), ("bert", "yx")])
    live([anna, bert, process(store, "carl", clusters=["z"])], at(0))
    assert shards_of(anna) == shards_of(bert) == SHARDS / 2
    assert jobs_of(anna).isdisjoint(jobs_of(bert))


@pytest.mark.parametrize("clusters", [["prod", "staging"], []])
def test_a_process_of_some_of_the_same_clusters_is_refused(store: MemoryStateStore, clusters: list[str]) -> None:
    """Both would act for the jobs they have in common; the first one goes on. One that names none has them all."""
    anna, bert = process(store, "anna", clusters=["prod"]), process(store, "bert", clusters=clusters)
    anna.renew(at(0))
    with pytest.raises(ConfigError, match=r"clusters: host/anna/10, .* some of these clusters and not the same ones"):
        bert.renew(at(0))
    anna.renew(at(0))
    assert (jobs_of(anna), jobs_of(bert)) == (set(JOBS), set())
    anna.give_up()
    bert.renew(at(0))
    with pytest.raises(ConfigError, match="clusters: host/bert/10"):
        anna.renew(at(0))


def test_a_process_that_leaves_is_never_taken_for_a_stranger(store: MemoryStateStore) -> None:
    """Whoever looks between any two of the leases that it gives back goes on, as does whoever looks as it comes."""
    anna = process(store, "anna", shards=1, clusters=["prod"])
    anna.renew(at(0))
    watched = Watched(store, lambda: anna.renew(at(0)))
    bert = Leases(watched, shards=1, duration=DURATION, clusters=["prod"], holder="host/bert/1")
    bert.renew(at(0))
    bert.give_up()
    assert watched.looks == 4
    assert jobs_of(anna) == set(JOBS)


def test_who_divides_the_jobs_is_told_once(store: MemoryStateStore) -> None:
    """As soon as there is anybody, by both."""
    anna, bert = process(store, "anna"), process(store, "bert")
    anna.renew(at(0))
    assert anna.company() == ()
    live([bert, anna], at(0))
    assert [each.company() for each in (anna, bert, anna)] == [("host/bert/10",), ("host/anna/10",), ()]


@pytest.mark.parametrize("clusters", [(), ("prod",), ("prod", "staging"), ("a b", "ü")])
def test_every_number_fits_into_the_stores_column(clusters: Sequence[str]) -> None:
    """It is a signed 32-bit integer in PostgreSQL and MySQL."""
    territory = Territory(clusters)
    numbers = [number for each in (territory.shards, territory.table, *territory.claims) for number in each]
    assert -(2**31) <= min(numbers) < 0 <= max(numbers) < 2**31
    assert len(set(numbers)) == len(numbers)


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
