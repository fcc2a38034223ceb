"""
Cadences beside each other: a collector's for each cluster, and the decision's.

A tick that takes longer than its interval makes the next ones late, never double; a failing tick is an event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial

from headgate.control import reports
from headgate.control.cycle import Cycle
from headgate.control.early import EarlyTicks
from headgate.control.leases import Leases
from headgate.control.observation import Observation, Observer
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.options.live import Live, in_force
from headgate.ports import EventHandler, JobContext

Clock = Callable[[], datetime]
Listener = Callable[[tuple[Decision, ...]], None]
Upkeep = Callable[[datetime], None]
Tick = Callable[[datetime], Awaitable[None]]


class Work(StrEnum):
    """What is done at a tick, as events call it."""

    COLLECT = "collecting"
    DECIDE = "deciding"
    EARLY = "deciding early"
    UPKEEP = "keeping the log in order"
    LEASES = "renewing leases"
    LEARN = "learning how long rescales take"
    FORGET = "forgetting jobs that are gone"


_MILLISECOND = timedelta(milliseconds=1)

_APART = 1 / 4
"""Share of the interval that lies between two looks at least: many clusters end their turns at many instants."""

_AWAITED = 1 / 4
"""Share of the collector's interval that a decision waits for samples of its tick: all that a hanging cluster costs."""


_LEAST_APART = timedelta(seconds=10)
"""Between two readings of what rescales took: those of a fleet in which jobs restart all the time must not pile up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRun:
    """One tick that is over."""

    work: Work
    at: datetime
    """When it began."""
    late: timedelta
    """How long after it was due: one interval after the one before, which may have taken longer than that."""
    took: timedelta
    failed: bool


TickListener = Callable[[TickRun], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One tick that begins: as long as a loop lives there is always another."""

    work: Work
    of: str
    """The cluster whose loop it is; empty where there is one loop for all."""
    at: datetime
    interval: timedelta

    @property
    def loop(self) -> str:
        """What the loop is called."""
        return f"{self.work} from {self.of}" if self.of else str(self.work)


BeatListener = Callable[[Beat], None]


async def nothing(_: datetime) -> None:
    """Stand for what is not asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """The running service."""

    observers: tuple[Observer, ...]
    """One a cluster."""
    cycle: Cycle
    events: EventHandler
    collect_interval: Live[timedelta]
    decide_interval: Live[timedelta]
    clock: Clock = lambda: datetime.now(UTC)
    early: EarlyTicks | None = None
    """What is done between the ticks; None: nothing."""
    leases: Leases | None = None
    """Which jobs are this process's; None: all."""
    decides: bool = True
    """Whether there are cycles; otherwise samples are only taken, and a process elsewhere decides by them."""
    before_decisions: Tick = nothing
    """Awaited before each cycle, in the same tick: what it changes holds for that cycle."""
    on_decisions: Listener = lambda _: None
    """Told of every cycle's decisions."""
    on_early_decisions: Listener = lambda _: None
    """Told of decisions that were made before their turn, for a few jobs."""
    on_begin: BeatListener = lambda _: None
    """Told of every tick that begins; must not raise."""
    on_tick: TickListener = lambda _: None
    """Told of every tick that is over, a collector's once for each cluster; must not raise."""
    on_stop: Callable[[], None] = lambda: None
    """Told at once when the service is to stop, however long what is under way still takes; must not raise."""
    upkeep: Upkeep = lambda _: None
    """Blocking work on the log, done in a thread every `upkeep_interval`."""
    upkeep_interval: timedelta = timedelta(minutes=5)
    forget: Upkeep | None = None
    """Blocking work on the state store, done in a thread every `forget_interval`, where there are cycles."""
    forget_interval: timedelta = timedelta(hours=1)
    learn_interval: timedelta = timedelta(minutes=2)
    """
    How often what rescales were seen to take is learnt anew, in a thread beside the cycles.

    Sooner after the first cycle, and once a job was seen to have restarted: the next decision knows how long that took.
    """

    _observed: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """Set as a cluster was looked at in its turn, until that was taken in."""
    _due: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """Set as a job is to be decided for before its turn, until that is begun."""
    _begun: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """Set once the first cycle is over."""
    _looks: dict[str, datetime] = field(default_factory=dict, init=False)
    """The tick at which each cluster was looked at last, once that is over."""
    _looked: asyncio.Condition = field(default_factory=asyncio.Condition, init=False)
    """Notified of every such end."""

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until told to stop; a tick under way is finished first."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tell_of(stop))
            for observer in self.observers:
                observing = partial(self._observe, observer)
                collecting = self._every(self.collect_interval, Work.COLLECT, observing, stop, of=observer.cluster)
                tasks.create_task(collecting)
            tasks.create_task(self._every(self.decide_interval, Work.DECIDE, self._decide, stop))
            if self.early and self.decides:
                tasks.create_task(self._look_early(self.early, stop))
                tasks.create_task(self._decide_early(self.early, stop))
            if self.leases:
                tasks.create_task(self._every(self.leases.interval, Work.LEASES, self.leases.on_tick, stop))
            tasks.create_task(self._every(self.upkeep_interval, Work.UPKEEP, self._keep_house, stop))
            restarted = self.cycle.restarts.restarted
            tasks.create_task(self._every(self.learn_interval, Work.LEARN, self._learn, stop, sooner=restarted))
            if self.forget and self.decides:
                forgetting = partial(_in_thread, self.forget)
                tasks.create_task(self._every(self.forget_interval, Work.FORGET, forgetting, stop))

    @property
    def latest(self) -> Mapping[JobKey, Observation]:
        """What is known of the jobs of all clusters."""
        return {key: seen for observer in self.observers for key, seen in observer.latest.items()}

    @property
    def failed(self) -> Mapping[JobKey, JobContext]:
        """The jobs of all clusters that have ended by a failure."""
        return {key: ctx for observer in self.observers for key, ctx in observer.failed.items()}

    async def observe(self, at: datetime) -> None:
        """Take one sample of each job of each cluster."""
        await asyncio.gather(*(observer.observe(at) for observer in self.observers))

    async def decide(self, at: datetime) -> tuple[Decision, ...]:
        """Decide for each job that is this process's, and act."""
        async with self.cycle.deciding:
            await self.before_decisions(at)
            if not self.decides:
                return ()
            if self.leases:
                await self.leases.before_cycle(at)
                if others := self.leases.company():
                    self.events.handle(reports.jobs_divided(others, at))
        return await self.cycle.run(self.latest, at, failed=self.failed)

    async def _observe(self, observer: Observer, at: datetime) -> None:
        try:
            await observer.observe(at)
        finally:
            self._observed.set()
            async with self._looked:
                self._looks[observer.cluster] = at
                self._looked.notify_all()

    async def _decide(self, at: datetime) -> None:
        await self._await_samples(at)
        self.on_decisions(await self.decide(at))
        if not self._begun.is_set():  # Spark may have started with it, and can now read what rescales took before
            self._begun.set()
            self.cycle.restarts.restarted.set()

    async def _await_samples(self, at: datetime) -> None:
        """Wait a little until every cluster was looked at in its latest turn, unless that is later than the tick."""
        interval = in_force(self.collect_interval)
        turn = tick_of(self.clock(), interval)
        if turn > at or not self.decides:
            return
        never = turn - interval
        with suppress(TimeoutError):
            async with asyncio.timeout(interval.total_seconds() * _AWAITED), self._looked:
                await self._looked.wait_for(
                    lambda: all(self._looks.get(one.cluster, never) >= turn for one in self.observers)
                )

    async def _look_early(self, early: EarlyTicks, stop: asyncio.Event) -> None:
        """
        Look as soon as a cluster was looked at in its turn, and otherwise by its own interval.

        It waits for no decision: whatever is under way, what is seen counts.
        """
        while not stop.is_set():
            interval = in_force(early.interval)
            await _wait(stop, interval * _APART)
            await _wait(self._observed, interval * (1 - _APART))
            self._observed.clear()
            at = self.clock()
            if self._is_between(at):
                await self._attempt(Work.EARLY, early.look, at, _MILLISECOND)
            if early.alertness.is_any_due:
                self._due.set()
        await self._attempt(Work.EARLY, early.finish, self.clock(), _MILLISECOND)

    async def _decide_early(self, early: EarlyTicks, stop: asyncio.Event) -> None:
        """
        Decide as soon as a job is due, at an instant that is no tick's: the log tells both apart by their time.

        A job that is due waits for decisions that are being made, and for no evaluation but its own.
        """

        async def do(_: datetime) -> None:
            async with early.cycle.deciding:
                now = tick_of(self.clock(), _MILLISECOND)
                decisions = await early.decide(now if self._is_between(now) else now + _MILLISECOND)
            if decisions:
                self.on_early_decisions(decisions)

        while True:
            await self._due.wait()
            self._due.clear()
            if stop.is_set():
                return
            await self._attempt(Work.EARLY, do, self.clock(), _MILLISECOND)

    def _is_between(self, at: datetime) -> bool:
        regular = (in_force(self.collect_interval), in_force(self.decide_interval))
        return all(tick_of(at, interval) < tick_of(at, _MILLISECOND) for interval in regular)

    async def _keep_house(self, at: datetime) -> None:
        await _in_thread(self.upkeep, at)

    async def _learn(self, _: datetime) -> None:
        # Up to now, not up to the tick: what was seen since would be learnt an interval later.
        await _in_thread(self.cycle.restarts.learn, tick_of(self.clock(), _MILLISECOND))

    async def _tell_of(self, stop: asyncio.Event) -> None:
        await stop.wait()
        for awaited in (self._observed, self._due, self.cycle.restarts.restarted):
            awaited.set()  # nobody waits for another turn, nor for a job to be due
        self.on_stop()

    async def _every(
        self,
        cadence: Live[timedelta],
        work: Work,
        tick: Tick,
        stop: asyncio.Event,
        *,
        of: str = "",
        sooner: asyncio.Event | None = None,
    ) -> None:
        """Do the work at each tick, and when `sooner` is set, but no sooner than `_LEAST_APART` after the last time."""
        due = None
        while not stop.is_set():
            at, interval = self.clock(), in_force(cadence)
            self.on_begin(Beat(work=work, of=of, at=at, interval=interval))
            done = await self._attempt(work, tick, at, interval)
            # A clock that was set back makes nothing take less than no time.
            late = timedelta() if due is None else max(at - due, timedelta())
            took = max(self.clock() - at, timedelta())
            self.on_tick(TickRun(work=work, at=at, late=late, took=took, failed=not done))
            due = tick_of(at, interval) + interval
            rest = until_next(self.clock(), interval)
            least = rest if sooner is None else min(rest, _LEAST_APART)
            await _wait(stop, least)
            if sooner is not None:
                await _wait(sooner, rest - least)
                sooner.clear()

    async def _attempt(self, work: Work, tick: Tick, at: datetime, interval: timedelta) -> bool:
        try:
            await tick(tick_of(at, interval))
        except Exception as error:  # noqa: BLE001 - the service outlives any one tick
            self.events.handle(reports.fleet_error(work, str(error) or type(error).__name__, at))
            return False
        return True


def tick_of(at: datetime, interval: timedelta) -> datetime:
    """Give the begin of the interval that an instant lies in: ticks have the same names in every process."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return at - (at - epoch) % interval


def until_next(at: datetime, interval: timedelta) -> timedelta:
    """Give the time to the next tick, never zero."""
    return interval - (at - tick_of(at, interval))


async def _in_thread(work: Upkeep, at: datetime) -> None:
    await asyncio.to_thread(work, at)


async def _wait(event: asyncio.Event, duration: timedelta) -> None:
    try:
        async with asyncio.timeout(duration.total_seconds()):
            await event.wait()
    except TimeoutError:
        return
