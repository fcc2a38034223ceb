"""The control side with the savepoint-and-redeploy realizer, composed in this process beside a Flink of any kind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from headgate.config import JobSettings
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import Decider, PlainDecider
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.redeployment import Redeployment
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.redeploy.realizer import SavepointRedeployRealizer
from headgate.model.decision import ConfigChanges, Decision, Outcome, Proposal
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, Mode
from headgate.ports import StateStore
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import evaluated
from headgate.testing.fakes import FakeEvaluator, RecordingEvents, RecordingLog

T = TypeVar("T")
CLUSTER = "lab"
INTERVAL = timedelta(milliseconds=300)
"""Between two cycles."""


def job_key(name: str) -> JobKey:
    """Give the key of a job of the cluster."""
    return JobKey(CLUSTER, name)


@dataclass
class RedeployingService:
    """
    Headgate's control side, ticked by hand; use it as an async context manager, and again for another process.

    Attributes:
        url: of the cluster.
        launch: the operator's launch spec for every job.
        store: what a later process finds.
        dies_before: end of the paths to which it never sends anything, as if it had died there: `/stop` or `/run`.
        clock: what time it is; a test may move it.
        ours: whether the jobs are this process's.
        decider: who examines jobs and decides; here nothing is decided by itself.
    """

    url: str
    launch: Launch | None
    store: StateStore = field(default_factory=MemoryStateStore)
    dies_before: str | None = None
    mode: Mode = Mode.ACT
    options: AutoscalerOptions = field(default_factory=AutoscalerOptions)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    events: RecordingEvents = field(default_factory=RecordingEvents)
    interval: timedelta = INTERVAL
    ours: bool = True
    decider: Decider = field(default_factory=PlainDecider)

    async def __aenter__(self) -> Self:
        """Compose the parts."""
        self._client = _DyingClient(ClusterOptions(name=CLUSTER, url=self.url), self.dies_before)
        clients = {CLUSTER: self._client}
        self._realizer = SavepointRedeployRealizer(
            clients, poll=self.interval / 6, clock=self.clock, still_ours=self._still_ours
        )
        collector = FlinkMetricCollector(clients)
        outbox = Outbox(store=self.store, events=self.events)
        redeployment = Redeployment(applies=lambda _: True, launch_of=lambda _: self.launch)
        self._actuator = Actuator(
            collector=collector, realizer=self._realizer, outbox=outbox, events=self.events, redeployment=redeployment
        )
        self._observer = Observer(
            fetcher=FlinkJobListFetcher(clients, lambda _, __: JobSettings(options=self.options)),
            collector=collector,
            sink=RecordingLog(),
            events=self.events,
            time_limit=timedelta(seconds=10),
        )
        self._cycle = Cycle(
            mode=self.mode,
            evaluator=FakeEvaluator(lambda one: evaluated(one.sample.topology, {})),
            actuator=self._actuator,
            outbox=outbox,
            events=self.events,
            decisions=RecordingLog(),
            decider=self.decider,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Die: what is under way is left as it is."""
        await self._realizer.close()
        await self._client.close()

    async def tick(self) -> Mapping[str, Decision]:
        """Observe, decide, and go on with what is under way."""
        now = self.clock()
        await self._observer.observe(now)
        decisions = await self._cycle.run(self._observer.latest, now, failed=self._observer.failed)
        return {decision.job.name: decision for decision in decisions}

    async def order(self, job: str, wanted: Mapping[str, int], config: Mapping[str, str] | None = None) -> Decision:
        """Decide that vertices are to have another parallelism, and the job another configuration, and carry it out."""
        await self.until(lambda: self._sample(job) is not None, timedelta(seconds=30))
        seen = self._observer.latest[job_key(job)]
        sample = self._sample(job) or seen.sample
        if sample is None:
            message = f"{job} is not seen running"
            raise AssertionError(message)
        held = self.store.load(job_key(job))
        decision = decision_for(sample, wanted, config or {}, self.clock())
        decision = self._actuator.redeployment.planned(seen.ctx, sample, held.state, decision)
        return await self._actuator.rescale(seen.ctx, sample, held, decision, late=timedelta())

    async def until(self, reached: Callable[[], bool], limit: timedelta) -> None:
        """
        Tick until a condition holds.

        Raises:
            AssertionError: it did not within the limit.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while not reached():
            if time.monotonic() >= deadline:
                told = "\n".join(f"{event.reason}: {event.message}" for event in self.events.told)
                message = f"not within {limit}; told was:\n{told}"
                raise AssertionError(message)
            await self.tick()
            await asyncio.sleep(self.interval.total_seconds())

    async def going_on(self, duration: timedelta) -> None:
        """Tick for a while."""
        end = time.monotonic() + duration.total_seconds()
        await self.until(lambda: time.monotonic() >= end, duration + timedelta(seconds=5))

    def state(self, job: str) -> JobState:
        """Give what is remembered of a job."""
        return self.store.load(job_key(job)).state

    async def _still_ours(self, _: JobKey) -> bool:
        return self.ours

    def _sample(self, job: str) -> JobSample | None:
        seen = self._observer.latest.get(job_key(job))
        return seen.sample if seen and seen.problem is None else None


class _DyingClient(FlinkClient):
    """A client of a process that dies before it has sent a certain request."""

    def __init__(self, options: ClusterOptions, dies_before: str | None) -> None:
        """Send everything if `dies_before` is None."""
        super().__init__(options)
        self._dies_before = dies_before

    async def post(self, path: str, body: object, read: Callable[[Any], T], *, limit: timedelta | None = None) -> T:
        """Send all but that."""
        if self._dies_before and path.endswith(self._dies_before):
            await asyncio.Event().wait()
        return await super().post(path, body, read, limit=limit)


def decision_for(sample: JobSample, wanted: Mapping[str, int], config: Mapping[str, str], now: datetime) -> Decision:
    """Decide what a test wants, by the names of vertices."""
    proposals = tuple(
        Proposal(
            vertex=v.id, name=v.name, current=v.parallelism, wanted=wanted.get(v.name, v.parallelism), outside=True
        )
        for v in sample.topology.vertices
    )
    return Decision(
        id=f"{now.timestamp():.6f}",
        job=sample.job,
        at=now,
        outcome=Outcome.RESCALE,
        reason=Reason.RESCALED,
        message="as ordered",
        fingerprint=sample.topology.fingerprint,
        proposals=proposals,
        config=ConfigChanges(overrides=config),
        acts=True,
    )
