"""A service's log and store in a temporary folder, filled by a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.algorithm.decide import decide, not_ready
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.overview.fleet import look
from headgate.overview.row import Glance
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.stores.sql import SqlStateStore
from headgate.testing.builders import ORDERS, at, chain, evaluated, sample

GRAPH = chain({"source": 2, "agg": 4})
INTERVAL = timedelta(seconds=30)


def decided(
    second: float, *, job: JobKey = ORDERS, factor: float = 1.0, lag: float = 0.0, load: float = 0.5, most: int = 200
) -> Decision:
    """Decide on a job whose `agg` needs `factor` times its capacity, and whose source has a lag, at 100 records/s."""
    known = evaluated(GRAPH, {"agg": factor})
    options = AutoscalerOptions(max_parallelism=most)
    return decide(sample(GRAPH, job=job), _measured(known, lag, load), options, at(second))


def made(second: float, *, job: JobKey = ORDERS) -> Decision:
    """Decide on a rescale of `agg`, and make it."""
    return replace(decided(second, job=job, factor=3.0), acts=True, reason=Reason.RESCALED)


def waiting(second: float, reason: Reason, message: str = "so it is", *, job: JobKey = ORDERS) -> Decision:
    """Decide nothing, for a reason."""
    return not_ready(job, NotReady(reason=reason, message=message), at(second))


def kept(second: float, reason: Reason, message: str = "so it is", *, job: JobKey = ORDERS) -> Decision:
    """Decide to keep all as it is, for a reason."""
    return replace(decided(second, job=job), outcome=Outcome.KEEP, reason=reason, message=message)


def _measured(known: EvaluatedMetrics, lag: float, load: float) -> EvaluatedMetrics:
    told: Mapping[str, Mapping[ScalingMetric, float]] = {
        "source": {ScalingMetric.LAG: lag, ScalingMetric.TARGET_DATA_RATE: 100.0, ScalingMetric.LOAD: load / 2},
        "agg": {ScalingMetric.LOAD: load},
    }
    vertices = {
        vertex: replace(metrics, metrics={**metrics.metrics, **told[vertex]})
        for vertex, metrics in known.vertices.items()
    }
    return replace(known, vertices=vertices)


@dataclass(kw_only=True)
class Service:
    """What a service leaves behind, to be looked at."""

    root: Path
    store: SqlStateStore
    logs: dict[str, SampleLog] = field(default_factory=dict)

    @property
    def reader(self) -> LogReader:
        """Read its log anew."""
        return LogReader(self.root / "log")

    def decides(self, *decisions: Decision, process: str = "0") -> None:
        """Keep the decisions of one tick, as one of its processes does."""
        self.logs.setdefault(process, SampleLog(self.root / "log", shard=process)).append_decisions(decisions)

    def remembers(self, state: JobState, job: JobKey = ORDERS) -> None:
        """Save a job's state."""
        self.store.save(job, state, self.store.load(job).version)

    def at_a_glance(self, second: float) -> Glance:
        """Look at all jobs, so many seconds into the story."""
        return look(self.reader, self.store, at(second), interval=INTERVAL)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open an empty one, its store on SQLite."""
    store = SqlStateStore(f"sqlite:///{tmp_path}/headgate.db")
    yield Service(root=tmp_path, store=store)
    store.close()
