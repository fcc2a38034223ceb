"""A whole service in front of a simulated cluster, on its clock and with a samples log: a run that can be replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from headgate.algorithm.rules import is_fast
from headgate.control.early import CLOSELY, EarlyTicks
from headgate.control.observation import Observer
from headgate.control.recording import Recorder
from headgate.engines.simulated.cluster import START, SimulatedCluster
from headgate.engines.simulated.collector import SimulatedMetricCollector
from headgate.engines.simulated.jobs import SimulatedJobListFetcher
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.pipeline.downtime_book import NotedDecisions, NotedSamples, RescaleBook
from headgate.pipeline.evaluation import Answer, Question
from headgate.pipeline.in_process import kept_jobs, kept_vertices, reduced
from headgate.pipeline.roster import Roster
from headgate.pipeline.selected import SelectedEvaluator
from headgate.ports import Candidate, SampleSink, StateStore
from headgate.samplelog.reader import LogReader
from headgate.samplelog.windows import LogWindows
from headgate.samplelog.writer import SampleLog
from headgate.simulate.inline import inline_loop
from headgate.simulate.loop import ControlLoop, Kept, control_loop
from headgate.simulate.plugins import inline_host
from headgate.simulate.scenario import Scenario
from headgate.simulate.simulation import cluster_of
from headgate.stores.memory import MemoryStateStore


@dataclass(frozen=True, slots=True)
class LogEvaluator:
    """A `ports.FleetEvaluator` over the samples log without Spark."""

    reader: LogReader
    collect_interval: timedelta

    def evaluate(self, candidates: Sequence[Candidate], now: datetime, /) -> Mapping[JobKey, Answer]:
        """Answer every candidate over its own window."""
        question = Question(candidates=candidates, now=now, collect_interval=self.collect_interval)
        vertices, jobs = (self.reader.read(table, question.since, question.until) for table in ("samples", "jobs"))
        fleet = Roster().fleet(candidates)
        return question.answers(fleet, reduced(kept_vertices(vertices), kept_jobs(jobs), fleet, question))


@dataclass(slots=True, kw_only=True)
class RecordedService:
    """
    Headgate on a simulated cluster, with a log below `root`.

    Attributes:
        decisions: all so far, in order.
        events: all so far, in order.
        skips: ticks of the collector, as time since the begin, at which nothing is observed.
        also: takes the samples of each tick as the log does.
        delay: how long after its tick a cycle begins; it goes by what was observed meanwhile.
    """

    scenario: Scenario
    root: Path
    store: StateStore = field(default_factory=MemoryStateStore)
    cluster: SimulatedCluster = field(init=False)
    decisions: list[Decision] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    skips: Callable[[timedelta], bool] = lambda _: False
    also: Callable[[Sequence[JobSample]], None] = lambda _: None
    delay: timedelta = timedelta()
    _loop: ControlLoop = field(init=False)
    _now: timedelta = timedelta()
    _processes: int = 0

    def __post_init__(self) -> None:
        """Submit the jobs, and start."""
        self.cluster = cluster_of(self.scenario)
        self.restart()

    def restart(self) -> None:
        """Start another process: it knows what is in the store and in the log."""
        kept, book = Kept(self.decisions, self.events), RescaleBook()
        self._processes += 1
        log = SampleLog(self.root, shard=f"{self._processes:08x}")
        loop = control_loop(self.scenario, self.cluster, kept, self.store)
        cycle, interval = loop.cycle, self.scenario.collect_interval
        observer = Observer(
            fetcher=SimulatedJobListFetcher(self.cluster, lambda _: self.scenario.autoscaler),
            collector=SimulatedMetricCollector(self.cluster),
            sink=_Copied(NotedSamples(log, book), self.also),
            events=cycle.events,
            time_limit=timedelta(minutes=1),
        )
        evaluator = SelectedEvaluator(
            fleet=LogEvaluator(LogReader(self.root), interval),
            windows=LogWindows(self.root),
            host=inline_host(),
            events=cycle.events,
            collect_interval=interval,
        )
        recorder = Recorder(
            sink=log, events=cycle.events, collect_interval=interval, restarts=cycle.restarts, mode=cycle.mode
        )
        decisions = NotedDecisions(_Both(log, kept), book)
        cycle = replace(cycle, evaluator=evaluator, recorder=recorder, decisions=decisions)
        self._loop = ControlLoop(observer=observer, cycle=cycle, early=EarlyTicks(observers=(observer,), cycle=cycle))

    def advance_to(self, at: timedelta) -> None:
        """Let time pass until so long after the begin, with every tick on the way."""
        with asyncio.Runner(loop_factory=inline_loop) as runner:
            runner.run(self._advance_to(at))

    @property
    def now(self) -> datetime:
        """The present."""
        return START + self._now

    async def _advance_to(self, at: timedelta) -> None:
        while (instant := self._next()) <= at:
            self._now = instant
            self.cluster.advance_to(self._now.total_seconds())
            await (self._loop.decide_early(self.now) if self._now % self.scenario.collect_interval else self._tick())

    def _next(self) -> timedelta:
        """Give the next tick of the collector, or the next look in between: at an instant that is no tick's."""
        step = self.scenario.collect_interval
        tick = self._now + step - self._now % step
        return min(tick, self._now + CLOSELY) if is_fast(self.scenario.autoscaler) else tick

    async def _tick(self) -> None:
        if not self.skips(self._now):
            await self._loop.observer.observe(self.now)
        tick = self._now - self.delay
        if tick > timedelta() and not tick % self.scenario.decide_interval:
            await self._loop.decide(START + tick)


@dataclass(frozen=True, slots=True)
class _Copied:
    sink: SampleSink
    also: Callable[[Sequence[JobSample]], None]

    def append(self, samples: Sequence[JobSample], /) -> None:
        self.sink.append(samples)
        self.also(samples)


@dataclass(frozen=True, slots=True)
class _Both:
    log: SampleLog
    kept: Kept

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        self.log.append_decisions(decisions)
        self.kept.append_decisions(decisions)
