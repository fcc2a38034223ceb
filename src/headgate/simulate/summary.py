"""A run in a few numbers: what it cost, how late the job was, how calm it stayed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from headgate.engines.simulated.graph import SimulatedJob
from headgate.engines.simulated.restart import Cause, Restart
from headgate.simulate.oracle import least_parallelism
from headgate.simulate.recording import Frame, JobRun
from headgate.simulate.scenario import Scenario

OSCILLATION = timedelta(minutes=30)
"""A vertex that turns its direction within it oscillates."""

_DRAINED_S = 1.0
"""A lag of so many seconds of arrivals, or less, is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One job's run; times in seconds."""

    rescales: int
    restarts: int
    """Rescales included."""
    failures: int
    rollbacks: int
    downtime_s: float
    lag_growing_s: float
    late_s: float
    """How long the lag was above the scenario's threshold."""
    peak_lag: float
    """Records."""
    drained_after_s: float | None
    """From the peak of the lag until it was worked off; None when it never was."""
    slot_seconds: float
    least_slot_seconds: float
    """What the least parallelism would have taken at the utilization target, without any restart."""
    oscillations: int
    """How often a vertex turned its direction within `OSCILLATION`."""


def summarise(run: JobRun, scenario: Scenario) -> Summary:
    """Return the numbers of one job's run."""
    frames = run.frames
    spec = next(job for job in scenario.jobs if job.name == run.name)
    late_s = scenario.lag_threshold.total_seconds()
    return Summary(
        rescales=len(run.rescales),
        restarts=len(run.restarts),
        failures=len(run.setbacks),
        rollbacks=len(run.rollbacks),
        downtime_s=sum(frame.span_s for frame in frames if not frame.running),
        lag_growing_s=sum(now.span_s for before, now in itertools.pairwise(frames) if _grows(before, now)),
        late_s=sum(frame.span_s for frame in frames if frame.lag > late_s * frame.arrivals_per_s),
        peak_lag=max(frame.lag for frame in frames),
        drained_after_s=_drained_after_s(frames),
        slot_seconds=sum(frame.slots * frame.span_s for frame in frames),
        least_slot_seconds=_least_slot_seconds(spec, scenario),
        oscillations=len(list(oscillations(run.rescales))),
    )


def oscillations(rescales: Sequence[Restart], within: timedelta = OSCILLATION) -> Iterator[tuple[str, Restart]]:
    """Give each vertex that turned its direction within a time, with the rescale that turned it; failures turn none."""
    moved: dict[str, tuple[float, bool]] = {}
    for rescale in (each for each in rescales if each.cause is Cause.RESCALE):
        for vertex, (before, after) in rescale.changes.items():
            grows = after > before
            at_s, grew = moved.get(vertex, (0.0, grows))
            if grows != grew and rescale.began_s - at_s <= within.total_seconds():
                yield vertex, rescale
            moved[vertex] = rescale.began_s, grows


def _grows(before: Frame, now: Frame) -> bool:
    return now.lag > before.lag and now.lag > _DRAINED_S * now.arrivals_per_s


def _drained_after_s(frames: Sequence[Frame]) -> float | None:
    peak = max(frames, key=lambda frame: frame.lag)
    after = (frame for frame in frames if frame.at_s >= peak.at_s)
    drained = next((frame for frame in after if frame.lag <= _DRAINED_S * frame.arrivals_per_s), None)
    return None if drained is None else drained.at_s - peak.at_s


def _least_slot_seconds(job: SimulatedJob, scenario: Scenario) -> float:
    """Add up what the widest vertex needs, looking once a decision's interval at the load without its noise."""
    every_s = scenario.decide_interval.total_seconds()
    moments = range(int(scenario.duration / scenario.decide_interval))
    return sum(every_s * _least_slots(job, scenario, (moment + 0.5) * every_s) for moment in moments)


def _least_slots(job: SimulatedJob, scenario: Scenario, at_s: float) -> int:
    arrivals = {vertex.name: vertex.load.rate_per_s(at_s) for vertex in job.vertices}
    target = scenario.autoscaler.utilization_target or 1.0  # 0 aims at nothing
    return max(least_parallelism(job, arrivals, utilization=target, most=scenario.autoscaler.max_parallelism).values())
