"""One job under its sine on one cluster, as Flink itself tells of it; nothing of what Headgate measures is used."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headgate.demo.loadjob import SOURCE, LoadJobSpec, SineProfile, Stage
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.providers.folder import end_workers
from headgate.providers.local import FOLDER, LocalProcessesProvider

POLL_S = 0.5
STAGE = "work"
UTILIZATION = 0.7
"""Busy share for which both static arms are sized, and at which both others aim."""
_EMITTED = f"Source__{SOURCE}.emittedRecords"

Sample = list[float]
"""Seconds since the load began, records emitted, TaskManagers, parallelism of the stage, whether all of it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The job and its load."""

    base_per_s: float = 560.0
    amplitude_per_s: float = 504.0
    period_s: float = 160.0
    periods: int = 2
    cost_us: float = 2500.0
    """Of each record, in the one stage."""

    @property
    def duration_s(self) -> float:
        """How long it is looked at."""
        return self.period_s * self.periods

    @property
    def for_peak(self) -> int:
        """Subtasks that the highest load needs."""
        return self._subtasks(self.base_per_s + self.amplitude_per_s)

    @property
    def for_mean(self) -> int:
        """Subtasks that the mean load needs."""
        return self._subtasks(self.base_per_s)

    def _subtasks(self, per_s: float) -> int:
        return math.ceil(round(per_s * self.cost_us / 1e6 / UTILIZATION, 9))

    def rate_per_s(self, at_s: float) -> float:
        """Give the load at an instant."""
        return self.base_per_s + self.amplitude_per_s * math.sin(2 * math.pi * at_s / self.period_s)

    def offered(self, at_s: float) -> float:
        """Give the records that have come by then."""
        swing = self.amplitude_per_s * self.period_s / (2 * math.pi)
        return self.base_per_s * at_s + swing * (1 - math.cos(2 * math.pi * at_s / self.period_s))


def job_of(name: str, setting: Setting, *, epoch: datetime) -> LoadJobSpec:
    """Make the job; its load begins at the epoch."""
    profile = SineProfile(
        base_per_s=setting.base_per_s,
        amplitude_per_s=setting.amplitude_per_s,
        period=timedelta(seconds=setting.period_s),
    )
    stage = Stage(name=STAGE, cost_us=setting.cost_us, keyed=True)
    return LoadJobSpec(stages=(stage,), profile=profile, epoch=epoch, name=name)


@contextmanager
def provided(cluster: LocalCluster, count: int) -> Iterator[None]:
    """Let the provider that Headgate is going to have start so many TaskManagers; all of its own end with it."""
    try:
        if count:
            asyncio.run(LocalProcessesProvider({"directory": str(cluster.directory)}).request(count))
        yield
    finally:
        end_workers(cluster.directory / FOLDER)


def staffed(url: str) -> int:
    """Count the TaskManagers."""
    return int(_ask(f"{url}/overview").get("taskmanagers", 0))


def running_job(url: str) -> Mapping[str, Any] | None:
    """Give the one job that is alive, if all of its tasks run."""
    listed = _ask(f"{url}/jobs/overview").get("jobs", [])
    alive = [job["jid"] for job in listed if job["state"] == "RUNNING"]
    job = _ask(f"{url}/jobs/{alive[0]}") if len(alive) == 1 else {}
    found = job.get("vertices", [])
    return job if found and {vertex["status"] for vertex in found} == {"RUNNING"} else None


class Watch:
    """Looks at the job, whatever its id is by now."""

    def __init__(self, url: str, spec: LoadJobSpec) -> None:
        """Look at nothing yet."""
        self._url, self._epoch = url, spec.epoch
        self._emitted, self._parallelism = 0.0, 0

    def await_epoch(self, ahead: timedelta = timedelta()) -> None:
        """
        Sleep until so long before the load begins.

        Raises:
            TimeoutError: that is over already.
        """
        left_s = -self._now_s() - ahead.total_seconds()
        if left_s < 0:
            message = f"{-left_s:.0f} s too late to wait for the load"
            raise TimeoutError(message)
        time.sleep(left_s)

    def follow(self, duration: timedelta) -> list[Sample]:
        """Take samples from when the load begins until it has gone on for so long."""
        self.await_epoch()
        samples = []
        while (at_s := self._now_s()) < duration.total_seconds():
            samples.append(self._look(at_s))
            time.sleep(max(0.0, POLL_S - (self._now_s() - at_s)))
        return samples

    def _look(self, at_s: float) -> Sample:
        job = running_job(self._url)
        if job is not None:
            vertices = {vertex["name"]: vertex for vertex in job["vertices"]}
            self._parallelism = vertices[STAGE]["parallelism"]
            source = vertices[f"Source: {SOURCE}"]
            self._emitted = self._read(f"{self._url}/jobs/{job['jid']}/vertices/{source['id']}", source["parallelism"])
        seen = self._emitted, float(staffed(self._url)), float(self._parallelism), float(job is not None)
        return [round(at_s, 2), *seen]

    def _read(self, vertex: str, parallelism: int) -> float:
        """Give the source's position; the last known one until all of its subtasks have told theirs."""
        asked = f"subtasks/metrics?agg=sum,avg&subtasks=0-{parallelism - 1}&get={_EMITTED}"
        told = _ask(f"{vertex}/{asked}")
        total, mean = (float(told[0]["sum"]), float(told[0]["avg"])) if told else (0.0, 0.0)
        return total if mean and round(total / mean) == parallelism else self._emitted

    def _now_s(self) -> float:
        return (datetime.now(UTC) - self._epoch).total_seconds()


def _ask(url: str) -> Any:
    try:
        return call_json(url)
    except OSError:  # Flink answers 500 when a job ends while it is looked up
        return {}
