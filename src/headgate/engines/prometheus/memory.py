"""What the collector remembers of a job between two samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.engines.flink.memory import JobMemory
from headgate.engines.prometheus.look import ScrapedVertex
from headgate.model.identity import VertexId


@dataclass(slots=True, kw_only=True)
class ScrapedJob(JobMemory):
    """One submission of a job; another job id begins a new one."""

    scraped: dict[VertexId, ScrapedVertex] = field(default_factory=dict)

    partitions: Mapping[VertexId, int] = field(default_factory=dict)
    """How many partitions each source reads that names them."""

    lacks_times: bool = False
    """Whether a vertex had no busy time at the latest tick, so that its load is left to the gauges."""

    def scraped_vertex(self, vertex: VertexId) -> ScrapedVertex:
        """Give what is remembered of a vertex; nothing at first."""
        return self.scraped.setdefault(vertex, ScrapedVertex())
