"""The control side: an observer for each cluster, the cycle and what lets them tick, with every port that they hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from headgate.config import for_job
from headgate.config.launches import SAVEPOINT_REDEPLOY, launch_of
from headgate.config.reload import LiveOptions
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import PluginDecider
from headgate.control.early import EarlyTicks
from headgate.control.memory_raise import WorkersMemoryRaise
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.reactive.asking import HostedPolicies
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.fitness import Fitness
from headgate.control.reactive.steering import Steering
from headgate.control.recording import Recorder
from headgate.control.redeployment import Redeployment
from headgate.control.reloading import Reloading
from headgate.control.restarts import Restarts
from headgate.control.retention import StateRetention
from headgate.control.rollback.step import RollbackStep
from headgate.control.runner import Listener, Runner, Upkeep, nothing
from headgate.control.selection import SelectedRealizer
from headgate.options.service import Place
from headgate.pipeline.selected import SelectedEvaluator
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import DecisionSink, EventHandler, JobContext, MetricCollector
from headgate.telemetry.tap import Tap
from headgate.wiring.data import DataPath
from headgate.wiring.engines import Engines, Now, observe_time_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What observers and the cycle are made of."""

    now: Now
    engines: Engines
    host: PluginHost
    collector: MetricCollector
    data: DataPath
    outbox: Outbox
    events: EventHandler
    decisions: DecisionSink | None
    """Where they are kept; None: in the log."""
    steering: Steering
    tap: Tap = field(default_factory=Tap)
    """Hears of what passes."""

    def runner(
        self, *, live: LiveOptions | None, on_decisions: Listener, on_early_decisions: Listener, upkeep: Upkeep
    ) -> Runner:
        """Put together what ticks; live options are looked after, and what comes of cycles is told."""
        observers, cycle = self.observers(), self.cycle()
        retention = StateRetention(
            store=self.outbox.store,
            observers=observers,
            looks_after=self.outbox.looks_after,
            events=self.events,
            keep=lambda: self.now().state_retention,
        )
        return Runner(
            observers=observers,
            cycle=cycle,
            early=self._early(observers, cycle),
            events=self.events,
            leases=self.outbox.leases,
            decides=not self.now().samples.sent_away,
            collect_interval=lambda: self.now().collect_interval,
            decide_interval=lambda: self.now().decide_interval,
            before_decisions=Reloading(live=live, events=self.events) if live else nothing,
            on_decisions=self.tap.decisions(on_decisions),
            on_early_decisions=self.tap.early_decisions(on_early_decisions),
            on_begin=self.tap.begins,
            on_tick=self.tap.ticks,
            on_stop=self.tap.stops,
            upkeep=upkeep,
            forget=retention,
        )

    def _early(self, observers: tuple[Observer, ...], cycle: Cycle) -> EarlyTicks | None:
        """Look between the ticks where this process takes the samples by itself: one of one job has to be cheap."""
        if self.data.inflow is not None or self.now().collect_on is Place.SPARK:
            return None
        return EarlyTicks(observers=observers, cycle=cycle, interval=lambda: self.now().collect_closely)

    def cycle(self) -> Cycle:
        """Put the cycle together."""
        restarts = Restarts(model=self.data.downtimes, learn=self.data.downtimes.learn)
        return Cycle(
            mode=lambda: self.now().mode,
            evaluator=self.tap.evaluator(self._evaluator()),
            actuator=self._actuator(),
            outbox=self.outbox,
            events=self.events,
            decisions=self.tap.kept(self.decisions or self.data.decisions),
            early=self.data.early and self.tap.evaluator(self.data.early),
            early_decisions=self.tap.kept(self.decisions or self.data.early_decisions),
            rollback=RollbackStep(failures=self.engines.history, memory=self._memory()),
            steering=self.steering,
            restarts=restarts,
            recorder=self._recorder(restarts),
            decider=self.tap.decider(
                ReactiveDecider(
                    usual=PluginDecider(host=self.host, events=self.events),
                    events=self.events,
                    ledger=self.steering.ledger,
                    policies=HostedPolicies(host=self.host),
                    fitness=Fitness(find=self.engines.facts),
                )
            ),
        )

    def _recorder(self, restarts: Restarts) -> Recorder | None:
        sink = self.data.circumstances
        if sink is None:
            return None
        return Recorder(
            sink=self.tap.recorded(sink),
            events=self.events,
            collect_interval=lambda: self.now().collect_interval,
            restarts=restarts,
            mode=lambda: self.now().mode,
        )

    def _memory(self) -> WorkersMemoryRaise:
        providers = {cluster.name: cluster.provider for cluster in self.steering.clusters}
        return WorkersMemoryRaise(providers=providers, fetchers=self.engines.fetchers)

    def observers(self) -> tuple[Observer, ...]:
        """Put an observer together for each cluster, whose answers the tap hears."""
        return tuple(
            Observer(
                fetcher=self.tap.fetcher(cluster, fetcher),
                collector=self._observing,
                sink=self.tap.samples(cluster, self.data.samples_of(cluster)),
                events=self.events,
                time_limit=observe_time_limit(self.now()),
                cluster=cluster,
                applied=self.outbox.book.applied,
                is_changing=self.outbox.is_changing,
            )
            for cluster, fetcher in self.engines.fetchers.items()
        )

    @property
    def _observing(self) -> MetricCollector:
        inflow = self.data.inflow
        return inflow.collector(self.collector, self.now) if inflow else self.collector

    def _evaluator(self) -> SelectedEvaluator:
        return SelectedEvaluator(
            fleet=self.data.evaluator,
            windows=self.data.windows,
            host=self.host,
            events=self.events,
            collect_interval=lambda: self.now().collect_interval,
        )

    def _replaces(self, ctx: JobContext) -> bool:
        """Tell whether a job's realizer replaces it: by its registered name, or as an instance of that."""
        name = ctx.options.realizer
        return name is not None and self.host.stands_for(Kind.SCALING_REALIZER, name) == SAVEPOINT_REDEPLOY

    def _actuator(self) -> Actuator:
        return Actuator(
            collector=self.collector,
            realizer=self.tap.realizer(SelectedRealizer(usual=self.engines.in_place, host=self.host)),
            outbox=self.outbox,
            events=self.events,
            redeployment=Redeployment(
                applies=self._replaces,
                launch_of=lambda job: launch_of(self.now(), job),
                options_of=lambda job: for_job(self.now(), job).options,
            ),
        )
