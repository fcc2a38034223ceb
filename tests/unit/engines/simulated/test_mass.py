"""Whatever the graph, the curves and the failures are: no record is lost or made, and no time either."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.curve import ServiceCurve
from headgate.engines.simulated.failures import Failure, FailureKind
from headgate.engines.simulated.graph import SimulatedEdge, SimulatedJob, SimulatedVertex
from headgate.engines.simulated.load import Load
from headgate.engines.simulated.settings import ClusterSettings, Conditions

_CURVES = st.builds(
    ServiceCurve,
    rate=st.floats(10, 1000),
    exponent=st.floats(0.5, 1),
    alpha=st.floats(0, 0.2),
    beta=st.floats(0, 0.01),
)
_FAILURES = st.builds(
    Failure,
    what=st.sampled_from(FailureKind),
    at=st.integers(0, 120).map(lambda at: timedelta(seconds=at)),
    duration=st.integers(0, 60).map(lambda length: timedelta(seconds=length)),
    slots=st.integers(1, 20),
)


@st.composite
def jobs(draw: st.DrawFn) -> SimulatedJob:
    """Draw a graph of five vertices: the second reads the first, each later one up to two of those before it."""
    later = [draw(st.sets(st.integers(0, number - 1), max_size=2)) for number in range(2, 5)]
    inputs: list[set[int]] = [set(), {0}, *later]
    return SimulatedJob(
        vertices=tuple(_vertex(draw, number, is_source=not read) for number, read in enumerate(inputs)),
        edges=tuple(
            SimulatedEdge(source=f"v{upstream}", target=f"v{number}")
            for number, read in enumerate(inputs)
            for upstream in sorted(read)
        ),
    )


def _vertex(draw: st.DrawFn, number: int, *, is_source: bool) -> SimulatedVertex:
    return SimulatedVertex(
        name=f"v{number}",
        curve=draw(_CURVES),
        parallelism=draw(st.integers(1, 12)),
        selectivity=draw(st.floats(0, 3)),
        hot_key_share=0.0 if is_source else draw(st.floats(0, 0.5)),
        partitions=draw(st.none() | st.integers(1, 8)) if is_source else None,
        load=Load(rate=draw(st.floats(0, 2000)), noise=draw(st.floats(0, 0.3)))
        if is_source and number != 1
        else Load(),
    )


@settings(max_examples=20, deadline=None)
@given(job=jobs(), failures=st.lists(_FAILURES, max_size=4), asked=st.integers(1, 30))
def test_nothing_is_lost_or_made(job: SimulatedJob, failures: list[Failure], asked: int) -> None:
    """What arrived was read or waits; what was written was read or waits; time is busy, idle or back-pressured."""
    conditions = Conditions(settings=ClusterSettings(slots=16, checkpoint_interval=timedelta(seconds=20)))
    cluster = SimulatedCluster([job], conditions=conditions, failures=failures)
    cluster.advance_to(60)
    running = {**cluster.jobs, **cluster.gone}[job.name]
    running.require({"v2": asked}, cluster.now_s)
    cluster.advance_to(160)
    tasks = running.tasks
    for task in tasks.values():
        if task.backlog is not None:
            assert task.ledger.arrived == pytest.approx(task.ledger.read + task.lag, abs=1e-3)
        else:
            written = sum(tasks[each.edge.source].ledger.read * each.selectivity for each in task.inputs)
            assert written == pytest.approx(task.ledger.read + task.queued, abs=1e-3)
        tally = task.tally
        whole_ms = tally.run_ms * task.parallelism
        assert tally.busy_ms + tally.idle_ms + tally.backpressured_ms == pytest.approx(whole_ms)
        assert -1e-6 <= tally.coldest_ms <= tally.hottest_ms + 1e-6 <= tally.run_ms + 1e-3
    assert running.slots <= 16
