"""Whole cycles of the control loop against the reference's cases: measurements in, recommendations out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.observed import Observations, observed_rate
from headgate.algorithm.override import evaluate_with
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus, Measure
from headgate.model.metrics import ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.declaration import PREFIX
from headgate.options.service import Mode
from headgate.options.units import parse_duration
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, context
from headgate.testing.fakes import FakeEngine, RecordingEvents, RecordingLog
from headgate.testing.golden import Case

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=1)
_EVALUATED_FROM = 2
"""Samples."""
FORECAST = 100_000.0
"""What the custom evaluator of the cases takes to come into every source, records/s."""


def _at(milliseconds: float) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def _forecast(batch: Batch) -> Evaluation:
    sources = batch.is_source.tolist()
    return evaluate_with(batch, lambda row, _: {ScalingMetric.TARGET_DATA_RATE: FORECAST} if sources[row] else {})


@dataclass
class World:
    """The control loop over an engine that is fed with a case's measurements."""

    case: Case
    engine: FakeEngine = field(default_factory=FakeEngine)
    topology: Topology = field(init=False)
    running_since: datetime = EPOCH
    observed: Observations = field(init=False)
    ticks: list[datetime] = field(default_factory=list)
    scalings: int = 0
    balanced: int = 0
    recommended: Mapping[str, int | None] | None = None
    """What the reference's gauges would show."""

    def __post_init__(self) -> None:
        """Put the loop together."""
        graph = self.case.inputs["topology"]
        self.topology = Topology(
            vertices=tuple(Vertex(id=VertexId(name), name=name, parallelism=1, max_parallelism=1) for name in graph),
            edges=tuple(
                Edge(source=VertexId(source), target=VertexId(name), ship_strategy=ShipStrategy.of(strategy))
                for name, inputs in graph.items()
                for source, strategy in inputs.items()
            ),
        )
        self.config = dict(self.case.config)
        self.observed = Observations(running_since=EPOCH)
        events, log = RecordingEvents(), RecordingLog()
        formula = _forecast if self.case.inputs.get("custom_evaluator") else evaluate
        self.evaluator = InProcessEvaluator(collect_interval=TICK, keep=timedelta(hours=1), formula=formula)
        self.observer = Observer(
            fetcher=self.engine,
            collector=self.engine,
            sink=self.evaluator,
            events=events,
            time_limit=timedelta(seconds=5),
        )
        outbox = Outbox(store=MemoryStateStore(), events=events)
        self.cycle = Cycle(
            mode=Mode.ACT,
            evaluator=self.evaluator,
            actuator=Actuator(collector=self.engine, realizer=self.engine, outbox=outbox, events=events),
            outbox=outbox,
            events=events,
            decisions=log,
        )

    async def take(self, step: Mapping[str, Any]) -> None:
        """Go through one cycle."""
        now = _at(step["t_ms"])
        self.config |= step.get("config_change", {}) | {PREFIX + "metrics.window": step["metrics_window"]}
        if "job_running_at_ms" in step and _at(step["job_running_at_ms"]) != self.running_since:
            self.running_since, self.ticks = _at(step["job_running_at_ms"]), []
            self.observed = Observations(running_since=self.running_since)
        status = JobStatus.RUNNING if step["job_status"] == "RUNNING" else JobStatus.STARTING
        sample = self._sample(step, now)
        self.engine.add(replace(context(status=status), options=self.case.options_of(self.config)), sample)
        if status is JobStatus.RUNNING:
            self.ticks.append(now)
        await self.observer.observe(now)
        decision = (await self.cycle.run(self.observer.latest, now))[0]
        self._count(decision)
        self.recommended = self._recommended(decision, status)

    def _sample(self, step: Mapping[str, Any], now: datetime) -> JobSample:
        before = self.engine.jobs.get(ORDERS)
        running = before.topology if before else self.topology
        vertices = tuple(
            replace(
                vertex,
                parallelism=step.get("parallelism", {}).get(vertex.id, vertex.parallelism),
                max_parallelism=step.get("max_parallelism", {}).get(vertex.id, vertex.max_parallelism),
            )
            for vertex in running.vertices
        )
        return JobSample(
            job=ORDERS,
            at=now,
            job_id="j1",
            running_since=self.running_since,
            topology=replace(running, vertices=vertices),
            vertices={v.id: VertexSample(measured_at=now, values=self._values(step[v.id], now)) for v in vertices},
            settings=EngineSettings(metric_refresh_s=0.0),
        )

    def _values(self, given: Mapping[str, float], now: datetime) -> Mapping[Measure, float]:
        values = {
            Measure.LOAD: given["busy_max_ms_per_sec"] / 1000,
            Measure.NUM_RECORDS_IN: given["records_in"],
            Measure.NUM_RECORDS_OUT: given["records_out"],
        }
        if "pending_records" not in given:
            return values
        options = self.case.options_of(self.config)
        observed = observed_rate(
            given["source_records_in_per_sec"],
            given["pending_records"],
            given["backpressure_avg_ms_per_sec"] / 1000,
            options.observed_tpr_lag_threshold // timedelta(seconds=1),
            self.observed.mean(options.observed_tpr_min_observations),
        )
        self.observed.add(now, observed, stabilization=options.stabilization_interval, window=options.metrics_window)
        return {**values, Measure.LAG: given["pending_records"], Measure.OBSERVED_TPR: observed}

    def _count(self, decision: Decision) -> None:
        executed = decision.outcome is Outcome.RESCALE and decision.acts
        self.scalings += executed
        self.balanced += decision.evaluated is not None and not executed

    def _recommended(self, decision: Decision, status: JobStatus) -> Mapping[str, int | None] | None:
        """
        Return the parallelism recommended for each vertex: None while the window fills.

        The reference evaluates from the second sample on. Its gauges show the last evaluation until the next one, and
        nothing of a job that does not run; ours show nothing of a job that is not ready.
        """
        if status is not JobStatus.RUNNING:
            return None
        if len(self.ticks) < _EVALUATED_FROM:
            return self.recommended
        if decision.reason is Reason.WINDOW_FILLING:
            return {str(vertex.id): None for vertex in self.topology.vertices}
        return {str(vertex): parallelism for vertex, parallelism in decision.recommended.items()}

    def history(self, now: datetime) -> int:
        """Count the samples that the window holds; all of them until it is full."""
        window = parse_duration(self.config[PREFIX + "metrics.window"])
        stable = [at for at in self.ticks if at >= self.running_since + self.case.options.stabilization_interval]
        full = stable and now >= stable[0] + window
        return sum(at >= now - window for at in self.ticks) if full else len(self.ticks)


def _overrides(requests: Sequence[Mapping[VertexId, int]]) -> Mapping[str, int]:
    return {str(vertex): parallelism for request in requests for vertex, parallelism in request.items()}


async def test_full_cycle(case: Case) -> None:
    """Step by step: what is held, what was done, what is recommended."""
    world = World(case)
    for step, expected in zip(case.inputs["steps"], case.expected["steps"], strict=True):
        await world.take(step)

        held = world.history(_at(step["t_ms"]))
        assert (world.scalings, world.balanced) == (expected["scalings"], expected["balanced"])
        assert _overrides(world.engine.requests) == expected["overrides"]
        assert world.recommended == expected["recommended"]
        assert step["job_status"] != "RUNNING" or held == expected["history_size"]
