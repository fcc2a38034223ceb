"""The control side: an observer for each cluster and the cycle, with every port that they hold."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.config import for_job
from headgate.config.launches import SAVEPOINT_REDEPLOY, launch_of
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import PluginDecider
from headgate.control.memory_raise import WorkersMemoryRaise
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.reactive.asking import HostedPolicies
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.fitness import Fitness
from headgate.control.reactive.steering import Steering
from headgate.control.redeployment import Redeployment
from headgate.control.restarts import Restarts
from headgate.control.rollback.step import RollbackStep
from headgate.control.selection import SelectedRealizer
from headgate.pipeline.selected import SelectedEvaluator
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import DecisionSink, EventHandler, JobContext, MetricCollector
from headgate.telemetry.tap import Tap
from headgate.wiring.data import DataPath
from headgate.wiring.engines import Engines, Now, collect_time_limit


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

    def cycle(self) -> Cycle:
        """Put the cycle together."""
        return Cycle(
            mode=lambda: self.now().mode,
            evaluator=self._evaluator(),
            actuator=self._actuator(),
            outbox=self.outbox,
            events=self.events,
            decisions=self.decisions or self.data.decisions,
            rollback=RollbackStep(failures=self.engines.history, memory=self._memory()),
            steering=self.steering,
            restarts=Restarts(model=self.data.downtimes, learn=self.data.downtimes.learn),
            decider=ReactiveDecider(
                usual=PluginDecider(host=self.host, events=self.events),
                events=self.events,
                ledger=self.steering.ledger,
                policies=HostedPolicies(host=self.host),
                fitness=Fitness(find=self.engines.facts),
            ),
        )

    def _memory(self) -> WorkersMemoryRaise:
        providers = {cluster.name: cluster.provider for cluster in self.steering.clusters}
        return WorkersMemoryRaise(providers=providers, fetchers=self.engines.fetchers)

    def observers(self, tap: Tap) -> tuple[Observer, ...]:
        """Put an observer together for each cluster, whose calls the tap sees."""
        return tuple(
            Observer(
                fetcher=tap.fetcher(cluster, fetcher),
                collector=self.collector,
                sink=self.data.samples_of(cluster),
                events=self.events,
                time_limit=collect_time_limit(self.now()),
            )
            for cluster, fetcher in self.engines.fetchers.items()
        )

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
            realizer=SelectedRealizer(usual=self.engines.in_place, host=self.host),
            outbox=self.outbox,
            events=self.events,
            redeployment=Redeployment(
                applies=self._replaces,
                launch_of=lambda job: launch_of(self.now(), job),
                options_of=lambda job: for_job(self.now(), job).options,
            ),
        )
