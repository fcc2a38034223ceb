"""How long a real Flink stands still: one rescale in place and one redeploy, as the collector tells of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.config.jobs import JobSettings
from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec
from headgate.demo.submit import cancel_job, upload_jar
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.testing.load_jobs import two_stages

pytestmark = pytest.mark.flink

LIMIT = timedelta(seconds=120)


class Watching:
    """Looks at the job of a name again and again, as the service does."""

    def __init__(self, client: FlinkClient, name: str) -> None:
        """Look at nothing yet."""
        self._fetcher = FlinkJobListFetcher({"lab": client}, lambda *_: JobSettings(options=AutoscalerOptions()))
        self._collector, self._name = FlinkMetricCollector({"lab": client}), name

    async def until(self, holds: Callable[[JobSample], bool]) -> JobSample:
        """Sample twice a second until something holds."""
        deadline = time.monotonic() + LIMIT.total_seconds()
        while True:
            for job in (await self._fetcher.fetch()).jobs:
                if job.key.name == self._name and job.status is JobStatus.RUNNING:
                    sample = await self._collector.update_metrics(job, datetime.now(UTC))
                    if holds(sample):
                        return sample
            assert time.monotonic() < deadline, "it did not come to hold"
            await asyncio.sleep(0.5)


def _runs_at(sample: JobSample, parallelism: int) -> bool:
    return set(sample.topology.parallelism.values()) == {parallelism}


def _tells(sample: JobSample) -> bool:
    return {JobMeasure.STATE_SIZE, JobMeasure.LAST_DOWNTIME} <= sample.values.keys()


@pytest.mark.long
async def test_a_rescale_in_place_and_a_redeploy_tell_how_long_they_took(
    cluster: LocalCluster, jar: Path, run_job: Callable[[LoadJobSpec, int], str]
) -> None:
    """Held against Flink's own history of the rescale, and against the old job's savepoint and the new one's start."""
    spec = two_stages("downtime")
    job_id = run_job(spec, 1)
    async with FlinkClient(ClusterOptions(name="lab", url=cluster.url)) as client:
        watching = Watching(client, spec.name)
        await watching.until(lambda sample: JobMeasure.STATE_SIZE in sample.values)

        _require(cluster.url, job_id, 2)
        grown = await watching.until(lambda sample: _runs_at(sample, 2) and _tells(sample))
        in_place_s = grown.values[JobMeasure.LAST_DOWNTIME]
        left_ms = _left_executing_ms(cluster.url, job_id)
        assert in_place_s == pytest.approx((_last_start_ms(cluster.url, job_id) - left_ms) / 1000, abs=5.0)

        savepoint, begun_ms = _stop(cluster.url, job_id, cluster.directory)
        order = {"savepointPath": savepoint, "parallelism": 1, "entryClass": ENTRY_CLASS}
        jar_id = upload_jar(cluster.url, jar)
        again = _post(f"{cluster.url}/jars/{jar_id}/run", {**order, "programArgsList": list(spec.arguments())})["jobid"]
        try:
            redeployed = await watching.until(lambda sample: sample.job_id == again and _tells(sample))
            redeploy_s = redeployed.values[JobMeasure.LAST_DOWNTIME]
            assert redeploy_s == pytest.approx((_last_start_ms(cluster.url, again) - begun_ms) / 1000)
        finally:
            cancel_job(cluster.url, again)
    print(f"in place {in_place_s:.2f} s, redeploy {redeploy_s:.2f} s")  # noqa: T201 - shown with -s


def _post(url: str, body: Mapping[str, Any], method: str = "POST") -> Any:
    return call_json(url, method=method, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def _require(url: str, job_id: str, parallelism: int) -> None:
    vertices = call_json(f"{url}/jobs/{job_id}")["vertices"]
    bounds = {each["id"]: {"parallelism": {"lowerBound": 1, "upperBound": parallelism}} for each in vertices}
    _post(f"{url}/jobs/{job_id}/resource-requirements", bounds, "PUT")


def _stop(url: str, job_id: str, directory: Path) -> tuple[str, int]:
    """Stop with a savepoint; give where that is, and when it was begun."""
    order = {"drain": False, "targetDirectory": (directory / "stopped").as_uri()}
    trigger = _post(f"{url}/jobs/{job_id}/stop", order)["request-id"]
    deadline = time.monotonic() + LIMIT.total_seconds()
    while (told := call_json(f"{url}/jobs/{job_id}/savepoints/{trigger}"))["status"]["id"] != "COMPLETED":
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    while int(call_json(f"{url}/jobs/{job_id}")["end-time"]) < 0:
        assert time.monotonic() < deadline, "the job does not end"
        time.sleep(0.1)
    begun = call_json(f"{url}/jobs/{job_id}/checkpoints")["latest"]["savepoint"]["trigger_timestamp"]
    return str(told["operation"]["location"]), int(begun)


def _last_start_ms(url: str, job_id: str) -> int:
    """Give when the last subtask of all began to run."""
    vertices = call_json(f"{url}/jobs/{job_id}")["vertices"]
    times = (call_json(f"{url}/jobs/{job_id}/vertices/{each['id']}/subtasktimes") for each in vertices)
    return max(int(subtask["timestamps"]["RUNNING"]) for told in times for subtask in told["subtasks"])


def _left_executing_ms(url: str, job_id: str) -> int:
    """Give when the scheduler left the old run for the latest rescale, by its own history."""
    newest = max(call_json(f"{url}/jobs/{job_id}/rescales/history"), key=lambda each: int(each["rescaleAttemptId"]))
    details = call_json(f"{url}/jobs/{job_id}/rescales/details/{newest['rescaleUuid']}")
    spans = [span for span in details["schedulerStates"] if span["state"] == "Executing"]
    return min(int(span["leaveTimestampInMillis"]) for span in spans)
