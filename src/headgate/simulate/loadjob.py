"""The load job of demo and tests as a scenario's job: the same costs and rates, so the same decisions are due."""

from __future__ import annotations

from headgate.demo.loadjob import (
    SINK,
    SOURCE,
    ConstantProfile,
    LoadJobSpec,
    Profile,
    RampProfile,
    SineProfile,
    Stage,
    StepProfile,
)
from headgate.engines.simulated.curve import ServiceCurve
from headgate.engines.simulated.graph import SimulatedEdge, SimulatedJob, SimulatedVertex
from headgate.engines.simulated.load import Load, LoadPoint

_FREE = 1_000_000.0
"""Records/s of a subtask of source or sink, which do nothing with a record."""

_MICROS = 1_000_000


def simulated_job(spec: LoadJobSpec, parallelism: int) -> SimulatedJob:
    """
    Translate a load job; keys are taken as many enough to be even.

    Args:
        spec: without skew: the share of its hottest subtask depends on Flink's hash of the keys.
        parallelism: of every operator at the start.

    Raises:
        ValueError: the load job is skewed, or its profile is one of somebody's own.
    """
    if spec.zipf:
        message = f"load job {spec.name} is skewed (zipf {spec.zipf:g}), which is not simulated"
        raise ValueError(message)
    ends = (Stage(name=SOURCE, cost_us=0), Stage(name=SINK, cost_us=0))
    vertices = tuple(
        SimulatedVertex(
            name=stage.name,
            curve=ServiceCurve(rate=_MICROS / stage.cost_us if stage.cost_us else _FREE),
            selectivity=stage.selectivity,
            keyed=stage.keyed,
            parallelism=parallelism,
            max_parallelism=spec.max_parallelism,
            load=load_of(spec.profile) if stage.name == SOURCE else Load(),
            partitions=spec.partitions if stage.name == SOURCE else None,
        )
        for stage in (ends[0], *spec.stages, ends[1])
    )
    return SimulatedJob(name=spec.name, vertices=vertices, edges=_edges(spec))


def load_of(profile: Profile) -> Load:
    """
    Translate a profile; the simulation begins at its epoch.

    Raises:
        ValueError: it is none of the load job's own.
    """
    match profile:
        case ConstantProfile():
            return Load(rate=profile.per_s)
        case StepProfile():
            return Load(points=tuple(LoadPoint(at=at, rate=rate) for at, rate in profile.steps))
        case SineProfile():
            return Load(rate=profile.base_per_s, amplitude=profile.amplitude_per_s, period=profile.period)
        case RampProfile():
            ends = ((0 * profile.duration, profile.from_per_s), (profile.duration, profile.to_per_s))
            return Load(points=tuple(LoadPoint(at=at, rate=rate) for at, rate in ends), interpolate=True)
    message = f"{type(profile).__name__} is not simulated"
    raise ValueError(message)


def _edges(spec: LoadJobSpec) -> tuple[SimulatedEdge, ...]:
    """Lay the edges as the job does: a stage reads the one before it unless it says otherwise; the sink the rest."""
    before = (SOURCE, *(stage.name for stage in spec.stages))
    laid = [
        (upstream, stage.name)
        for stage, previous in zip(spec.stages, before, strict=False)
        for upstream in stage.inputs or (previous,)
    ]
    read = {upstream for upstream, _ in laid}
    laid += [(name, SINK) for name in before if name not in read]
    return tuple(SimulatedEdge(source=source, target=target) for source, target in laid)
