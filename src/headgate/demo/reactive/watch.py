"""Watches a reactive cluster through Flink's REST interface: its job, and the TaskManagers that there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headgate.demo.loadjob import LoadJobSpec
from headgate.demo.timeline import Observation
from headgate.demo.watch import Watcher
from headgate.engines.flink.local.loopback import call_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The cluster at one instant, as Flink itself tells it."""

    at_s: float
    """Seconds since the first phase began; negative before."""
    workers: int
    """TaskManagers that the JobManager counts."""
    job: Observation | None = None
    """None while it has no running task."""

    @property
    def running(self) -> int:
        """Slots that the job runs in; 0 while it restarts or waits for the first TaskManager."""
        return max(self.job.parallelism.values()) if self.job and self.job.running else 0

    @property
    def lag_records(self) -> float:
        """Records that wait; 0 while nobody can tell."""
        return self.job.lag_records if self.job else 0.0


class ReactiveWatcher:
    """Looks at the cluster of one application, whose job is found when it is there."""

    def __init__(self, url: str, spec: LoadJobSpec, *, ask: Callable[[str], Any] = call_json) -> None:
        """
        Look at nothing yet.

        Args:
            url: the cluster's REST address.
            spec: what the application was started with.
            ask: makes a GET request and returns the JSON; raises `OSError` where there is none.
        """
        self._url, self._spec, self._ask = url, spec, ask
        self._watcher: Watcher | None = None

    def look(self, now: datetime) -> Sight | None:
        """Return what is seen now; none if Flink does not answer."""
        try:
            workers = int(self._ask(f"{self._url}/overview")["taskmanagers"])
            self._find_job()
        except OSError:
            return None
        seen = self._watcher.look(now) if self._watcher else None
        return Sight(at_s=(now - self._spec.epoch).total_seconds(), workers=workers, job=seen)

    def _find_job(self) -> None:
        if self._watcher is None:
            jobs = self._ask(f"{self._url}/jobs/overview")["jobs"]
            self._watcher = Watcher(self._url, jobs[0]["jid"], self._spec, ask=self._ask) if jobs else None
