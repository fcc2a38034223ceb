"""What the collector remembers of a job between two samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headgate.algorithm.observed import Observations
from headgate.engines.flink.backlog import BacklogMemory
from headgate.engines.flink.counters import Counters
from headgate.engines.flink.look import Seen
from headgate.engines.flink.source import KnownNames
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure
from headgate.model.topology import Edge, Topology, Vertex


@dataclass(slots=True, kw_only=True)
class VertexMemory:
    """The latest look at a vertex, and the names of its metrics."""

    seen: Seen | None = None
    subtasks: Mapping[int, Counters] = field(default_factory=dict)
    names: KnownNames | None = None
    backlog: BacklogMemory = field(default_factory=BacklogMemory)
    _observations: Observations | None = None

    def observations(self, running_since: datetime) -> Observations:
        """Give what was observed of a source in this run of its job; nothing at first."""
        if self._observations is None or self._observations.running_since != running_since:
            self._observations = Observations(running_since=running_since)
        return self._observations


@dataclass(slots=True, kw_only=True)
class JobMemory:
    """One submission of a job; another job id begins a new one."""

    job_id: str
    vertices: dict[VertexId, VertexMemory] = field(default_factory=dict)
    checkpoint_interval_s: float | None = None
    settings_at: datetime | None = None
    """When the checkpoint interval was last asked for."""
    checkpoints_due: datetime | None = None
    """When the checkpoints are to be asked about next."""
    state_bytes: float | None = None
    whole_run_ms: int | None = None
    """Begin of the latest run in which all tasks were seen running, by the JobManager's clock like the next."""
    whole_at_ms: int | None = None
    """The latest look at it."""
    downtime_s: float | None = None
    """For how long the job stood still before that run."""
    _topology: Topology | None = None
    _parts: tuple[tuple[Vertex, ...], tuple[Edge, ...]] = ((), ())

    def vertex(self, vertex: VertexId) -> VertexMemory:
        """Give what is remembered of a vertex; nothing at first."""
        return self.vertices.setdefault(vertex, VertexMemory())

    def of_sources(self, sources: Iterable[VertexId], *, declared: bool) -> Mapping[JobMeasure, float]:
        """
        Return where the lag of the least known source is known from, and whether one of them is cut off.

        Also whether one reads Kafka, unless its brokers are `declared`.
        """
        memories = [self.vertex(source) for source in sources]
        known = [memory.backlog for memory in memories]
        origins = [one.origin for one in known if one.origin is not None]
        outages = [one.outage.kind for one in known if one.outage.kind is not None]
        told: dict[JobMeasure, float] = {}
        if origins:
            told[JobMeasure.LAG_ORIGIN] = float(min(origins, key=lambda origin: (origin.is_sure, origin)))
        if outages:
            told[JobMeasure.OUTAGE] = float(outages[0])
        if not declared and any(memory.names is not None and memory.names.names.kafka for memory in memories):
            told[JobMeasure.BROKERS_UNKNOWN] = 1.0
        return told

    def topology(self, vertices: tuple[Vertex, ...], edges: tuple[Edge, ...]) -> Topology:
        """Give the graph of these parts; the same parts give the same object, since sorting it costs."""
        parts = (vertices, edges)
        if self._topology is None or parts != self._parts:
            self._topology, self._parts = Topology(vertices=vertices, edges=edges), parts
        return self._topology
