"""The parts of an agent, put together as `wiring` does it for a service, but inside of the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from headgate.agent.evaluating import WindowEvaluator
from headgate.agent.failing import FailedQueries, FailureTellingJobs, none_failed
from headgate.agent.journal import Journal, ReportedSamples
from headgate.config.ordered import Overlay
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import PluginDecider
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.reactive.asking import HostedPolicies
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.steering import Steering
from headgate.control.rollback.step import RollbackStep
from headgate.control.runner import Runner, TickRun
from headgate.control.selection import SelectedRealizer
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.events.merging import MergingEventHandler
from headgate.model.identity import JobKey
from headgate.options.agent import AgentOptions
from headgate.options.live import Live
from headgate.options.service import Mode
from headgate.plugins.host import PluginHost
from headgate.ports import FailureHistory, JobListFetcher, MetricCollector, ScalingRealizer, StateStore

_KEPT = timedelta(hours=1)
"""How long samples are kept at least, before the first window was asked for."""
_TIME_LIMIT = timedelta(seconds=10)
"""Of taking one sample."""


async def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An application as the control loop sees it."""

    job: JobKey
    jobs: JobListFetcher
    collector: MetricCollector
    failures: FailureHistory
    realizer: ScalingRealizer
    restarts: QueryRestarts
    """Of queries that the application lets be started anew."""
    failed_queries: FailedQueries = none_failed
    """Tells which queries of the application have ended by an exception."""
    release: Callable[[], Awaitable[None]] = nothing
    """Leaves the number of executors to whoever decided on it without Headgate."""
    hold: Callable[[], Awaitable[None]] = nothing
    """Takes it back, as it is then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What an agent is made of but for its thread."""

    engine: Engine
    options: AgentOptions
    mode: Live[Mode]
    host: PluginHost
    store: StateStore
    journal: Journal
    overlay: Overlay = field(default_factory=Overlay)
    """What ordered options may name."""

    def runner(self, on_tick: Callable[[TickRun], None]) -> Runner:
        """Put the loop together."""
        options, events = self.options, MergingEventHandler(self.journal)
        evaluator = WindowEvaluator(
            host=self.host,
            events=events,
            collect_interval=options.collect_interval,
            keep=max(options.autoscaler.metrics_window, _KEPT),
        )
        steering = Steering(events=events)
        outbox = Outbox(store=self.store, events=events)
        outbox.book.overlay = self.overlay
        observer = Observer(
            fetcher=FailureTellingJobs(jobs=self.engine.jobs, failed_queries=self.engine.failed_queries, events=events),
            collector=self.engine.collector,
            sink=ReportedSamples(sink=evaluator, report=self.journal.report),
            events=events,
            time_limit=_TIME_LIMIT,
            applied=outbox.book.applied,
            is_changing=outbox.is_changing,
        )
        cycle = Cycle(
            mode=self.mode,
            evaluator=evaluator,
            actuator=Actuator(
                collector=self.engine.collector,
                realizer=SelectedRealizer(usual=self.engine.realizer, host=self.host),
                outbox=outbox,
                events=events,
            ),
            outbox=outbox,
            events=events,
            decisions=self.journal,
            steering=steering,
            rollback=RollbackStep(failures=self.engine.failures),
            decider=ReactiveDecider(
                usual=PluginDecider(host=self.host, events=events),
                events=events,
                ledger=steering.ledger,
                policies=HostedPolicies(host=self.host),
            ),
        )
        return Runner(
            observers=(observer,),
            cycle=cycle,
            events=events,
            collect_interval=options.collect_interval,
            decide_interval=options.decide_interval,
            on_tick=on_tick,
        )
