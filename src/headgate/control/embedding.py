"""Headgate inside of another program: the same cycle, over engines of one's own, without Spark, files or a clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.events.best_effort import BestEffortEventHandler
from headgate.events.log import LogEventHandler
from headgate.events.merging import MergingEventHandler
from headgate.model.decision import Decision
from headgate.options.service import Mode
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import EventHandler, JobListFetcher, MetricCollector, ScalingRealizer, StateStore
from headgate.stores.memory import MemoryStateStore


@dataclass(slots=True, kw_only=True)
class EmbeddedAutoscaler:
    """
    An autoscaler that ticks when it is told to; one event loop calls it, one call at a time.

    Attributes:
        jobs: which jobs there are, with the options that hold for each.
        collector: observes them.
        realizer: changes them.
        mode: whether it acts, or only says what it would do.
        store: what it must remember; in memory it ends with the program.
        events: who is told; the structured log unless told otherwise.
        collect_interval: time between two calls of `observe`.
        longest_window: the longest metric window that any job's options have: samples are kept so long.
        time_limit: of collecting from one job.
    """

    jobs: JobListFetcher
    collector: MetricCollector
    realizer: ScalingRealizer
    mode: Mode = Mode.ACT
    store: StateStore = field(default_factory=MemoryStateStore)
    events: EventHandler = field(default_factory=LogEventHandler)
    collect_interval: timedelta = timedelta(seconds=10)
    longest_window: timedelta = timedelta(minutes=15)
    time_limit: timedelta = timedelta(seconds=10)
    _observer: Observer = field(init=False, repr=False)
    _cycle: Cycle = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put the parts together."""
        saved = MergingEventHandler(self.events)
        told = BestEffortEventHandler(saved)
        evaluator = InProcessEvaluator(collect_interval=self.collect_interval, keep=self.longest_window)
        outbox = Outbox(store=self.store, events=saved)
        self._observer = Observer(
            fetcher=self.jobs,
            collector=self.collector,
            sink=evaluator,
            events=told,
            time_limit=self.time_limit,
            applied=outbox.book.applied,
            is_changing=outbox.is_changing,
        )
        self._cycle = Cycle(
            mode=self.mode,
            evaluator=evaluator,
            actuator=Actuator(collector=self.collector, realizer=self.realizer, outbox=outbox, events=told),
            outbox=outbox,
            events=told,
            decisions=_Nowhere(),
        )

    async def observe(self, at: datetime) -> None:
        """Take one sample of each live job, labelled with this instant, which is aware and in UTC."""
        await self._observer.observe(at)

    async def decide(self, now: datetime) -> tuple[Decision, ...]:
        """Evaluate and decide for every job that was observed, act where that is allowed, and give all decisions."""
        return await self._cycle.run(self._observer.latest, now)


class _Nowhere:
    """Keeps no decisions: whoever calls `decide` has them."""

    def append_decisions(self, decisions: object, /) -> None:
        """Keep nothing."""
