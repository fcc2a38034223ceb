"""
A job of a fake Flink: a graph with exactly known capacities, whose counters advance with a given clock.

Records flow without delay. The slowest vertex holds the whole job back, what it cannot take waits before the source,
and everything upstream of it is back-pressured while it is not busy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_PARALLELISM = 128


class Counted(NamedTuple):
    """What a vertex or one of its subtasks has counted since it started; times in milliseconds."""

    records_in: float = 0.0
    records_out: float = 0.0
    busy_ms: float = 0.0
    idle_ms: float = 0.0
    backpressured_ms: float = 0.0

    def less(self, other: Counted) -> Counted:
        """Give what is left without the other's."""
        return Counted(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


class Failure(NamedTuple):
    """One failure of a job, as it stays in its history."""

    at_ms: int
    stacktrace: str


@dataclass(slots=True, kw_only=True)
class FakeVertex:
    """
    One vertex: what it is, and what it has counted since its tasks started.

    Attributes:
        capacity: records/s that one fully busy subtask does.
        selectivity: records written for each one read, to every output.
        inputs: upstream vertex ids with their ship strategies; a source has none.
        skew: busy time of each subtask relative to the mean; the last entry holds for all further subtasks.
        partitions: partitions that the metric names of a source mention; None for a source without such names.
        has_lag: whether a source has a `pendingRecords` metric.
        metric_prefix: how the names of a source's operator metrics begin.
        has_busy_time: False for a legacy source, which reports the text NaN.
        fetch_bytes: the largest fetch of a Kafka source's consumer; None for a source without such a metric.
        emitted: `currentOffset` of each partition; those that are not named have 0.
        committed: `committedOffset` of each partition.
        assigned: partitions of each subtask that tells of them, as `assigned-partitions`; None: none does.
        connections: of a Kafka source's consumer; None for a source without such a metric.
    """

    id: str
    name: str
    parallelism: int = 1
    max_parallelism: int = MAX_PARALLELISM
    capacity: float = 1_000.0
    selectivity: float = 1.0
    inputs: Mapping[str, str] = field(default_factory=dict)
    skew: Sequence[float] = (1.0,)
    partitions: int | None = None
    has_lag: bool = True
    metric_prefix: str = "Source__"
    has_busy_time: bool = True
    fetch_bytes: float | None = None
    emitted: Sequence[float] = ()
    committed: Sequence[float] = ()
    assigned: Sequence[float] | None = None
    connections: float | None = None
    finished: bool = False
    records_in: float = 0.0
    records_out: float = 0.0
    busy_ms: float = 0.0
    idle_ms: float = 0.0
    backpressured_ms: float = 0.0
    started_at_ms: int = 0
    lower_bound: int = 1
    upper_bound: int | None = None
    """None stands for the parallelism."""
    lost: dict[int, Counted] = field(default_factory=dict)
    """What subtasks had counted that have started anew since, the others running on."""

    @property
    def is_source(self) -> bool:
        """Tell whether it reads from outside."""
        return not self.inputs

    @property
    def limit(self) -> float:
        """Records/s that all subtasks together can do."""
        return self.capacity * self.parallelism

    def start(self, at_ms: int) -> None:
        """Deploy new tasks, which count from zero."""
        self.records_in = self.records_out = 0.0
        self.busy_ms = self.idle_ms = self.backpressured_ms = 0.0
        self.started_at_ms = at_ms
        self.lost.clear()

    def restart_subtask(self, index: int) -> None:
        """Let one subtask count from zero again, as after a failure that leaves the others alone."""
        self.lost[index] = self._ever(index)

    def counted(self) -> Counted:
        """Give what the running subtasks have counted together."""
        whole = Counted(self.records_in, self.records_out, self.busy_ms, self.idle_ms, self.backpressured_ms)
        for gone in self.lost.values():
            whole = whole.less(gone)
        return whole

    def subtask(self, index: int) -> Counted:
        """Give what one subtask has counted; its three times add up to its running time."""
        return self._ever(index).less(self.lost.get(index, Counted()))

    def run(self, rate: float, seconds: float, *, backpressured: bool) -> None:
        """Take `rate` records/s for a while; the rest of the time is idle or back-pressured."""
        self.records_in += rate * seconds
        self.records_out += rate * self.selectivity * seconds
        busy_ms = rate / self.capacity * seconds * 1000
        rest_ms = max(0.0, self.parallelism * seconds * 1000 - busy_ms)
        self.busy_ms += busy_ms
        if backpressured:
            self.backpressured_ms += rest_ms
        else:
            self.idle_ms += rest_ms

    def _ever(self, index: int) -> Counted:
        """Give what a subtask would have counted if it had never started anew."""
        total_ms = (self.busy_ms + self.idle_ms + self.backpressured_ms) / self.parallelism
        busy_ms = min(total_ms, self.busy_ms / self.parallelism * self.skew[min(index, len(self.skew) - 1)])
        blocked_ms = min(self.backpressured_ms / self.parallelism, total_ms - busy_ms)
        read, written = self.records_in / self.parallelism, self.records_out / self.parallelism
        return Counted(read, written, busy_ms, total_ms - busy_ms - blocked_ms, blocked_ms)


@dataclass(slots=True, kw_only=True)
class FakeJob:
    """
    A job: its graph in topological order, and the load on its sources.

    Attributes:
        rate: records/s that arrive at each source; change it at any time.
        pending: records waiting before each source.
        rescale_delay_s: time between a request for another parallelism and the restart of all tasks.
        checkpoint_interval_ms: None for a job without checkpoints.
    """

    job_id: str
    name: str
    vertices: list[FakeVertex]
    rate: float = 500.0
    pending: float = 0.0
    state: str = "RUNNING"
    scheduler: str | None = "Adaptive"
    rescale_delay_s: float = 0.0
    checkpoint_interval_ms: int | None = 10_000
    submitted_at_ms: int = 0
    running_since_ms: int = 0
    now_ms: int = 0
    tasks_missing: int = 0
    """Tasks that are not running yet, in the job list's counts."""
    failures: list[Failure] = field(default_factory=list)
    restarts: int = 0
    """Since it was submitted, rescales included."""
    _rescale_at_ms: int | None = None

    def __getitem__(self, vertex: str) -> FakeVertex:
        """Give the vertex of that id or name."""
        return next(each for each in self.vertices if vertex in {each.id, each.name})

    def start(self, at_ms: int) -> None:
        """Start, or restart: all counters begin at zero."""
        self.submitted_at_ms = self.submitted_at_ms or at_ms
        self.running_since_ms = self.now_ms = at_ms
        for vertex in self.vertices:
            vertex.start(at_ms)

    def fail(self, stacktrace: str) -> None:
        """Let all tasks fail now, and start anew at once."""
        self.failures.append(Failure(self.now_ms, stacktrace))
        self.restarts += 1
        self.start(self.now_ms)

    def advance_to(self, at_ms: int) -> None:
        """Let the job run up to an instant, through a rescale that falls due before it."""
        while self._rescale_at_ms is not None and self._rescale_at_ms <= at_ms:
            due, self._rescale_at_ms = self._rescale_at_ms, None
            self._run_to(due)
            self._rescale(due)
        self._run_to(at_ms)

    def request(self, bounds: Mapping[str, tuple[int, int]]) -> None:
        """Ask for other bounds of the parallelism; the change comes after the delay."""
        for vertex in self.vertices:
            vertex.lower_bound, vertex.upper_bound = bounds[vertex.id]
        if any(vertex.upper_bound != vertex.parallelism for vertex in self.vertices):
            self._rescale_at_ms = self.now_ms + round(self.rescale_delay_s * 1000)

    def rates(self) -> dict[str, float]:
        """Give the records/s that each vertex takes at present."""
        demands = self._demands(1.0)
        most = min((self[v].limit / demand for v, demand in demands.items() if demand > 0), default=0.0)
        taken = most if self.pending > 0 else min(self.rate, most)
        return {vertex: demand * taken for vertex, demand in demands.items()}

    def blocked(self) -> set[str]:
        """Name the vertices that are back-pressured at present."""
        return self._blocked(self.rates())

    def _demands(self, rate: float) -> dict[str, float]:
        """Give what reaches each vertex when every source takes `rate` records/s."""
        reaching: dict[str, float] = {}
        for vertex in self.vertices:
            flows = (reaching[source] * self[source].selectivity for source in vertex.inputs)
            reaching[vertex.id] = (0.0 if vertex.finished else rate) if vertex.is_source else sum(flows)
        return reaching

    def _run_to(self, at_ms: int) -> None:
        while at_ms > self.now_ms and self.state == "RUNNING":
            self._run((at_ms - self.now_ms) / 1000)
        self.now_ms = max(self.now_ms, at_ms)

    def _run(self, seconds: float) -> None:
        """Run until then, or until the waiting records are gone, whichever is first."""
        rates = self.rates()
        drained = next((rates[vertex.id] for vertex in self.vertices if vertex.is_source), 0.0) - self.rate
        if self.pending > 0 and drained > 0:
            seconds = min(seconds, max(self.pending / drained, 0.001))
        blocked = self._blocked(rates)
        for vertex in self.vertices:
            if not vertex.finished:
                vertex.run(rates[vertex.id], seconds, backpressured=vertex.id in blocked)
        self.pending = max(0.0, self.pending - drained * seconds)
        self.now_ms += max(1, round(seconds * 1000))

    def _blocked(self, rates: Mapping[str, float]) -> set[str]:
        """Name the vertices upstream of one that is fully busy."""
        blocked: set[str] = set()
        for vertex in reversed(self.vertices):
            if vertex.id in blocked or rates[vertex.id] >= vertex.limit * (1 - 1e-9):
                blocked |= set(vertex.inputs)
        return blocked

    def _rescale(self, at_ms: int) -> None:
        for vertex in self.vertices:
            vertex.parallelism = vertex.upper_bound or vertex.parallelism
        self.restarts += 1
        self.start(at_ms)


def chain(
    *,
    job_id: str,
    name: str,
    vertices: int,
    rate: float = 500.0,
    parallelism: int = 1,
    partitions: int | None = 8,
) -> FakeJob:
    """Make a job of a source and a chain of equal vertices behind it; without `partitions` it does not read Kafka."""
    ids = [f"{job_id[:16]}{index:016x}" for index in range(vertices)]
    stages = [
        FakeVertex(
            id=vertex,
            name="Source: source" if index == 0 else f"stage-{index}",
            parallelism=parallelism,
            inputs={ids[index - 1]: "HASH"} if index else {},
            partitions=None if index else partitions,
        )
        for index, vertex in enumerate(ids)
    ]
    return FakeJob(job_id=job_id, name=name, vertices=stages, rate=rate)
