"""A fake cluster with a sound job, and what the doctor says of it: tests make something sick, and look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headgate.doctor.examination import examine
from headgate.doctor.findings import Finding, Report
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, LogOptions, Mode, Pipeline, ServiceOptions
from headgate.options.serving import MetricsOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A cluster called `local`, with one job called `orders` whose source reads Kafka."""

    server: FakeFlink
    job: FakeJob
    options: ServiceOptions

    async def examined(
        self, *, mode: Mode = Mode.ADVISE, wants: AutoscalerOptions | None = None, **options: Any
    ) -> Mapping[tuple[str, str], Finding]:
        """Give what is found, by what it is about and what was checked."""
        whole = replace(self.options, mode=mode, autoscaler=wants or AutoscalerOptions(), **options)
        return by_check(await examine(whole))

    async def finding(self, check: str, *, mode: Mode = Mode.ADVISE, wants: AutoscalerOptions | None = None) -> Finding:
        """Give what one check finds about the job."""
        return (await self.examined(mode=mode, wants=wants))["local/orders", check]

    def checkpoint(self, *, completed: int, failed: int, last_ms: int | None) -> None:
        """Say how the job's checkpoints went so far."""
        self.server.recorded[f"/jobs/{self.job.job_id}/checkpoints"] = {
            "counts": {"completed": completed, "failed": failed, "in_progress": 0},
            "latest": {"completed": None if last_ms is None else {"latest_ack_timestamp": last_ms}},
        }


@asynccontextmanager
async def sound_patient(directory: Path) -> AsyncIterator[Patient]:
    """
    Serve a cluster that leaves only the addresses of its job's brokers to be desired.

    It is for a Headgate that keeps what it writes in a directory.
    """
    job = chain(job_id="a" * 32, name="orders", vertices=3, rate=10)
    job.vertices[0].fetch_bytes = 8_192.0
    async with FakeFlink([job], wall_clock=True) as server:
        options = ServiceOptions(
            clusters=(ClusterOptions(name="local", url=server.url),),
            pipeline=Pipeline.IN_PROCESS,
            state_store=f"sqlite:///{directory}/headgate.db",
            log=LogOptions(path=str(directory / "log")),
            metrics=MetricsOptions(enabled=False),
        )
        patient = Patient(server=server, job=job, options=options)
        patient.checkpoint(completed=44, failed=1, last_ms=server.now_ms)
        yield patient


def by_check(reports: Iterable[Report]) -> Mapping[tuple[str, str], Finding]:
    """Sort findings by what they are about and what was checked."""
    return {(report.about, finding.check): finding for report in reports for finding in report.findings}
