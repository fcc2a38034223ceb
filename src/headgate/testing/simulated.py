"""
Hypothesis strategies for simulations: random graphs, service curves, loads, clusters, options and failures.

Everything is short, so that a simulation takes minutes on its own clock and a moment on ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from headgate.model.topology import ShipStrategy
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator, Reaction
from headgate.simulate import (
    ClusterSettings,
    Failure,
    FailureKind,
    Load,
    RestartSettings,
    Scenario,
    ServiceCurve,
    SimulatedEdge,
    SimulatedJob,
    SimulatedVertex,
    steps,
)

LENGTH = timedelta(minutes=4)
"""How long a drawn scenario lasts: time for the first decisions and for two or three changes."""

COLLECT, DECIDE = timedelta(seconds=5), timedelta(seconds=10)
"""The cadences of a drawn scenario; its engine measures as often as Headgate collects."""

Steady = tuple[SimulatedJob, Mapping[str, int]]
"""A job, and what each of its vertices needs."""

FEW = settings(max_examples=max(1, settings().max_examples // 16))
"""For properties that simulate: a sixteenth of the profile's examples."""


STEADY = AutoscalerOptions(
    metrics_window=timedelta(seconds=40),
    stabilization_interval=timedelta(seconds=10),
    restart_time=timedelta(seconds=5),
    catch_up_duration=timedelta(),
    scale_down_interval=timedelta(),
    scale_down_max_factor=1.0,
    backlog_lag_threshold=timedelta(hours=1),
    reaction=Reaction.WINDOWED,
)
"""Options under which what a job needs follows from its load alone, whatever has piled up meanwhile."""


def seconds(least: int, most: int) -> st.SearchStrategy[timedelta]:
    """Whole seconds."""
    return st.integers(least, most).map(lambda number: timedelta(seconds=number))


def curves() -> st.SearchStrategy[ServiceCurve]:
    """Service curves: linear, below, or with a summit."""
    return st.builds(
        ServiceCurve,
        rate=st.integers(50, 500).map(float),
        exponent=st.sampled_from([1.0, 0.9, 0.6]),
        alpha=st.sampled_from([0.0, 0.0, 0.05]),
        beta=st.sampled_from([0.0, 0.0, 0.002]),
    )


def loads() -> st.SearchStrategy[Load]:
    """What arrives: steps up and down, from nothing to more than most jobs can take, with noise and without."""
    rates = st.lists(st.sampled_from([0, 50, 400, 1500, 3000]), min_size=1, max_size=3)
    return st.builds(
        lambda rates, noise: steps({80 * number: float(rate) for number, rate in enumerate(rates)}, noise=noise),
        rates,
        st.sampled_from([0.0, 0.0, 0.1]),
    )


@st.composite
def simulated_jobs(draw: st.DrawFn, name: str = "job") -> SimulatedJob:
    """Draw a job of two to four vertices, each of which reads one or two of those before it, or is a source."""
    later = [draw(st.sets(st.integers(0, number - 1), max_size=2)) for number in range(2, draw(st.integers(2, 4)))]
    inputs: list[set[int]] = [set(), {0}, *later]
    ships = st.sampled_from([ShipStrategy.HASH, ShipStrategy.REBALANCE, ShipStrategy.FORWARD])
    return SimulatedJob(
        name=name,
        vertices=tuple(draw(_vertices(number, is_source=not read)) for number, read in enumerate(inputs)),
        edges=tuple(
            SimulatedEdge(source=f"v{upstream}", target=f"v{number}", ship=draw(ships))
            for number, read in enumerate(inputs)
            for upstream in sorted(read)
        ),
    )


@st.composite
def _vertices(draw: st.DrawFn, number: int, *, is_source: bool) -> SimulatedVertex:
    partitions = draw(st.none() | st.integers(1, 12)) if is_source else None
    key_groups = draw(st.sampled_from([6, 24, 128]))
    return SimulatedVertex(
        name=f"v{number}",
        curve=draw(curves()),
        parallelism=draw(st.integers(1, min(6, partitions or 6))),
        max_parallelism=key_groups,
        selectivity=draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])),
        hot_key_share=0.0 if is_source else draw(st.sampled_from([0.0, 0.0, 0.3])),
        keyed=not is_source and draw(st.booleans()),
        limit=draw(st.none() | st.just(400.0)),
        state_bytes=draw(st.sampled_from([0.0, 1e9])),
        partitions=partitions,
        load=draw(loads()) if is_source else Load(),
    )


def clusters(slots: st.SearchStrategy[int] = st.integers(4, 40)) -> st.SearchStrategy[ClusterSettings]:  # noqa: B008 - a strategy is a value
    """Clusters that are quick to rescale, some of them short of slots."""
    return st.builds(
        ClusterSettings,
        slots=slots,
        checkpoint_interval=st.sampled_from([timedelta(), timedelta(seconds=10), timedelta(seconds=20)]),
        cooldown=seconds(0, 10),
        stabilization=seconds(0, 10),
        metric_refresh=st.just(COLLECT),
        restart=st.builds(RestartSettings, base=seconds(2, 8), replays=st.booleans()),
    )


@st.composite
def quick_options(draw: st.DrawFn) -> AutoscalerOptions:
    """Draw options with windows of less than a minute; rules of every kind are switched on and off."""
    least = draw(st.integers(1, 3))
    return AutoscalerOptions(
        metrics_window=draw(seconds(30, 50)),
        stabilization_interval=draw(seconds(0, 20)),
        restart_time=draw(seconds(3, 10)),
        catch_up_duration=draw(st.sampled_from([timedelta(), timedelta(seconds=60), timedelta(minutes=5)])),
        scale_down_interval=draw(st.sampled_from([timedelta(), timedelta(seconds=30)])),
        scale_down_max_factor=draw(st.sampled_from([0.3, 0.6, 1.0])),
        scale_up_max_factor=draw(st.sampled_from([0.5, 100_000.0])),
        min_parallelism=least,
        max_parallelism=least + draw(st.sampled_from([0, 3, 10, 30])),
        utilization_target=draw(st.sampled_from([0.5, 0.7, 0.9])),
        utilization_boundary=draw(st.sampled_from([0.1, 0.3])),
        backlog_lag_threshold=draw(seconds(10, 60)),
        busy_time_aggregator=draw(st.sampled_from(BusyTimeAggregator)),
        observed_scalability_enabled=draw(st.booleans()),
        effectiveness_detection_enabled=draw(st.booleans()),
        alignment_mode=draw(st.sampled_from([None, "EVENLY_SPREAD", "OFF"])),
        rejection_expiry=draw(seconds(40, 120)),
        restart_time_tracking_enabled=draw(st.booleans()),
        reaction=draw(st.sampled_from(Reaction)),
    )


def failures(
    *kinds: FailureKind, job: str = "", lasting: tuple[int, int] = (1, 90), vertices: Sequence[str] = ("", "v0", "v1")
) -> st.SearchStrategy[tuple[Failure, ...]]:
    """Up to three failures, of any kind where none is named, each so many seconds long."""
    failure = st.builds(
        Failure,
        what=st.sampled_from(kinds or tuple(FailureKind)),
        at=seconds(0, int(LENGTH.total_seconds()) - 1),
        duration=seconds(*lasting),
        job=st.just(job),
        vertex=st.sampled_from(vertices),
        slots=st.integers(1, 20),
    )
    return st.lists(failure, max_size=3).map(tuple)


@st.composite
def scenarios(
    draw: st.DrawFn,
    *,
    jobs: st.SearchStrategy[Sequence[SimulatedJob]] = simulated_jobs().map(lambda job: (job,)),  # noqa: B008 - as above
    clusters: st.SearchStrategy[ClusterSettings] = clusters(),  # noqa: B008 - as above
    failures: st.SearchStrategy[tuple[Failure, ...]] = failures(),  # noqa: B008 - as above
) -> Scenario:
    """Draw everything that a simulation is made of."""
    return Scenario(
        jobs=tuple(draw(jobs)),
        cluster=draw(clusters),
        failures=draw(failures),
        duration=LENGTH,
        seed=draw(st.integers(0, 999)),
        measurement_noise=draw(st.sampled_from([0.0, 0.0, 0.05])),
        collect_interval=COLLECT,
        decide_interval=DECIDE,
        autoscaler=draw(quick_options()),
    )


@st.composite
def steady_jobs(draw: st.DrawFn, *, least: int = 1, most: int = 12) -> Steady:
    """
    Draw a chain under a constant load without noise, whose curves are linear, and what it needs at `STEADY`'s target.

    The load is far from where rounding up would have to decide between two parallelisms.
    """
    needs = draw(st.lists(st.integers(least, most), min_size=1, max_size=3))
    load = float(draw(st.integers(200, 5000)))
    chain = [
        SimulatedVertex(
            name=f"v{number}",
            curve=ServiceCurve(rate=load / (STEADY.utilization_target * (need - 0.4))),
            parallelism=draw(st.integers(1, most)),
            load=Load(rate=0.0 if number else load),
        )
        for number, need in enumerate(needs)
    ]
    job = SimulatedJob(vertices=tuple(chain))
    return job, {vertex.name: need for vertex, need in zip(chain, needs, strict=True)}


def starting_at(job: SimulatedJob, parallelism: Mapping[str, int]) -> SimulatedJob:
    """Give the job with other parallelisms to begin with."""
    vertices = (replace(vertex, parallelism=parallelism[vertex.name]) for vertex in job.vertices)
    return replace(job, vertices=tuple(vertices))


def steadily(job: SimulatedJob, **rest: Any) -> Scenario:
    """Make a scenario of a steady job, with room for it and nothing that goes wrong; any other fields of `Scenario`."""
    cluster = ClusterSettings(
        checkpoint_interval=timedelta(seconds=10),
        cooldown=timedelta(seconds=5),
        stabilization=timedelta(seconds=5),
        metric_refresh=COLLECT,
        restart=RestartSettings(base=timedelta(seconds=5)),
    )
    scenario = Scenario(
        jobs=(job,),
        cluster=cluster,
        duration=LENGTH,
        collect_interval=COLLECT,
        decide_interval=DECIDE,
        autoscaler=STEADY,
    )
    return replace(scenario, **rest)


def growing_fleet() -> Scenario:
    """Give three jobs that grow at different times, measured a little inexactly."""
    jobs = tuple(
        SimulatedJob(
            name=f"job-{number}",
            vertices=(
                SimulatedVertex(
                    name="source", curve=ServiceCurve(rate=1000.0), load=steps({0: 500.0, 50 + 20 * number: 2000.0})
                ),
                SimulatedVertex(name="sink", curve=ServiceCurve(rate=400.0), parallelism=2),
            ),
        )
        for number in range(3)
    )
    return replace(steadily(jobs[0], autoscaler=STEADY, measurement_noise=0.05), jobs=jobs)
