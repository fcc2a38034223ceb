"""Random jobs, and clusters that ten of them share: each follows from the seed and its number alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any

from benchmarks.reaction_loads import KINDS, Course, Kind, course_of, kind_of, largest_rate, log_uniform, random_load
from headgate.engines.simulated.curve import ServiceCurve
from headgate.engines.simulated.graph import SimulatedJob
from headgate.engines.simulated.load import Load
from headgate.engines.simulated.settings import ClusterSettings, RestartSettings
from headgate.simulate.building import constant, job, vertex
from headgate.simulate.oracle import least_parallelism

JOBS_A_CLUSTER = 10
"""They share intervals, restart time and Headgate, and nothing else: there are slots enough for all."""
TARGET = 0.7
LARGEST = 200
_WIDEST = 40
"""What the widest vertex needs at most for the highest rate, its noise aside."""
_USUAL, _QUICK = (10, 30, 10), (2, 5, 2)
"""Seconds between samples, decisions, and the engine's own measurements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomJob:
    """A job, and what kind of load comes in."""

    spec: SimulatedJob
    course: Course
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomCluster:
    """What ten jobs share."""

    settings: ClusterSettings
    collect: timedelta
    decide: timedelta
    measurement_noise: float
    quick: bool
    """Whether it is looked at more often than by default."""


def random_cluster(seed: int, number: int) -> RandomCluster:
    """Draw a cluster; every other one is looked at more often than by default."""
    chance = Random(f"{seed}/cluster/{number}")  # noqa: S311 - a draw that can be repeated, no secret
    quick, usual = number % 2 == 1, ClusterSettings()
    collect, decide, refresh = (timedelta(seconds=each) for each in (_QUICK if quick else _USUAL))
    ready = chance.choice((True, False))
    return RandomCluster(
        settings=ClusterSettings(
            slots=JOBS_A_CLUSTER * 10 * LARGEST,
            checkpoint_interval=timedelta(seconds=5) if ready else usual.checkpoint_interval,
            cooldown=timedelta() if ready else usual.cooldown,
            metric_refresh=refresh,
            restart=RestartSettings(base=timedelta(seconds=round(log_uniform(chance, 2, 60), 1))),
        ),
        collect=collect,
        decide=decide,
        measurement_noise=chance.choice((0.0, 0.02, 0.05)),
        quick=quick,
    )


def random_job(seed: int, number: int) -> RandomJob:
    """Draw a job and its load; it begins with the least parallelism that is right for the rate at the beginning."""
    course, kind = course_of(number), kind_of(number)
    return RandomJob(spec=_job(seed, number, course, kind), course=course, kind=kind)


def calm_job(seed: int, number: int) -> SimulatedJob:
    """Draw a job under a constant load with normal noise of 20 %."""
    return _job(seed, number, Course.CONSTANT, KINDS[1])


def _job(seed: int, number: int, course: Course, kind: Kind) -> SimulatedJob:
    chance = Random(f"{seed}/job/{number}")  # noqa: S311 - a draw that can be repeated, no secret
    load = random_load(seed, number, course, kind)
    count = chance.randint(3, 8)
    loads = [load]
    if count > 3 and chance.random() < 0.2:  # noqa: PLR2004 - one in five has a second source, whose load is constant
        beside = constant(load.rate_per_s(0) * log_uniform(chance, 0.2, 1))
        loads.append(
            replace(beside, arriving=load.arriving, noise=load.noise, noise_interval=load.noise_interval),
        )
    edges = tuple(_edges(chance, count, len(loads)))
    plain = job(
        f"job-{number:03}",
        *(vertex(f"v{place}", 1, **_nature(chance, place, loads)) for place in range(count)),
        edges=edges,
    )
    return _begun(_sized(chance, plain), loads)


def _nature(chance: Random, place: int, loads: Sequence[Load]) -> Mapping[str, Any]:
    """Draw what a vertex is, but not what it can do."""
    if place < len(loads):
        return {"load": loads[place]}
    keyed = chance.random() < 0.4  # noqa: PLR2004 - two in five
    return {
        "keyed": keyed,
        "state_bytes": log_uniform(chance, 1e6, 5e9) if keyed else 0.0,
        "selectivity": chance.choice((1.0, log_uniform(chance, 0.3, 2))),
    }


def _edges(chance: Random, count: int, sources: int) -> Iterator[tuple[str, str]]:
    """Draw a graph: mostly a chain, with branches; what nothing reads is a sink, and the last vertex may join two."""
    yield from ((f"v{place}", f"v{sources}") for place in range(sources))
    read = set(range(sources))
    for place in range(sources + 1, count):
        upstream = place - 1 if chance.random() < 0.75 else chance.randrange(sources, place)  # noqa: PLR2004 - three in four
        read.add(upstream)
        yield f"v{upstream}", f"v{place}"
    loose = sorted(set(range(sources, count - 1)) - read)
    if loose and bool(chance.choice((True, False))):
        yield f"v{loose[0]}", f"v{count - 1}"


def _sized(chance: Random, plain: SimulatedJob) -> SimulatedJob:
    """Draw what each vertex needs for the highest rate, 1 to 40 subtasks, and give it the curve that follows."""
    needed = plain.needed_rates({each.name: largest_rate(each.load) for each in plain.vertices})
    widest = log_uniform(chance, 1.5, _WIDEST)
    bottleneck = chance.randrange(len(plain.vertices))
    sized = []
    for place, each in enumerate(plain.vertices):
        width = widest if place == bottleneck else log_uniform(chance, 0.5, widest)
        exponent = chance.choice((1.0, 1.0, 1.0, chance.uniform(0.85, 1)))
        rate = needed[each.name] / TARGET / width**exponent
        sized.append(replace(each, curve=ServiceCurve(rate=rate, exponent=exponent)))
    return replace(plain, vertices=tuple(sized))


def _begun(sized: SimulatedJob, loads: Sequence[Load]) -> SimulatedJob:
    first = {f"v{place}": load.rate_per_s(0) for place, load in enumerate(loads)}
    least = least_parallelism(sized, first, utilization=TARGET, most=LARGEST)
    vertices = tuple(replace(each, parallelism=least[each.name]) for each in sized.vertices)
    return replace(sized, vertices=vertices)
