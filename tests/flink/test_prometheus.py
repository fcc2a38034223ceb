"""A real Prometheus that scrapes a real Flink tells the same of a job as Flink itself, before a rescale and after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.flink.conftest import RunJob
from tests.services.flink_reporter.home import reporting, reporting_settings
from tests.services.prometheus import Prometheus, running

from headgate.demo.loadjob import SOURCE, ConstantProfile, LoadJobSpec, Stage
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.engines.prometheus.collector import PrometheusMetricCollector
from headgate.engines.prometheus.server import PrometheusServer
from headgate.errors import TransientError
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, JobStatus, Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.prometheus import PrometheusOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext, MetricCollector

pytestmark = pytest.mark.flink

PATIENCE_S = 120.0
WINDOW = timedelta(seconds=15)
BACKLOG = timedelta(minutes=2)
"""How much is waiting when the job starts."""
TOLERANCE = 0.1
LEAST_PER_S = 200.0
"""What a rate, of records or of busy milliseconds, is compared with at least."""

Observed = Mapping[str, Sequence[VertexSample]]
"""The samples of a window by the vertex's name."""


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the directory where Flink's processes say where they are scraped."""
    return tmp_path_factory.mktemp("targets")


@pytest.fixture(scope="module")
def prometheus(targets: Path) -> Iterator[Prometheus]:
    """Run a Prometheus that scrapes them each second."""
    with running(targets=targets) as started:
        yield started


@pytest.fixture(scope="module")
def cluster(
    prometheus: Prometheus,  # noqa: ARG001 - where there is none, no cluster is started
    runtime: FlinkRuntime,
    targets: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LocalCluster]:
    """Run a cluster whose processes have a reporter."""
    own = reporting(runtime, tmp_path_factory.mktemp("flink") / "home")
    with LocalCluster(runtime=own, task_managers=1, settings={**LAB, **reporting_settings(targets)}) as started:
        yield started


class Pair:
    """Both collectors in front of one job."""

    def __init__(self, ctx: JobContext, collectors: Sequence[MetricCollector], client: FlinkClient) -> None:
        """Look at nothing yet."""
        self.ctx = ctx
        self.latest: list[JobSample] = []
        self._collectors = collectors
        self._client = client

    async def rescale(self, parallelism: int) -> None:
        """Change all vertices."""
        wish = dict.fromkeys(self.latest[0].topology.by_id, parallelism)
        await ResourceRequirementsRealizer({"lab": self._client}).realize_parallelism_overrides(self.ctx, wish)

    async def observe(self, parallelism: int) -> Sequence[Observed]:
        """Sample each second, until both have seen all vertices for long enough at this parallelism, and agree."""
        seen: list[dict[str, list[VertexSample]]] = [{}, {}]
        async with asyncio.timeout(PATIENCE_S):
            while not (all(_is_whole(each) for each in seen) and _disagreement(*seen) < TOLERANCE):
                with suppress(TransientError):  # for a moment of a rescale Flink shows no graph
                    await self._look(parallelism, seen)
                await asyncio.sleep(1)
        return seen

    async def _look(self, parallelism: int, seen: Sequence[dict[str, list[VertexSample]]]) -> None:
        at = datetime.now(UTC)
        self.latest = [await one.update_metrics(self.ctx, at) for one in self._collectors]
        for sample, found in zip(self.latest, seen, strict=True):
            if set(sample.topology.parallelism.values()) == {parallelism}:
                _keep(sample, found)


@asynccontextmanager
async def observing(cluster: LocalCluster, prometheus: Prometheus, job_id: str) -> AsyncIterator[Pair]:
    """Put both collectors in front of a job."""
    ctx = JobContext(key=JobKey("lab", "load"), job_id=job_id, status=JobStatus.RUNNING, options=AutoscalerOptions())
    options = PrometheusOptions(url=prometheus.url, scrape_interval=timedelta(seconds=1))
    server = PrometheusServer("lab", options)
    async with FlinkClient(ClusterOptions(name="lab", url=cluster.url)) as client:
        clients = {"lab": client}
        collectors = FlinkMetricCollector(clients), PrometheusMetricCollector(clients, {"lab": server})
        try:
            yield Pair(ctx, collectors, client)
        finally:
            await server.close()


async def test_both_collectors_tell_the_same(cluster: LocalCluster, prometheus: Prometheus, run_job: RunJob) -> None:
    """Graph, start, slots, counts, rates, busy time and lag, across a rescale from one subtask to two."""
    spec = LoadJobSpec(
        profile=ConstantProfile(per_s=400),
        epoch=datetime.now(UTC) - BACKLOG,
        stages=(Stage(name="work", cost_us=4000, keyed=True),),
    )
    async with observing(cluster, prometheus, run_job(spec, 1)) as pair:
        epochs: list[int] = []
        for parallelism in (1, 2):
            rest, scraped = await pair.observe(parallelism)
            _agree(pair)
            lags = [each[SOURCE][-1].values[Measure.LAG] for each in (rest, scraped)]
            assert lags[1] == pytest.approx(lags[0], rel=0.15)
            assert lags[0] > 400 * BACKLOG.total_seconds() / 2
            epochs.append(scraped["work"][0].epoch)
            if parallelism == 1:
                await pair.rescale(2)
        assert epochs[1] > epochs[0]


def _agree(pair: Pair) -> None:
    """Hold together what is not of a vertex."""
    rest, scraped = pair.latest
    assert scraped.topology.fingerprint == rest.topology.fingerprint
    assert scraped.running_since == rest.running_since
    assert (scraped.slots_total, scraped.slots_free) == (rest.slots_total, rest.slots_free)
    assert scraped.values.keys() >= {JobMeasure.HEAP_MAX_USAGE_RATIO, JobMeasure.GC_PRESSURE}


def _disagreement(rest: Observed, scraped: Observed) -> float:
    """
    Give the largest difference of a rate, relative to it, over all vertices.

    Neither looks at the same instants as the other: the longer the window, the less that matters.
    """
    rates = [
        (_rate(rest[name], counter), _rate(scraped[name], counter))
        for name in rest
        for counter in (Measure.NUM_RECORDS_IN, Measure.NUM_RECORDS_OUT, Measure.ACCUMULATED_BUSY_TIME)
    ]
    # a vertex that hardly does anything has a busy time of some milliseconds, and the sink's output none
    return max(abs(one - other) / max(one, other, LEAST_PER_S) for one, other in rates)


def _rate(samples: Sequence[VertexSample], counter: Measure) -> float:
    """Give the growth a second over the window."""
    seconds = (samples[-1].measured_at - samples[0].measured_at).total_seconds()
    return (samples[-1].values[counter] - samples[0].values[counter]) / seconds


def _keep(sample: JobSample, found: dict[str, list[VertexSample]]) -> None:
    """Keep what is of the latest epoch."""
    for vertex, one in sample.vertices.items():
        name = sample.topology.by_id[vertex].name.removeprefix("Source: ")
        kept = found.setdefault(name, [])
        if kept and kept[-1].epoch != one.epoch:
            kept.clear()
        kept.append(one)


def _is_whole(found: Mapping[str, Sequence[VertexSample]]) -> bool:
    lengths = [each[-1].measured_at - each[0].measured_at for each in found.values()]
    return bool(lengths) and min(lengths) >= WINDOW
