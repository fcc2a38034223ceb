"""What is simulated, all of it, as one value; `reading` makes it of a file, `building` helps to write it in code."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from headgate.engines.simulated.failures import Failure, RandomFailures
from headgate.engines.simulated.graph import SimulatedJob
from headgate.engines.simulated.settings import ClusterSettings
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.bounds import Interval
from headgate.options.declaration import LEGACY_PREFIX, PREFIX, Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Options):
    """
    Jobs on a cluster, what arrives and what goes wrong, and the options of the Headgate that looks after them.

    Raises:
        ValueError: two jobs have the same name, or a failure names a job or a vertex that is not there.
    """

    jobs: tuple[SimulatedJob, ...] = option("jobs")
    """What runs on the cluster."""

    cluster: ClusterSettings = option("cluster", default_factory=ClusterSettings)
    """The cluster that it runs on."""

    failures: tuple[Failure, ...] = option("failures", ())
    """What goes wrong at given times."""

    random_failures: tuple[RandomFailures, ...] = option("random-failures", ())
    """What goes wrong at times that follow from the seed."""

    duration: PositiveDuration = option("duration", timedelta(hours=1))
    """How long is simulated."""

    seed: int = option("seed", 0)
    """Fixes all noise and every random failure."""

    step: PositiveDuration = option("step", timedelta(seconds=1))
    """Step of the model: shorter is finer, and slower."""

    measurement_noise: Annotated[float, Interval(ge=0)] = option("measurement-noise", 0.0)
    """Standard deviation of measured busy time and lag, as a share of them."""

    collect_interval: PositiveDuration = option("collect.interval", timedelta(seconds=10))
    """How often samples are taken."""

    decide_interval: PositiveDuration = option("decide.interval", timedelta(seconds=30))
    """How often jobs are evaluated and decided."""

    lag_threshold: timedelta = option("lag-threshold", timedelta(seconds=60))
    """Lag, as time of what arrives, from which the summary counts a job as late."""

    autoscaler: AutoscalerOptions = option(
        PREFIX[:-1], default_factory=AutoscalerOptions, aliases=(LEGACY_PREFIX[:-1],)
    )
    """Options of all jobs."""

    def __post_init__(self) -> None:
        """Refuse what names nothing."""
        jobs = {job.name: {vertex.name for vertex in job.vertices} for job in self.jobs}
        if not jobs or len(jobs) < len(self.jobs):
            message = "jobs must be at least one, each with a name of its own"
            raise ValueError(message)
        for where, failure in [
            *(("failures", failure) for failure in self.failures),
            *(("random-failures", failure) for failure in self.random_failures),
        ]:
            if failure.job and failure.job not in jobs:
                message = f"{where}: there is no job {failure.job!r}, only {', '.join(jobs)}"
                raise ValueError(message)
            known = jobs[failure.job] if failure.job else set().union(*jobs.values())
            if failure.vertex and failure.vertex not in known:
                message = f"{where}: there is no vertex {failure.vertex!r}, only {', '.join(sorted(known))}"
                raise ValueError(message)
