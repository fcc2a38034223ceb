"""
The workers of each cluster that has a provider: more as soon as its jobs need more slots, fewer after a while.

What is wanted is asked for in every cycle, so that a worker that died is replaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.algorithm.reactive.workers import Fleet, fleet_after, workers_for
from headgate.control.observation import Observation
from headgate.control.reactive import reports
from headgate.control.reactive.draining import Drain, drain_of
from headgate.control.reactive.keeping import KeptCluster
from headgate.control.reactive.ledger import Ledger
from headgate.control.reactive.sharing import (
    Seen,
    by_cluster,
    latest_sample,
    least_need,
    share_out,
    used_slots,
    waiting_for_slots,
)
from headgate.control.reports import fleet_error
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.options.live import Live, in_force
from headgate.options.reactive import WorkersOptions
from headgate.options.service import Mode
from headgate.ports import EventHandler, ResourceProvider

_START = timedelta(minutes=1)
"""How long a worker that is there may take until the engine counts its slots and a job runs in them."""
_PATIENCE = timedelta(minutes=5)
"""How long a growth waits for workers: a machine may have to be bought for them, or they may never come."""


@dataclass(slots=True, kw_only=True)
class SteeredCluster:
    """A cluster whose workers may be changed, and what is wanted of it. In memory: a restart only delays shrinking."""

    name: str
    provider: ResourceProvider
    options: Live[WorkersOptions]
    fleet: Fleet | None = None
    """None before anything is known of its workers, or was advised."""
    asked: int | None = None
    """For how many workers the provider was asked last; None where somebody else may have asked since."""
    sample: JobSample | None = None
    """The newest of any job that was ever seen there."""
    drain: Drain | None = None
    """While workers are about to go."""
    missing_since: datetime | None = None
    """Since when there are fewer slots than the workers that were asked for have."""
    waiting: frozenset[JobKey] = frozenset()
    """Jobs that were waiting for slots when they were first seen."""
    in_vain: frozenset[JobKey] = frozenset()
    """Those of them that were in the cycle before too."""
    in_vain_since: datetime | None = None
    """Since when there are any, or a worker was added for them last."""
    is_foreign: bool = False
    """Whether another process had its workers in the last cycle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeing:
    """What a cycle has found out about the jobs of one cluster."""

    sample: JobSample
    """The newest of any of them."""
    slots: int
    """Needed by all of them."""
    used: int
    """By those whose engine has to be told, so that they let go before a worker goes."""
    may_shrink: bool
    why: str
    """The needs of the jobs in words."""
    is_held: bool = False
    """Whether one of the jobs is paused: then no worker goes, not even one that was about to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """Offers slots to reactive jobs before a cycle decides, and steers workers after it."""

    events: EventHandler
    ledger: Ledger = field(default_factory=Ledger)
    clusters: Sequence[SteeredCluster] = ()
    kept: Sequence[KeptCluster] = ()
    """Those whose workers somebody else changes."""
    mode: Live[Mode] = Mode.ACT
    looks_after: Callable[[JobKey], bool] = lambda _: True
    """Whether the workers of a cluster are this process's: of all that share a store one has them."""
    time_limit: timedelta = timedelta(seconds=30)
    """For one call of a provider."""
    _short: set[JobKey] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        """Let it be known for which jobs a need matters."""
        self.ledger.steered.update(cluster.name for cluster in self.clusters)

    def begin(self, observations: Seen, now: datetime, *, are_all_paused: bool = False) -> None:
        """Offer the slots that there are; of all jobs, also of those that another process decides for; never raises."""
        self.ledger.are_all_paused = are_all_paused
        for each in self.clusters:
            if each.is_foreign and self.looks_after(JobKey(each.name, "")):
                each.is_foreign = False
                self.ledger.rooms.pop(each.name, None)
        try:
            self.ledger.paused = frozenset(job for job, seen in observations.items() if seen.ctx.orders.pause)
            share_out(observations, self.ledger, now)
        except Exception as error:  # noqa: BLE001 - jobs are cared for by what was offered before, whatever failed here
            why = str(error) or type(error).__name__
            self.events.handle(fleet_error("slots could not be offered", why, now))
        short = {job for job, standing in self.ledger.standings.items() if standing.is_short}
        for job in sorted(short - self._short):
            standing = self.ledger.standings[job]
            self.events.handle(reports.slots_short(job, standing.offers.latest, standing.wish.least, now))
        self._short.clear()
        self._short.update(short)

    async def steer(
        self, observations: Seen, decisions: Sequence[Decision], on_trial: Collection[JobKey], now: datetime
    ) -> None:
        """
        Ask for the workers that the jobs need by what was decided; never raises.

        Args:
            observations: of all jobs. Those that another process decides for keep what they have: then no worker goes.
            decisions: of this cycle.
            on_trial: jobs whose last rescale has not proved good yet.
            now: when the cycle began.
        """
        decided = {decision.job: decision for decision in decisions}
        self.ledger.keep_promises(decided)
        mine = [each for each in self.clusters if self.looks_after(JobKey(each.name, ""))]
        for each in self.clusters:
            if each not in mine:
                self._forget(each)
        known = by_cluster(observations, {each.name for each in mine})
        sights = [self._see(each, known[each.name], decided, on_trial) for each in mine]
        await asyncio.gather(*(self._steer(each, seeing, now) for each, seeing in zip(mine, sights, strict=True)))
        if in_force(self.mode) is Mode.ACT:
            kept = [each for each in self.kept if self.looks_after(JobKey(each.name, ""))]
            as_asked = self.ledger.are_all_paused
            await asyncio.gather(
                *(each.keep(self.events, now, time_limit=self.time_limit, as_asked=as_asked) for each in kept)
            )

    def _forget(self, cluster: SteeredCluster) -> None:
        """Forget what was wanted: whoever acts now may want something else."""
        cluster.fleet = cluster.asked = cluster.missing_since = None
        cluster.is_foreign = True
        self._let_grow(cluster)
        self.ledger.rooms[cluster.name] = 0

    def _let_grow(self, cluster: SteeredCluster) -> None:
        cluster.drain = None
        self.ledger.caps.pop(cluster.name, None)

    def _see(
        self, cluster: SteeredCluster, jobs: Seen, decided: Mapping[JobKey, Decision], on_trial: Collection[JobKey]
    ) -> Seeing | None:
        """
        Put together what the jobs of a cluster need; None where nobody can tell.

        Once a job was seen, a cluster without any has answered so: one that does not answer keeps its jobs.
        """
        waiting = waiting_for_slots(jobs) - self.ledger.paused
        cluster.waiting, cluster.in_vain = waiting, waiting & cluster.waiting
        sample = latest_sample(jobs)
        if not jobs and cluster.sample is not None:
            return Seeing(sample=cluster.sample, slots=0, used=0, may_shrink=True, why="there are no jobs")
        is_held = any(job in self.ledger.paused for job in jobs)
        if sample is None:
            if jobs.keys() - self.ledger.paused and cluster.fleet and not cluster.fleet.count:
                cluster.fleet = Fleet(count=1)  # a job that waits for its first worker tells nothing of itself
            return None
        cluster.sample = sample
        if not sample.settings.slots_per_task_manager_known:
            self.ledger.rooms[cluster.name] = 0
            return None
        needs = {job: self._need(job, seen) for job, seen in jobs.items()}
        told = [seen for seen in jobs.values() if seen.sample and not seen.sample.settings.reactive]
        return Seeing(
            sample=sample,
            slots=sum(needs.values()),
            used=sum(used_slots(seen) for seen in told),
            may_shrink=not is_held
            and all(self._is_settled(job, decided.get(job)) and job not in on_trial for job in jobs),
            why=", ".join(f"{job.name} needs {slots} slots" for job, slots in sorted(needs.items())),
            is_held=is_held,
        )

    def _need(self, job: JobKey, seen: Observation) -> int:
        """Give the slots that a job needs, or at least can be said to need while its load does not tell."""
        if job in self.ledger.paused:
            return used_slots(seen)
        known, standing = self.ledger.needs.get(job), self.ledger.standings.get(job)
        least = standing.wish.least if standing else least_need(seen)
        return max(used_slots(seen), least) if known is None else known

    def _is_settled(self, job: JobKey, decision: Decision | None) -> bool:
        """Tell whether a job is not changing, and its need is known; one that is not looked after stays as it is."""
        if decision is None or decision.reason is Reason.DISABLED:
            return decision is not None
        return job in self.ledger.needs and decision.outcome is not Outcome.NOT_READY

    async def _steer(self, cluster: SteeredCluster, seeing: Seeing | None, now: datetime) -> None:
        try:
            async with asyncio.timeout(self.time_limit.total_seconds()):
                if in_force(self.mode) is Mode.ACT:
                    await self._act(cluster, seeing, now)
                else:
                    await self._advise(cluster, seeing, now)
        except Exception as error:  # noqa: BLE001 - one provider's failure is its cluster's event, whatever it is
            self._tell_no_room(cluster, now)
            limit = f"no answer within {self.time_limit.total_seconds():g} s" if isinstance(error, TimeoutError) else ""
            why = limit or str(error) or type(error).__name__
            self.events.handle(reports.workers_failed(cluster.name, why, now))

    async def _act(self, cluster: SteeredCluster, seeing: Seeing | None, now: datetime) -> None:
        options = in_force(cluster.options)
        if cluster.fleet is None or cluster.asked is None:
            cluster.asked = (await cluster.provider.workers()).wanted
            cluster.fleet = Fleet(count=_bounded(cluster.asked, options))
        before = cluster.asked
        fleet = _held(cluster.fleet, before, seeing, now, options)
        if self.ledger.are_all_paused:
            fleet = Fleet(count=before)
        fleet = cluster.fleet = await self._one_more(cluster, fleet, before, now)
        count = self._drained(cluster, fleet.count, before, seeing, now)
        sent = await cluster.provider.request(count)
        cluster.asked = count
        if seeing:
            self._tell_room(cluster, seeing, count, now, is_more=count > before)
        if sent or count != before:
            why = _why(count, before, seeing, cluster.in_vain)
            self.events.handle(reports.workers_requested(cluster.name, count, before, why, now))

    def _tell_room(self, cluster: SteeredCluster, seeing: Seeing, count: int, now: datetime, *, is_more: bool) -> None:
        """Let growth wait for workers; not for those that do not come."""
        total, per = seeing.sample.slots_total, seeing.sample.settings.slots_per_task_manager
        if total is None or total >= count * per:
            cluster.missing_since = None
        elif is_more or cluster.missing_since is None:
            cluster.missing_since = now
        if cluster.missing_since and now - cluster.missing_since >= _PATIENCE:
            self.ledger.rooms[cluster.name] = 0
        else:
            self.ledger.rooms[cluster.name] = in_force(cluster.options).most * per

    def _tell_no_room(self, cluster: SteeredCluster, now: datetime) -> None:
        """Let nobody count on workers of which the provider cannot tell; that it never will is not known at once."""
        since = cluster.missing_since = cluster.missing_since or now
        self.ledger.rooms.pop(cluster.name, None)
        if now - since >= _PATIENCE:
            self.ledger.rooms[cluster.name] = 0

    async def _one_more(self, cluster: SteeredCluster, fleet: Fleet, asked: int, now: datetime) -> Fleet:
        """Add a worker where all that were asked for are there, and a job that was never seen to run still waits."""
        if not cluster.in_vain:
            cluster.in_vain_since = None
            return fleet
        since = cluster.in_vain_since = cluster.in_vain_since or now
        count = _bounded(asked + 1, in_force(cluster.options))
        if fleet.count >= count or now - since < _START or (await cluster.provider.workers()).ready < asked:
            return fleet
        cluster.in_vain_since = now
        return Fleet(count=count)

    def _drained(self, cluster: SteeredCluster, count: int, asked: int, seeing: Seeing | None, now: datetime) -> int:
        """Give the workers to ask for now: before some of them go, the jobs let go of their slots."""
        if seeing is None:
            return max(count, asked)
        total, per = seeing.sample.slots_total, seeing.sample.settings.slots_per_task_manager
        if count < asked:
            drain = cluster.drain = drain_of(cluster.drain, asked, count, per_worker=per, total=total)
            self.ledger.caps[cluster.name] = drain.cap
            if seeing.used > drain.cap:
                return asked
            cluster.drain = drain.told(now)
        elif cluster.drain and cluster.drain.is_over(count, total, now):
            self._let_grow(cluster)
        return count

    async def _advise(self, cluster: SteeredCluster, seeing: Seeing | None, now: datetime) -> None:
        """Say what would be asked for, and wait with shrinking as if it were."""
        cluster.asked = None
        self._let_grow(cluster)
        self.ledger.rooms.pop(cluster.name, None)
        options, wanted = in_force(cluster.options), (await cluster.provider.workers()).wanted
        before = cluster.fleet if cluster.fleet and cluster.fleet.count == wanted else Fleet(count=wanted)
        fleet = _after(before, seeing, now, options)
        if fleet.count == wanted:
            cluster.fleet = fleet
            return
        why = _why(fleet.count, wanted, seeing)
        self.events.handle(reports.workers_advised(cluster.name, fleet.count, wanted, why, now))


def _held(fleet: Fleet, asked: int, seeing: Seeing | None, now: datetime, options: WorkersOptions) -> Fleet:
    """Give the workers to be had now: none goes while one of the jobs is paused, whatever their bounds are by now."""
    if seeing is None or not seeing.is_held:
        return _after(fleet, seeing, now, options)
    wanted = _after(Fleet(count=max(fleet.count, asked)), seeing, now, options)
    return wanted if wanted.count >= asked else Fleet(count=asked)


def _after(fleet: Fleet, seeing: Seeing | None, now: datetime, options: WorkersOptions) -> Fleet:
    """Give the workers to be had now: as many as before, within the bounds, while nothing is known of the jobs."""
    if fleet.count != _bounded(fleet.count, options):
        fleet = Fleet(count=_bounded(fleet.count, options))
    if seeing is None:
        return fleet
    needed = workers_for(seeing.slots, seeing.sample.settings.slots_per_task_manager, options)
    return fleet_after(fleet, needed, now, options, may_shrink=seeing.may_shrink)


def _bounded(count: int, options: WorkersOptions) -> int:
    return min(max(count, options.least), options.most)


def _why(count: int, before: int, seeing: Seeing | None, in_vain: Collection[JobKey] = ()) -> str:
    if count == before:
        return "one was missing"
    needs = f"{seeing.why}, and a worker has {seeing.sample.settings.slots_per_task_manager}" if seeing else ""
    waiting = ", ".join(sorted(job.name for job in in_vain)) if count > before else ""
    waits = f"{waiting} waited in vain for slots" if waiting else ""
    return "; ".join(filter(None, (needs, waits))) or "these are the bounds of their number"
