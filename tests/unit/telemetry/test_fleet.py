"""A scrape takes each job's vertices as a whole: they may be made only when somebody asks, and then all of them."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
from dataclasses import replace

from headgate.algorithm.decide import decide
from headgate.model.decision import Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import VertexMetrics
from headgate.telemetry.board import Board
from headgate.testing.builders import ORDERS, at, chain, context, evaluated, sample

Page = Mapping[str, Mapping[tuple[str, ...], float]]
Scrape = Callable[[Board], Page]


class CountedRows(Mapping[VertexId, VertexMetrics]):
    """Vertices that count how often all of them are made, and are not to be had one by one."""

    def __init__(self, rows: Mapping[VertexId, VertexMetrics]) -> None:
        """Were never asked for."""
        self.rows = rows
        self.reads = 0

    def __len__(self) -> int:
        """Count the vertices."""
        return len(self.rows)

    def __iter__(self) -> Iterator[VertexId]:
        """Yield their ids."""
        return iter(self.rows)

    def __getitem__(self, vertex: VertexId) -> VertexMetrics:
        """Refuse; `in` comes here too."""
        raise AssertionError(vertex)

    def items(self) -> ItemsView[VertexId, VertexMetrics]:
        """Give all of them, and count."""
        self.reads += 1
        return self.rows.items()


def decided(job: JobKey) -> Decision:
    """Decide to grow the last of three vertices."""
    topology = chain(dict.fromkeys(("source", "map", "agg"), 2))
    return decide(sample(topology, job=job), evaluated(topology, {"agg": 4.0}), context(job).options, at(0))


def counted(decision: Decision) -> tuple[Decision, CountedRows]:
    """Give the decision with vertices that count."""
    assert decision.evaluated is not None
    rows = CountedRows(decision.evaluated.vertices)
    return replace(decision, evaluated=replace(decision.evaluated, vertices=rows)), rows


def shown(scrape: Scrape, *decisions: Decision) -> Page:
    """Read what a board shows after one cycle."""
    board = Board()
    board.decided(decisions)
    return scrape(board)


def test_a_jobs_vertices_are_read_once_a_scrape(scrape: Scrape) -> None:
    """Otherwise a scrape grows with the square of a job's vertices; what it shows is the same."""
    plain = [decided(ORDERS), decided(JobKey("prod", "returns"))]
    lazy, rows = zip(*map(counted, plain), strict=True)
    page = shown(scrape, *lazy)
    assert [each.reads for each in rows] == [1, 1]
    assert page == shown(scrape, *plain)
    assert ("prod", "orders", "agg", "agg") in page["headgate_vertex_expected_processing_rate_records_per_second"]
