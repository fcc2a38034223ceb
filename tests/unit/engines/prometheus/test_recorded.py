"""A recorded rescale: what a real Flink showed its reporter, as a real Prometheus gave it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.engines.prometheus.conftest import grown

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.numbers import instant
from headgate.engines.prometheus.collector import PrometheusMetricCollector
from headgate.engines.prometheus.server import PrometheusServer
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, JobStatus, Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.prometheus import PrometheusOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_web import FakeWeb, WebAnswer, WebRequest

RECORDING = Path(__file__).parents[3] / "fixtures" / "prometheus" / "rescale.jsonl"


def answering(answers: Mapping[str, Any]) -> Callable[[WebRequest], WebAnswer]:
    """Answer each query as it was answered then."""
    return lambda asked: WebAnswer(text=json.dumps({"status": "success", "data": answers[asked.form["query"]]}))


@pytest.fixture
async def samples() -> AsyncIterator[list[JobSample]]:
    """Sample the job at each moment of the recording."""
    moments = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    job_id = moments[0]["job"]["jid"]
    ctx = JobContext(key=JobKey("lab", "load"), job_id=job_id, status=JobStatus.RUNNING, options=AutoscalerOptions())
    async with FakeFlink() as flink, FakeWeb() as web, FlinkClient(ClusterOptions(name="lab", url=flink.url)) as client:
        server = PrometheusServer("lab", PrometheusOptions(url=web.url, scrape_interval=timedelta(seconds=1)))
        collector = PrometheusMetricCollector({"lab": client}, {"lab": server})
        taken = []
        for moment in moments:
            flink.recorded[f"/jobs/{job_id}"] = moment["job"]
            web.answering = answering(moment["answers"])
            taken.append(await collector.update_metrics(ctx, instant(moment["job"]["now"])))
        yield taken
        await server.close()


def of(sample: JobSample, name: str) -> VertexSample:
    """Give a vertex by its name."""
    (vertex,) = (each for each in sample.topology.vertices if name in each.name)
    return sample.vertices[vertex.id]


def test_one_subtask_does_what_one_can(samples: list[JobSample]) -> None:
    """It is busy all the time, and the source waits for it with a growing lag."""
    before, now = samples[:2]
    work = grown(of(before, "work"), of(now, "work"))
    assert work["records_in"] == pytest.approx(250, rel=0.1)
    assert work["busy_ms"] == pytest.approx(1000, rel=0.05)
    assert of(now, "source").values[Measure.LAG] > of(before, "source").values[Measure.LAG] > 0
    assert grown(of(before, "source"), of(now, "source"))["backpressured_ms"] > 800


def test_two_subtasks_do_what_two_can_in_an_epoch_of_their_own(samples: list[JobSample]) -> None:
    """No difference reaches across the rescale."""
    before, now = samples[2:]
    assert of(before, "work").epoch > of(samples[1], "work").epoch
    assert set(now.topology.parallelism.values()) == {2}
    assert grown(of(before, "work"), of(now, "work"))["records_in"] == pytest.approx(500, rel=0.1)


def test_the_cluster_is_read_too(samples: list[JobSample]) -> None:
    """Two TaskManagers with two slots each, of which the job takes one and then two."""
    assert [(sample.slots_total, sample.slots_free) for sample in (samples[0], samples[3])] == [(4, 3), (4, 2)]
    assert 0 < samples[0].values[JobMeasure.HEAP_MAX_USAGE_RATIO] < 1
    assert samples[0].values.keys() == {
        JobMeasure.GC_PRESSURE,
        JobMeasure.HEAP_MEMORY_USED,
        JobMeasure.HEAP_MAX_USAGE_RATIO,
        JobMeasure.MANAGED_MEMORY_USED,
        JobMeasure.METASPACE_MEMORY_USED,
    }
