"""What changes an application from inside of its driver keeps the contract of a realizer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from headgate.engines.spark.attached.lever import BackendLever
from headgate.engines.spark.realizer import ExecutorsRealizer
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.conformance.scaling_realizer import ScalingRealizerSuite
from headgate.testing.fake_spark_backend import FakeBackend

VERTICES = (VertexId("orders.0"), VertexId("orders.1"))
CORES = 2


class DriverStage:
    """An application of two executors with two cores each, which may have eight cores."""

    def __init__(self) -> None:
        """Let it run."""
        self._backend = FakeBackend(executors=2, cores=CORES)
        self._backend.settings["spark.cores.max"] = "8"
        self.realizer = ExecutorsRealizer(BackendLever(self._backend))
        self.job = JobContext(
            key=JobKey("spark", "orders"),
            job_id="app-1",
            status=JobStatus.RUNNING,
            options=AutoscalerOptions(),
        )
        self.wish, self.impossible = dict.fromkeys(VERTICES, 6), dict.fromkeys(VERTICES, 10)

    def asked(self) -> Mapping[VertexId, int]:
        """Give what the executors that are wanted come to."""
        totals = [int(request.removeprefix("total ")) for request in self._backend.requests if "total" in request]
        return dict.fromkeys(VERTICES, (totals[-1] if totals else 2) * CORES)

    def requests(self) -> int:
        """Count the changes."""
        return len(self._backend.requests)

    async def end_job(self) -> None:
        """Let the driver end."""
        self._backend.failure = NotFoundError("the application has ended")

    async def go_silent(self) -> None:
        """Let the JVM fail."""
        self._backend.failure = UnreachableError("the driver's JVM failed")


class TestExecutorsRealizer(ScalingRealizerSuite):
    """By executors."""

    @pytest.fixture
    def stage(self) -> DriverStage:
        """Let it run."""
        return DriverStage()
