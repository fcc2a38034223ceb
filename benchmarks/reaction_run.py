"""The policies, and what is counted of the ten jobs of a cluster under one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import fmean

from benchmarks.reaction_jobs import (
    JOBS_A_CLUSTER,
    LARGEST,
    TARGET,
    RandomCluster,
    calm_job,
    random_cluster,
    random_job,
)
from benchmarks.reaction_loads import DURATION
from benchmarks.reaction_results import CalmRow, Row
from headgate.engines.simulated.graph import SimulatedJob
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.simulate import Scenario, Simulation
from headgate.simulate.recording import JobRun
from headgate.simulate.simulation import Progress
from headgate.simulate.summary import summarise

FAST = "fast"
WINDOWS: Mapping[str, timedelta] = {f"windowed-{minutes}": timedelta(minutes=minutes) for minutes in (1, 3, 15)}
POLICIES = (FAST, *WINDOWS)
FAST_WINDOW = timedelta(minutes=5)
"""What vertices can do is measured over it; how far back the input is looked at has a bound of its own."""
_COMMON = AutoscalerOptions(
    metrics_window=FAST_WINDOW,
    # the model of a job is as fast as ever from its first second on: whoever waits only loses
    stabilization_interval=timedelta(seconds=10),
    restart_time=timedelta(seconds=30),
    utilization_target=TARGET,
    utilization_boundary=0.1,
    max_parallelism=LARGEST,
)
_LOOK = timedelta(seconds=2)
"""How often lag is looked at."""
_LEAST_RATE = 0.1
"""Of the mean rate: the lag of what hardly comes is not blown up."""
_DAY = timedelta(days=1)


class _Watched(Simulation):
    """Takes more frames than samples: some restarts are shorter than what lies between those."""

    async def _advance_to(self, at: timedelta, progress: Progress) -> None:
        for look in range(1, at // _LOOK + 1):
            await super()._advance_to(look * _LOOK, progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one process measures in one go."""

    seed: int
    cluster: int
    policy: str

    @property
    def numbers(self) -> range:
        """Give the numbers of its jobs."""
        return range(self.cluster * JOBS_A_CLUSTER, (self.cluster + 1) * JOBS_A_CLUSTER)


def options_of(policy: str) -> AutoscalerOptions:
    """
    Give the options of a policy.

    A window may shrink a job as soon as it shows a lower load, and all the way: with the defaults, an hour's wait and
    60 % at a time, it would need far more workers.
    """
    if policy == FAST:
        return replace(_COMMON, reaction=Reaction.FAST)
    return replace(
        _COMMON,
        metrics_window=WINDOWS[policy],
        reaction=Reaction.WINDOWED,
        scale_down_interval=timedelta(),
        scale_down_max_factor=1.0,
    )


def measured(part: Part) -> list[Row]:
    """Run the jobs of one cluster under one policy."""
    jobs = {job.spec.name: (number, job) for number in part.numbers for job in (random_job(part.seed, number),)}
    cluster = random_cluster(part.seed, part.cluster)
    scenario = _scenario(part, cluster, [job.spec for _, job in jobs.values()], DURATION)
    rows = []
    for name, run in _Watched(scenario).run().jobs.items():
        number, job = jobs[name]
        summary, lags = summarise(run, scenario), list(_lags_s(run, job.spec))
        rows.append(
            Row(
                job=number,
                policy=part.policy,
                course=job.course,
                arrivals=job.kind.name,
                quick=cluster.quick,
                lag_s=round(sum(lag_s * lasts_s for lag_s, lasts_s in lags), 1),
                peak_lag_s=round(max(lag_s for lag_s, _ in lags), 1),
                worker_s=round(summary.slot_seconds),
                least_s=round(summary.least_slot_seconds),
                rescales=summary.rescales,
                turns=summary.oscillations,
            )
        )
    return rows


def measured_calm(part: Part) -> list[CalmRow]:
    """Run jobs of a constant load for a day."""
    cluster = random_cluster(part.seed, part.cluster)
    jobs = {job.name: number for number in part.numbers for job in (calm_job(part.seed, number),)}
    simulation = Simulation(_scenario(part, cluster, [calm_job(part.seed, number) for number in part.numbers], _DAY))
    for hour in range(1, 25):
        simulation.advance_to(timedelta(hours=hour))
        # a day of them would need gigabytes
        simulation.decisions.clear()
        simulation._recorder.frames.clear()
    return [
        CalmRow(job=jobs[name], policy=part.policy, quick=cluster.quick, rescales=len(job.restarts))
        for name, job in simulation.cluster.jobs.items()
    ]


def _scenario(part: Part, cluster: RandomCluster, jobs: Sequence[SimulatedJob], duration: timedelta) -> Scenario:
    return Scenario(
        jobs=tuple(jobs),
        cluster=cluster.settings,
        duration=duration,
        seed=part.seed,
        measurement_noise=cluster.measurement_noise,
        collect_interval=cluster.collect,
        decide_interval=cluster.decide,
        autoscaler=options_of(part.policy),
    )


def _lags_s(run: JobRun, job: SimulatedJob) -> Iterator[tuple[float, float]]:
    """Give the lag as time of what comes in, its noise aside, and how long it lasted."""
    rates = [sum(each.load.rate_per_s(frame.at_s) for each in job.vertices) for frame in run.frames]
    least = _LEAST_RATE * fmean(rates)
    for frame, rate in zip(run.frames, rates, strict=True):
        yield frame.lag / max(rate, least), frame.span_s
