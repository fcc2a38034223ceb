"""A Mill with one job, for the tests: time passes, and files are written, when it is told to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext

from headgate_mill.collector import MillMetricCollector
from headgate_mill.job_list import MillJobListFetcher
from headgate_mill.realizer import MillScalingRealizer

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
RATE, MOST = 300.0, 16


class Mill:
    """A directory with one job `flour` of two stages; a stage for every suite that needs an engine."""

    def __init__(self, directory: Path) -> None:
        """Let the job run for ten seconds."""
        self.directory = directory
        parameters = {"directory": str(directory)}
        self.fetcher = MillJobListFetcher(parameters)
        self.collector = MillMetricCollector(parameters)
        self.realizer = MillScalingRealizer(parameters)
        self.job = JobContext(
            key=JobKey("mill", "flour"), job_id="run-1", status=JobStatus.RUNNING, options=AutoscalerOptions()
        )
        self.jobs = [self.job]
        self.wish = {VertexId("grind"): 4}
        self.impossible = {VertexId("grind"): MOST + 1}
        self.parallelism = {"fetch": 1, "grind": 2}
        self._seconds = 10.0
        self.write()

    def write(self) -> None:
        """Write what the job does."""
        status = {
            "job_id": "run-1",
            "state": "RUNNING",
            "started_at": START,
            "written_at": START + self._seconds,
            "stages": [self._stage("fetch", []), self._stage("grind", ["fetch"])],
        }
        self._path("status").write_text(json.dumps(status))

    def asked(self) -> Mapping[VertexId, int]:
        """Give what is wished of each stage."""
        wished = {**self.parallelism, **self._wishes().get("parallelism", {})}
        return {VertexId(name): count for name, count in wished.items()}

    def requests(self) -> int:
        """Count the wishes."""
        return int(self._wishes().get("number", 0))

    async def pass_time(self) -> timedelta:
        """Let the job write again, five seconds later."""
        self._seconds += 5
        self.write()
        return timedelta(seconds=5)

    async def start_twin(self) -> None:
        """Start none: a name is a file."""

    async def end_job(self) -> None:
        """Take the job's file away."""
        self._path("status").unlink()

    async def go_silent(self) -> None:
        """Let the directory be gone, as when it is not mounted."""
        self.directory.rename(self.directory.with_name("unmounted"))

    def _stage(self, name: str, inputs: list[str]) -> dict[str, Any]:
        count = RATE * self._seconds
        lag = {} if inputs else {"lag": 0}
        return {
            "name": name,
            "inputs": inputs,
            "keyed": bool(inputs),
            "parallelism": self.parallelism[name],
            "most": MOST,
            "records_in": count,
            "records_out": count,
            "busy_ms": 600 * self._seconds,
            **lag,
        }

    def _wishes(self) -> Any:
        path = self._path("wishes")
        return json.loads(path.read_text()) if path.exists() else {}

    def _path(self, kind: str) -> Path:
        return self.directory / f"flour.{kind}.json"
