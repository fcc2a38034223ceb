"""A Spark application in simulated time: queries in micro-batches on cores that come late and leave at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from random import Random

from headgate.algorithm.micro_batch.fit import CostFit
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, Measure
from headgate.model.micro_batch import MicroBatch, StageWork
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.ports import CollectedMetrics
from headgate.testing.builders import at

APPLICATION = JobKey("spark", "orders")
EXECUTOR_S = 5.0
"""Between the request for executors and their first task."""
COLD_MS = 4000.0
"""What the first batch on new executors takes longer."""

Load = Callable[[float], float]
"""Rows/s that come in at a second of the story."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedQuery:
    """What a query is in truth."""

    load: Load
    name: str = "orders"
    tasks: tuple[int, ...] = (8,)
    """Of each stage."""
    batch_ms: float = 300.0
    task_ms: float = 80.0
    """Of all tasks of a stage, however few the rows."""
    row_ms: float = 4.0
    """Of a row, all stages together."""
    interval_s: float | None = 2.0
    limit: int | None = None
    noise: float = 0.05
    """Standard deviation of a batch's task time, as a share."""
    lag_origin: LagOrigin = LagOrigin.OFFSETS
    state_bytes: int = 0


@dataclass(slots=True, kw_only=True)
class _Course:
    """How far a query has come."""

    query: SimulatedQuery
    fit: CostFit = field(default_factory=CostFit)
    arrived: float = 0.0
    read: float = 0.0
    busy_ms: float = 0.0
    batch_id: int = 0
    next_at: float = 0.0
    batch: MicroBatch | None = None
    """The latest that ended."""
    left: float = 0.0
    """Rows that it left behind."""
    told: MicroBatch | None = None
    """The latest that a sample told of."""
    waiting: float = 0.0
    """Rows that waited when the batch under way, or the latest, began."""
    under_way: tuple[float, MicroBatch] | None = None
    """When it ends."""


@dataclass(slots=True, kw_only=True)
class SimulatedApplication:
    """Advances in tenths of a second; queries share the cores, and tasks that come first go first."""

    queries: Sequence[SimulatedQuery]
    cores: int = 1
    cores_each: int = 1
    seed: int = 0
    now_s: float = 0.0
    batches: list[MicroBatch] = field(default_factory=list)
    wanted: int = field(init=False)
    _courses: list[_Course] = field(init=False)
    _random: Random = field(init=False)
    _ready_at: float = 0.0
    _free_at: float = 0.0
    _cold: bool = True
    _since: float = 0.0
    """When the first batch on the cores of now ended."""

    def __post_init__(self) -> None:
        """Begin with everything at rest."""
        self.wanted = self.cores
        self._courses = [_Course(query=query) for query in self.queries]
        self._random = Random(self.seed)  # noqa: S311 - noise, not secrets

    def request(self, cores: int) -> None:
        """Ask for cores: more come late, fewer leave at once."""
        if cores != self.wanted:
            self.wanted, self._ready_at = cores, self.now_s + (EXECUTOR_S if cores > self.cores else 1.0)

    def advance(self, to_s: float) -> None:
        """Let time pass."""
        while self.now_s < to_s - 1e-6:
            self.now_s = round(self.now_s + 0.1, 1)
            if self.cores != self.wanted and self.now_s >= self._ready_at:
                self._cold = self.wanted > self.cores
                self.cores, self._since = self.wanted, self.now_s + 1.0
            for course in self._courses:
                self._step(course)

    def _step(self, course: _Course) -> None:
        query = course.query
        course.arrived += 0.1 * query.load(self.now_s)
        if course.under_way and self.now_s >= course.under_way[0]:
            self._end(course, course.under_way[1])
        if course.under_way is None and self.now_s >= course.next_at and int(course.arrived - course.read) > 0:
            self._begin(course)

    def _begin(self, course: _Course) -> None:
        query = course.query
        rows = min(int(course.arrived - course.read), query.limit or 10**12)
        noise = max(0.5, self._random.gauss(1, query.noise))
        stages = len(query.tasks)
        works = [(query.task_ms + query.row_ms * rows / stages) * noise for _ in query.tasks]
        waves_ms = sum(w * -(-p // self.cores) / p for w, p in zip(works, query.tasks, strict=True))
        waves_ms += COLD_MS if self._cold else 0.0
        tasks_from = max(self.now_s + query.batch_ms / 2000, self._free_at)
        self._free_at = tasks_from + waves_ms / 1000
        ends = self._free_at + query.batch_ms / 2000
        batch = MicroBatch(
            query=query.name,
            run_id="r1",
            batch_id=course.batch_id,
            started_at=at(self.now_s),
            duration=timedelta(seconds=ends - self.now_s),
            rows=rows,
            cores=self.cores,
            stages=tuple(
                StageWork(tasks=p, task_time=timedelta(milliseconds=w)) for p, w in zip(query.tasks, works, strict=True)
            ),
            lag=None,
            lag_origin=query.lag_origin,
            interval=None if query.interval_s is None else timedelta(seconds=query.interval_s),
            limit=query.limit,
            state_bytes=query.state_bytes,
            warming=self._cold or self.cores != self.wanted,
            phases={"addBatch": timedelta(seconds=ends - self.now_s - query.batch_ms / 2000)},
        )
        course.under_way, course.waiting = (ends, batch), course.arrived - course.read
        # A batch that overran its interval is followed by the next one at once.
        interval_s = query.interval_s or 0.1
        course.next_at = self.now_s - self.now_s % interval_s + interval_s
        self._cold = False

    def _end(self, course: _Course, batch: MicroBatch) -> None:
        course.read += batch.rows
        course.busy_ms += sum(stage.task_time.total_seconds() * 1000 for stage in batch.stages)
        course.batch_id += 1
        course.left = course.waiting - batch.rows
        course.fit = course.fit.noting(batch)
        course.batch, course.under_way = batch, None
        self.batches.append(batch)
        if batch.warming:
            self._since = self.now_s

    def lag(self, place: int = 0) -> float:
        """Give the rows that wait for a query."""
        return self._courses[place].arrived - self._courses[place].read

    @property
    def topology(self) -> Topology:
        """The application as it runs."""
        vertices, edges = [], []
        for query in self.queries:
            ids = [VertexId(f"{query.name}.{index}") for index in range(len(query.tasks))]
            vertices += [
                Vertex(
                    id=each,
                    name=query.name if len(ids) == 1 else f"{query.name}: {'read' if not i else f'shuffle {i}'}",
                    parallelism=self.cores,
                    max_parallelism=32768,
                    slot_sharing_group="executors",
                )
                for i, each in enumerate(ids)
            ]
            edges += [Edge(source=a, target=b, ship_strategy=ShipStrategy.HASH) for a, b in pairwise(ids)]
        return Topology(vertices=tuple(vertices), edges=tuple(edges))

    def sample(self) -> JobSample:
        """Observe it, as a collector does."""
        vertices = {vertex: sample for course in self._courses for vertex, sample in self._measured(course)}
        longest = max((c.batch.duration.total_seconds() for c in self._courses if c.batch), default=1.0)
        intervals = [query.interval_s or 0.0 for query in self.queries]
        return JobSample(
            job=APPLICATION,
            at=at(self.now_s),
            job_id="app-1",
            running_since=at(self._since),
            topology=self.topology,
            vertices=vertices,
            settings=EngineSettings(
                shared_workers=True,
                slots_per_task_manager=self.cores_each,
                metric_refresh_s=max(longest, *intervals),
            ),
            values={JobMeasure.STATE_SIZE: float(sum(query.state_bytes for query in self.queries))},
        )

    def _measured(self, course: _Course) -> Iterator[tuple[VertexId, VertexSample]]:
        query, batch, costs = course.query, course.batch, course.fit.costs
        if batch is None or batch is course.told:
            return
        course.told = batch
        for index, _ in enumerate(query.tasks):
            values = {
                Measure.NUM_RECORDS_IN: course.read,
                Measure.ACCUMULATED_BUSY_TIME: course.busy_ms,
                Measure.LOAD: batch.duration.total_seconds() / (query.interval_s or batch.duration.total_seconds()),
            }
            if costs is not None:
                stage = costs.stages[index]
                values |= {
                    Measure.TASKS: stage.tasks,
                    Measure.ROW_COST: stage.row_us,
                    Measure.ROW_COST_ERROR: stage.row_error_us,
                    Measure.TASK_OVERHEAD: stage.overhead_ms,
                }
            if index == 0:
                values |= dict(self._of_first(course, batch))
            yield VertexId(f"{query.name}.{index}"), VertexSample(measured_at=batch.started_at, values=values)

    def _of_first(self, course: _Course, batch: MicroBatch) -> Iterator[tuple[Measure, float]]:
        query, costs = course.query, course.fit.costs
        yield Measure.LAG_ORIGIN, float(query.lag_origin)
        if query.lag_origin is not LagOrigin.UNKNOWN:
            yield Measure.LAG, course.left
        yield Measure.BATCH_DURATION, batch.duration.total_seconds() * 1000
        if query.interval_s is not None:
            yield Measure.BATCH_INTERVAL, query.interval_s * 1000
        if query.limit is not None:
            yield Measure.BATCH_LIMIT, float(query.limit)
        if costs is not None:
            yield Measure.BATCH_OVERHEAD, costs.overhead_ms
            yield Measure.BATCH_OVERHEAD_ERROR, costs.overhead_error_ms
            yield Measure.BATCH_ROWS, costs.rows
            if costs.planning_ms is not None:
                yield Measure.BATCH_PLANNING, costs.planning_ms


def watched_application(*queries: SimulatedQuery, cores: int = 2, seconds: int = 40) -> CollectedMetrics:
    """Watch an application for a while, sampled every two seconds from half of it on; one query unless told."""
    application = SimulatedApplication(queries=queries or [SimulatedQuery(load=lambda _: 300.0)], cores=cores)
    samples = []
    for second in range(2, seconds + 1, 2):
        application.advance(second)
        samples.append(application.sample())
    return CollectedMetrics(topology=application.topology, samples=tuple(samples[len(samples) // 2 :]))
