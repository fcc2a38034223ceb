"""The random jobs of the comparison of reactions: they follow from seed and number, and are what the page says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from benchmarks.reaction_jobs import LARGEST, TARGET, calm_job, random_cluster, random_job
from benchmarks.reaction_loads import COURSES, DURATION, KINDS, LEAD, Course, kind_of, largest_rate, random_load

from headgate.engines.simulated.load import Arriving, Load
from headgate.simulate.oracle import least_parallelism

NUMBERS = range(50)
STEADY = range(0, int(LEAD.total_seconds()), 7)


def loads(course: Course, seed: int = 1) -> list[Load]:
    """Return the loads of one course, one for each way in which records arrive."""
    first = COURSES.index(course)
    return [random_load(seed, number, course, kind_of(number)) for number in range(first, 25, len(COURSES))]


def test_a_job_follows_from_its_seed_and_its_number() -> None:
    """Asked for again it is the same, and another seed makes another one."""
    assert random_job(1, 7) == random_job(1, 7)
    assert random_job(1, 7).spec != random_job(2, 7).spec
    assert random_cluster(1, 3) == random_cluster(1, 3)


def test_every_course_meets_every_way_to_arrive() -> None:
    """As often as any other."""
    seen = [(job.course, job.kind.name) for job in (random_job(1, number) for number in NUMBERS)]
    assert len(set(seen)) == len(COURSES) * len(KINDS)
    assert all(seen.count(each) == 2 for each in seen)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_job_begins_right_and_never_needs_more_than_forty(number: int) -> None:
    """By the least parallelism for what comes in; a few more where keys do not divide evenly."""
    spec = random_job(1, number).spec
    assert 3 <= len(spec.vertices) <= 8
    first = {each.name: each.load.rate_per_s(0) for each in spec.vertices}
    least = least_parallelism(spec, first, utilization=TARGET, most=LARGEST)
    assert {each.name: each.parallelism for each in spec.vertices} == dict(least)
    highest = {each.name: largest_rate(each.load) for each in spec.vertices}
    assert max(least_parallelism(spec, highest, utilization=TARGET, most=LARGEST).values()) <= 43


@pytest.mark.parametrize("course", [Course.STEPS, Course.RAMPS, Course.BURSTS])
def test_nothing_changes_while_the_windows_fill(course: Course) -> None:
    """And afterwards by a factor of 0.3 to 4."""
    for load in loads(course):
        rates = {load.rate_per_s(at_s) for at_s in STEADY}
        assert len(rates) == 1
        first = rates.pop()
        later = [load.rate_per_s(at_s) / first for at_s in range(int(DURATION.total_seconds()))]
        assert 0.3 <= min(later) <= 1 <= max(later) <= 4
        assert min(later) < max(later)


def test_a_burst_is_short() -> None:
    """Five to sixty seconds, and more than a half above the rest."""
    for load in loads(Course.BURSTS):
        times = [point.at.total_seconds() for point in load.points]
        assert all(5 <= end - begin <= 60 for begin, end in zip(times[1::2], times[2::2], strict=True))


def test_a_calm_job_has_noise_and_nothing_else() -> None:
    """Of 20 %, normally distributed."""
    load = calm_job(1, 3).vertices[0].load
    assert (load.noise, load.arriving) == (0.2, Arriving.NORMAL)
    assert {load.rate_per_s(at_s) for at_s in range(0, 86_400, 999)} == {load.rate}


def test_every_other_cluster_is_looked_at_more_often() -> None:
    """The others as by default."""
    usual, quick = random_cluster(1, 4), random_cluster(1, 5)
    assert (usual.quick, usual.collect, usual.decide) == (False, timedelta(seconds=10), timedelta(seconds=30))
    assert (quick.quick, quick.collect, quick.decide) == (True, timedelta(seconds=2), timedelta(seconds=5))


def test_poisson_jobs_have_few_records() -> None:
    """Many of them would hardly vary."""
    rates = [random_load(1, number, Course.CONSTANT, KINDS[2]).rate for number in NUMBERS]
    assert min(rates) >= 1
    assert max(rates) <= 100
