"""Hypothesis strategies for jobs that do not work at some parallelisms, and what tells whether one is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hypothesis import strategies as st

from headgate.engines.simulated.sickness import Memory, Sickness, SicknessKind
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.rollback import ParallelismBound, Side
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackOptions
from headgate.simulate import Load, Scenario, SimulatedJob, SimulatedVertex, job, steps, vertex
from headgate.testing.simulated import STEADY, seconds, steadily
from headgate.testing.watched import Request, WatchedSimulation

COUNT = VertexId("count")
"""The vertex whose parallelism changes, and makes the job sick."""

LENGTH = timedelta(minutes=9)
"""Time for two rescales, a verdict, a rollback, and to see what the job is like after it."""

QUICK = replace(
    STEADY,
    alignment_mode="OFF",
    utilization_boundary=0.02,
    rollback=RollbackOptions(
        observation=timedelta(minutes=4),
        pressure_after=timedelta(seconds=20),
        never_running=timedelta(seconds=60),
        not_reached=timedelta(minutes=2),
    ),
)
"""Short limits, and the usual pause after a rollback: until the cluster is restarted, which it never is."""

_RATE = 100.0
"""Records/s of one subtask."""
_MOST = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Sickly:
    """A job that is well where it begins."""

    job: SimulatedJob
    began: int
    """The parallelism of `count` to begin with."""
    wanted: int
    """The one that its load asks for in the end."""

    def is_sick_at(self, count: int) -> bool:
        """Tell whether a parallelism of `count` makes it sick."""
        return any(sickness.strikes({"count": count}, Memory()) for sickness in self.job.sicknesses)

    def scenario(self, options: AutoscalerOptions = QUICK, *, duration: timedelta = LENGTH) -> Scenario:
        """Put it on a cluster that is quick to rescale and to restart."""
        scenario = steadily(self.job, autoscaler=options, duration=duration)
        restart = replace(scenario.cluster.restart, retry_delay_max=timedelta(seconds=10))
        return replace(scenario, cluster=replace(scenario.cluster, restart=restart))


@st.composite
def sickly_jobs(draw: st.DrawFn, *, falls_ill: bool = False) -> Sickly:
    """
    Draw a job with a region in which it is sick, and a load that leads it there, past it, or nowhere near it.

    Where it is to fall ill, its load is steady and asks for a parallelism within the region.
    """
    sickness = draw(_sicknesses())
    sick = [count for count in range(1, _MOST + 1) if sickness.strikes({"count": count}, Memory())]
    well = [count for count in range(1, _MOST + 1) if count not in sick]
    began = draw(st.sampled_from(well))
    wanted = draw(st.sampled_from(sick if falls_ill else range(1, _MOST + 1)))
    first = wanted if falls_ill else draw(st.integers(1, _MOST))
    made = job("job", vertex("source", 1e5, load=draw(_loads(first, wanted))), count_at(began), sicknesses=[sickness])
    return Sickly(job=made, began=began, wanted=wanted)


def count_at(parallelism: int) -> SimulatedVertex:
    """Make the vertex that gets sick."""
    return vertex("count", _RATE, parallelism=parallelism)


@st.composite
def _sicknesses(draw: st.DrawFn) -> Sickness:
    """Draw a region that leaves room beside it: beyond one of its ends for want of memory, else between two."""
    what = draw(st.sampled_from(SicknessKind))
    if what is SicknessKind.NETWORK_MEMORY:
        return Sickness(what=what, vertex="count", least=draw(st.integers(2, _MOST)))
    if what is SicknessKind.MEMORY_PRESSURE:
        return Sickness(what=what, vertex="count", most=draw(st.integers(1, _MOST - 1)))
    least = draw(st.integers(1, _MOST - 1))
    most = draw(st.integers(least, _MOST - 1))
    after = draw(st.sampled_from([timedelta(), timedelta(seconds=15)]))
    return Sickness(what=what, vertex="count", least=least, most=most, after=after)


def _loads(first: int, then: int) -> st.SearchStrategy[Load]:
    """Ask for one parallelism of `count`, and some time later for another one."""
    return seconds(40, 150).map(lambda at: steps({0: _load(first), int(at.total_seconds()): _load(then)}))


def _load(count: int) -> float:
    """Give a load that needs so many subtasks, far from where rounding would have to decide."""
    return _RATE * QUICK.utilization_target * (count - 0.4)


def is_well(simulation: WatchedSimulation) -> bool:
    """Tell whether the job runs, at full speed, and will not fail of what it runs at."""
    job = simulation.cluster.jobs["job"]
    status = job.status(simulation.cluster.now_s)
    return status is JobStatus.RUNNING and job.diagnosis.speed == 1 and not job.diagnosis.text


def serves_what_it_can(simulation: WatchedSimulation) -> bool:
    """Tell whether it reads what arrives, or at least as much as its subtasks can."""
    last = simulation.result.job.frames[-1]
    possible = _RATE * last.parallelism["count"]
    return last.source_per_s >= 0.95 * min(last.arrivals_per_s, possible)


def tries(simulation: WatchedSimulation) -> list[Request]:
    """Give what was really asked of the engine, requests without news left out."""
    return [request for request in simulation.requests if request.applied]


def forbidden(request: Request, bounds: Mapping[datetime, tuple[ParallelismBound, ...]]) -> bool:
    """Tell whether a request goes beyond what was known to make the job sick when a state was saved."""
    return any(
        bound.expires_at > request.at and _crosses(request.wanted, bound)
        for at, known in bounds.items()
        if at < request.at
        for bound in known
    )


def bounds_of(simulation: WatchedSimulation) -> Mapping[datetime, tuple[ParallelismBound, ...]]:
    """Give what was remembered to have made the job sick, by when it was saved."""
    return {save.at: save.state.bounds for save in simulation.saves}


def _crosses(wanted: Mapping[VertexId, int], bound: ParallelismBound) -> bool:
    asked = wanted.get(bound.vertex)
    if asked is None:
        return False
    return asked > bound.limit if bound.side is Side.BELOW else asked < bound.limit
