"""A simulated cluster under the hand of the suites: what collector, realizer and job list are tested in front of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.collector import SimulatedMetricCollector
from headgate.engines.simulated.failures import Failure, FailureKind
from headgate.engines.simulated.jobs import SimulatedJobListFetcher
from headgate.engines.simulated.realizer import SimulatedScalingRealizer
from headgate.engines.simulated.settings import ClusterSettings, Conditions
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.simulate import constant, job, vertex

REFRESH = timedelta(seconds=10)
SILENCE = timedelta(hours=1)
OPTIONS = AutoscalerOptions()


class SimulatedStage:
    """One simulated cluster with equal jobs, which falls silent after an hour of its own clock."""

    def __init__(self, jobs: int = 1) -> None:
        """Submit the jobs, and let them run for a minute."""
        pipes = [
            job(f"pipe-{n}", vertex("source", 1000, load=constant(300)), vertex("count", 200)) for n in range(jobs)
        ]
        silence = Failure(what=FailureKind.CLUSTER, at=SILENCE, duration=SILENCE)
        conditions = Conditions(settings=ClusterSettings(metric_refresh=REFRESH))
        self.cluster = SimulatedCluster(pipes, conditions=conditions, failures=[silence])
        self.cluster.advance_to(60)
        self.collector = SimulatedMetricCollector(self.cluster)
        self.realizer = SimulatedScalingRealizer(self.cluster)
        self.fetcher = SimulatedJobListFetcher(self.cluster, lambda _: OPTIONS)
        self.jobs = [
            JobContext(
                key=JobKey(self.cluster.name, name), job_id=one.job_id, status=JobStatus.RUNNING, options=OPTIONS
            )
            for name, one in self.cluster.jobs.items()
        ]
        self.job = self.jobs[0]
        self.wish = {VertexId("count"): 4}
        self.impossible = {VertexId("count"): 129}
        self._running = self.cluster.jobs["pipe-0"]
        self._asked = 0

    def fetcher_with(self, options: AutoscalerOptions) -> SimulatedJobListFetcher:
        """Give a job list whose jobs have other options."""
        return SimulatedJobListFetcher(self.cluster, lambda _: options)

    def asked(self) -> Mapping[VertexId, int]:
        """Give what the engine wants for each vertex."""
        return {VertexId(name): wanted for name, wanted in self._running.required.items()}

    def requests(self) -> int:
        """Count the changes of what the engine wants; at most one is made in these tests between two looks."""
        return int(self.asked() != dict.fromkeys(self.asked(), 1))

    async def pass_time(self) -> timedelta:
        """Let the engine measure once more."""
        self.cluster.advance_to(self.cluster.now_s + REFRESH.total_seconds())
        return REFRESH

    async def start_twin(self) -> str | None:
        """Start none: names are unique here."""
        return None

    async def end_job(self) -> None:
        """Take the first job away."""
        self.cluster.gone["pipe-0"] = self.cluster.jobs.pop("pipe-0")

    async def go_silent(self) -> None:
        """Wait for the silence."""
        self.cluster.advance_to(SILENCE.total_seconds() + 1)
