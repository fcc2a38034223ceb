"""A state store whose leases are objects of a real Kubernetes keeps the contract, also among several processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Protocol

import pytest
from tests.services.kubernetes import Kubernetes

from headgate.control.leases import Leases, shard_of
from headgate.errors import ConflictError, PermanentError
from headgate.kube.login import Login
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.ports import Lease
from headgate.stores.kubernetes_leases import KubernetesLeases
from headgate.stores.lease_objects import LeaseObjects
from headgate.stores.split import SplitStateStore
from headgate.stores.sql import SqlStateStore
from headgate.testing.conformance.state_store import ANNA, BERT, JOB, MINUTE, NOON, SHARD, StateStoreSuite

SECOND = timedelta(seconds=1)
PATIENCE_S, TURNS = 120.0, 3

client: Any = import_module("kubernetes.client")


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """One of a real Kubernetes."""

    kubernetes: Kubernetes
    name: str

    def delete_lease(self, name: str) -> None:
        """Remove a Lease, as somebody who tidies up might."""
        with self.kubernetes.api() as api:
            client.CoordinationV1Api(api).delete_namespaced_lease(name, self.name)


class Process(Protocol):
    """Starts one more process: it has seen nothing yet, and shares states and leases with the others."""

    def __call__(self, clock: Clock | None = None, /) -> SplitStateStore:
        """Give its store."""


@pytest.fixture
def namespace(kubernetes: Kubernetes) -> Namespace:
    """Give an empty one."""
    return Namespace(kubernetes=kubernetes, name=kubernetes.create_namespace())


@pytest.fixture
def process(namespace: Namespace, tmp_path: Path) -> Iterator[Process]:
    """Give what starts processes."""
    login = Login(kubeconfig=str(namespace.kubernetes.kubeconfig))
    with ExitStack() as stack:

        def start(clock: Clock | None = None) -> SplitStateStore:
            states = stack.enter_context(closing(SqlStateStore(f"sqlite:///{tmp_path}/headgate.db")))
            objects = LeaseObjects(login, namespace=namespace.name, prefix="headgate")
            leases = stack.enter_context(closing(KubernetesLeases(objects, states, clock=clock)))
            return SplitStateStore(states, leases)

        yield start


class TestSplitStateStore(StateStoreSuite):
    """States in an SQLite file, leases in Kubernetes."""

    @pytest.fixture
    def store(self, process: Process) -> SplitStateStore:
        """Give an empty store."""
        return process()


class Clock:
    """A clock that a test sets."""

    def __init__(self, at: datetime) -> None:
        """Stand still."""
        self.at = at

    def __call__(self) -> datetime:
        """Give the instant."""
        return self.at

    def advance(self, by: timedelta) -> None:
        """Go on."""
        self.at += by


def test_only_what_does_not_change_expires(process: Process) -> None:
    """One clock is an hour ahead: its owner waits all the same, and anew from each renewal that it sees."""
    early, late = Clock(NOON), Clock(NOON + MINUTE * 60)
    anna, bert = process(early), process(late)
    taken_by_anna = taken_now(anna, ANNA)
    assert bert.acquire(SHARD, BERT, MINUTE) is None
    late.advance(MINUTE - SECOND)
    early.advance(MINUTE / 2)
    anna.renew(ANNA, MINUTE)
    assert [lease.holder for lease in bert.leases()] == [ANNA]
    late.advance(MINUTE - SECOND)
    assert bert.acquire(SHARD, BERT, MINUTE) is None
    late.advance(SECOND)
    assert bert.leases() == ()
    assert taken_now(bert, BERT).token > taken_by_anna.token


def test_who_wakes_up_too_late_cannot_act(process: Process) -> None:
    """It was frozen, so by its own clock it has the lease; the state store knows better."""
    late = Clock(NOON)
    anna, bert = process(Clock(NOON)), process(late)
    old = taken_now(anna, ANNA)
    assert anna.holds(old)
    bert.leases()
    late.advance(MINUTE)
    new = taken_now(bert, BERT)
    assert bert.holds(new)
    assert not anna.holds(old)
    with pytest.raises(ConflictError, match="lease of shard 7"):
        anna.save(JOB, JobState(), 0, lease=old)
    anna.release(old)
    assert anna.renew(ANNA, MINUTE) == ()
    assert bert.renew(BERT, MINUTE) == (new,)
    assert bert.save(JOB, JobState(), 0, lease=new) == 1


def test_a_deleted_lease_is_everybodys(process: Process, namespace: Namespace) -> None:
    """Its holder does not make it anew; who is quicker has it, under a larger token than ever, and the other is out."""
    anna, bert = process(), process()
    old = taken_now(anna, ANNA)
    namespace.delete_lease(f"headgate-{SHARD}")
    new = taken_now(bert, BERT)
    assert new.token > old.token
    assert not anna.holds(old)
    assert anna.renew(ANNA, MINUTE) == ()
    assert [lease.holder for lease in anna.leases()] == [BERT]


def test_of_many_processes_one_has_it_at_a_time(process: Process) -> None:
    """Four want the same lease again and again, each gives it back: never two of them have it."""
    inside, turns, errors = Lock(), Counter[str](), list[str]()

    def compete(name: str) -> None:
        store, patience = process(), monotonic() + PATIENCE_S
        while turns[name] < TURNS and monotonic() < patience:
            store.leases()
            lease = store.acquire(SHARD, name, MINUTE)
            if lease is None:
                continue
            if not inside.acquire(blocking=False):
                errors.append(f"{name} is not alone")
                return
            turns[name] += store.holds(lease)
            inside.release()
            store.release(lease)

    names = [f"host/{number}" for number in range(4)]
    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(compete, names))
    assert errors == []
    assert turns == dict.fromkeys(names, TURNS)


def test_two_that_share_the_jobs_hold_all_shards_once(process: Process) -> None:
    """By the same rules as in a database; when one goes, the other has all of them."""
    first, second = (Leases(process(), shards=6, duration=MINUTE) for _ in range(2))
    first.renew()
    second.renew()
    first.renew()
    first.share_out()
    second.renew()
    held = [jobs_of(first), jobs_of(second)]
    assert not held[0] & held[1]
    assert held[0] | held[1] == set(range(6))
    first.give_up()
    second.renew()
    assert jobs_of(second) == set(range(6))


def test_leases_in_the_database_itself_are_refused(process: Process, tmp_path: Path) -> None:
    """Somebody divides the same jobs without Kubernetes: neither may work beside the other."""
    with closing(SqlStateStore(f"sqlite:///{tmp_path}/headgate.db")) as other:
        assert other.acquire(SHARD, ANNA, MINUTE)
        with pytest.raises(PermanentError, match=r"host/anna has its leases .* lease\.kubernetes"):
            process().acquire(SHARD, BERT, MINUTE)


def taken_now(store: SplitStateStore, holder: str) -> Lease:
    """Take the shard's lease for a minute; it must be there to be taken."""
    lease = store.acquire(SHARD, holder, MINUTE)
    assert lease is not None
    return lease


def jobs_of(leases: Leases) -> set[int]:
    """Give the shards whose jobs are a process's."""
    keys = (JobKey("local", str(number)) for number in range(200))
    return {shard_of(key, 6) for key in keys if leases.lease_of(key)}
