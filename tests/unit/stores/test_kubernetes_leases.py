"""Leases as objects, when answers are lost, refused or late."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.control.leases import Leases
from headgate.errors import ConflictError, HeadgateError, UnreachableError
from headgate.model.state import JobState
from headgate.ports import Lease
from headgate.stores.kubernetes_leases import KubernetesLeases
from headgate.stores.lease_objects import LeaseObject
from headgate.stores.split import SplitStateStore
from headgate.stores.sql import SqlStateStore
from headgate.stores.steady import SteadyClock
from headgate.testing.builders import ORDERS

ANNA, BERT = "host/anna", "host/bert"
MINUTE = timedelta(minutes=1)
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


class Objects:
    """
    Stands for the API server's objects.

    Attributes:
        calls: what was asked, `list` or a shard that was written.
        lost: shards of which the next write is done and not answered.
    """

    def __init__(self) -> None:
        """Hold none."""
        self.calls: list[str | int] = []
        self.lost: set[int] = set()
        self._held: dict[int, LeaseObject] = {}
        self._versions = 0

    def read_all(self) -> tuple[LeaseObject, ...]:
        """Give all."""
        self.calls.append("list")
        return tuple(self._held.values())

    def write_all(self, wanted: Collection[LeaseObject], /) -> Mapping[int, LeaseObject | HeadgateError]:
        """Write each that is still at its version."""
        return {one.shard: self._write(one) for one in wanted}

    def touch(self, shard: int) -> None:
        """Change something that means nothing, as a person might."""
        self._versions += 1
        self._held[shard] = replace(self._held[shard], version=str(self._versions))

    def close(self) -> None:
        """Do nothing."""

    def _write(self, wanted: LeaseObject) -> LeaseObject | HeadgateError:
        self.calls.append(wanted.shard)
        held = self._held.get(wanted.shard)
        if (held.version if held else "") != wanted.version:
            return ConflictError("it has been modified")
        self._versions += 1
        self._held[wanted.shard] = replace(wanted, version=str(self._versions))
        if wanted.shard in self.lost:
            self.lost.discard(wanted.shard)
            return UnreachableError("no answer")
        return self._held[wanted.shard]


@pytest.fixture
def objects() -> Objects:
    """Give none."""
    return Objects()


@pytest.fixture
def states(tmp_path: Path) -> Iterator[SqlStateStore]:
    """Give an empty store of states."""
    with closing(SqlStateStore(f"sqlite:///{tmp_path}/headgate.db")) as store:
        yield store


@pytest.fixture
def leases(objects: Objects, states: SqlStateStore) -> KubernetesLeases:
    """Give those of one process."""
    return KubernetesLeases(objects, states)


def taken(leases: KubernetesLeases, shard: int = 1, holder: str = ANNA, *, at: datetime = NOON) -> Lease:
    """Take a lease that is there to be taken."""
    lease = leases.acquire(shard, holder, MINUTE, now=at)
    assert lease is not None
    return lease


def test_a_renewal_whose_answer_is_lost_is_none(leases: KubernetesLeases, objects: Objects) -> None:
    """What was got before still counts, no longer than it did; the next renewal finds the object its own."""
    lease = taken(leases)
    objects.lost.add(1)
    with pytest.raises(UnreachableError):
        leases.renew(ANNA, MINUTE, now=NOON + MINUTE / 2)
    assert leases.holds(lease, now=NOON + MINUTE * 0.9)
    assert not leases.holds(lease, now=NOON + MINUTE)
    later = NOON + MINUTE * 0.9
    assert leases.renew(ANNA, MINUTE, now=later) == (replace(lease, expires_at=later + MINUTE),)


def test_of_many_renewals_those_count_that_were_answered(leases: KubernetesLeases, objects: Objects) -> None:
    """One that fails takes none of the others with it."""
    first, second = taken(leases, 1), taken(leases, 2)
    objects.lost.add(1)
    with pytest.raises(UnreachableError):
        leases.renew(ANNA, MINUTE, now=NOON + MINUTE / 2)
    assert not leases.holds(first, now=NOON + MINUTE)
    assert leases.holds(second, now=NOON + MINUTE)


def test_a_lease_whose_answer_is_lost_is_not_held(leases: KubernetesLeases, objects: Objects) -> None:
    """It bears the process's name, and still the fence is not up: it is taken anew, under a larger token."""
    objects.lost.add(1)
    with pytest.raises(UnreachableError):
        leases.acquire(1, ANNA, MINUTE, now=NOON)
    (named,) = leases.leases(now=NOON)
    assert not leases.holds(named, now=NOON)
    again = taken(leases)
    assert again.token > named.token
    assert leases.holds(again, now=NOON)


def test_a_change_by_somebody_else_costs_one_renewal(leases: KubernetesLeases, objects: Objects) -> None:
    """A person who puts a label on it takes no lease away."""
    lease = taken(leases)
    objects.touch(1)
    assert taken(leases, at=NOON + MINUTE / 2) == lease
    assert leases.renew(ANNA, MINUTE, now=NOON + MINUTE / 2)[0].expires_at == NOON + MINUTE * 1.5


def test_states_that_were_put_back_take_the_leases_with_them(leases: KubernetesLeases, states: SqlStateStore) -> None:
    """Nothing could be saved under them, so they are given up, and taken anew beyond what the states know."""
    old = taken(leases)
    assert states.raise_fence(replace(old, holder=BERT, token=10))
    assert not leases.holds(old, now=NOON)
    assert leases.renew(ANNA, MINUTE, now=NOON) == ()
    assert taken(leases).token == 11


def test_a_fence_is_not_lowered(states: SqlStateStore) -> None:
    """Whoever comes late with an older token, or the same, changes nothing."""
    new = Lease(shard=1, holder=BERT, token=2, expires_at=NOON)
    assert states.raise_fence(new)
    for token in (1, 2):
        assert not states.raise_fence(replace(new, holder=ANNA, token=token))
    assert (states.token_of(1), states.token_of(2)) == (2, 0)
    assert states.let_through([new]) == {1}


class OvertakenStates(SqlStateStore):
    """States whose fence somebody else raises further in the same moment."""

    def raise_fence(self, lease: Lease, /) -> bool:
        """Be late."""
        super().raise_fence(replace(lease, holder=BERT, token=lease.token + 1))
        return super().raise_fence(lease)


def test_a_lease_behind_whose_fence_another_one_stands_is_not_held(objects: Objects, tmp_path: Path) -> None:
    """Nothing could be saved under it: it is given back at once, for whoever comes next."""
    with closing(OvertakenStates(f"sqlite:///{tmp_path}/headgate.db")) as states:
        leases = KubernetesLeases(objects, states)
        assert leases.acquire(1, ANNA, MINUTE, now=NOON) is None
        assert leases.leases(now=NOON) == ()


def test_a_save_under_a_lease_that_was_followed_is_refused(leases: KubernetesLeases, states: SqlStateStore) -> None:
    """By the store of states itself, whatever the objects say: whoever was frozen wakes up too late."""
    store, lease = SplitStateStore(states, leases), taken(leases)
    assert store.save(ORDERS, JobState(), 0, lease=lease) == 1
    assert states.raise_fence(replace(lease, holder=BERT, token=lease.token + 1))
    with pytest.raises(ConflictError, match="no longer host/anna's"):
        store.save(ORDERS, JobState(), 1, lease=lease)
    assert store.load(ORDERS).version == 1


def test_a_round_lists_once_and_writes_what_it_holds(states: SqlStateStore, objects: Objects) -> None:
    """With 64 shards and one process that is its 65 leases, the seat among them, and one list."""
    leases = Leases(SplitStateStore(states, KubernetesLeases(objects, states)), duration=MINUTE)
    leases.renew()
    objects.calls.clear()
    leases.renew()
    assert objects.calls.count("list") == 1
    assert len(objects.calls) == 1 + 65


def test_the_clock_goes_on() -> None:
    """By itself, and from the time that it is."""
    clock = SteadyClock()
    first, second = clock(), clock()
    assert first <= second
    assert abs(second - datetime.now(UTC)) < MINUTE
