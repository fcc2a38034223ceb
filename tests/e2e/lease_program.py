"""
The program of the test of leases: one process of several that look after one job, until the job runs at `GOAL`.

The engine is a file: its last line's number is the parallelism, each line an effect. Every decision is one step up.
Started with a point and a signal, it sends itself the signal when it comes there for the first time. Where the
environment names a kubeconfig and a namespace, the leases are there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.control.leases import Leases
from headgate.control.outbox import Outbox
from headgate.errors import ConflictError
from headgate.events.log import LogEventHandler
from headgate.kube.login import Login
from headgate.model.identity import JobKey, VertexId
from headgate.model.state import Intent, VersionedState
from headgate.ports import StateStore
from headgate.stores.fence import Fence
from headgate.stores.kubernetes_leases import KubernetesLeases
from headgate.stores.lease_objects import LeaseObjects
from headgate.stores.opening import open_store
from headgate.stores.split import SplitStateStore

JOB = JobKey("local", "orders")
VERTEX = VertexId("v")
LEASE = timedelta(seconds=1)
GOAL = 4
KUBECONFIG, NAMESPACE = "LEASES_KUBECONFIG", "LEASES_NAMESPACE"


@dataclass(kw_only=True)
class Process:
    """One Headgate, as far as leases are concerned."""

    name: str
    engine: Path
    leases: Leases
    outbox: Outbox
    point: str
    signal: signal.Signals

    def run(self) -> None:
        """Go round until the goal is reached; a process without the job looks on."""
        while self.running() < GOAL:
            self.leases.renew()
            if self.leases.lease_of(JOB):
                asyncio.run(self.attempt())
            time.sleep(LEASE.total_seconds() / 10)
        self.leases.give_up()

    def running(self) -> int:
        """Give the job's parallelism."""
        return len(self.effects()) + 1

    def effects(self) -> Sequence[str]:
        """Read what was done to the job."""
        return self.engine.read_text().splitlines() if self.engine.exists() else []

    async def attempt(self) -> None:
        """Make one decision, or finish an open one; a conflict ends it and nothing else."""
        try:
            await self.cycle()
        except ConflictError as error:
            say(f"refused: {error}")

    async def cycle(self) -> None:
        """Intent, effect, outcome, each with a point before it."""
        held = await self.outbox.open(JOB)
        self.pass_by("intent")
        if held.state.intent is None:
            held = await self.outbox.save(JOB, held, replace(held.state, intent=self.decision()))
        self.pass_by("effect")
        if not await self.outbox.may_act(JOB):
            say("may not act")
        elif _before(held) == self.running():
            with self.engine.open("a") as engine:
                engine.write(f"{self.name} {self.running() + 1}\n")
        self.pass_by("outcome")
        await self.outbox.save(JOB, held, replace(held.state, intent=None))

    def decision(self) -> Intent:
        """Want one more than there is."""
        now, running = datetime.now(UTC), self.running()
        return Intent(
            decision_id=f"{self.name}-{running}",
            decided_at=now,
            job_id="j",
            fingerprint="f",
            before={VERTEX: running},
            after={VERTEX: running + 1},
            deadline=now,
        )

    def pass_by(self, point: str) -> None:
        """Send the signal here, once."""
        if point == self.point:
            self.point = ""
            os.kill(os.getpid(), self.signal)


def say(text: str) -> None:
    """Tell the test."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _before(held: VersionedState) -> int:
    intent = held.state.intent
    return intent.before[VERTEX] if intent else 0


def open_states(url: str) -> StateStore:
    """Give the store, with its leases in Kubernetes if they are to be."""
    store = open_store(url)
    if KUBECONFIG not in os.environ:
        return store
    assert isinstance(store, Fence)
    login = Login(kubeconfig=os.environ[KUBECONFIG])
    objects = LeaseObjects(login, namespace=os.environ[NAMESPACE], prefix="headgate")
    return SplitStateStore(store, KubernetesLeases(objects, store))


def main(name: str, url: str, engine: str, point: str = "", number: str = "0") -> None:
    """Run one process."""
    store = open_states(url)
    leases = Leases(store, shards=1, duration=LEASE)
    outbox = Outbox(store=store, events=LogEventHandler(), leases=leases)
    sent = signal.Signals(int(number)) if point else signal.SIGCONT
    Process(name=name, engine=Path(engine), leases=leases, outbox=outbox, point=point, signal=sent).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
