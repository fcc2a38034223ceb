"""The input of jobs, told from their samples one tick after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.algorithm.arrival.fleet import Story, answered, steady, stepping

from headgate.algorithm.arrival.recent import RecentArrivals
from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.samples import JobSample
from headgate.testing.builders import ORDERS, at

KEEP = timedelta(minutes=10)
RETURNS = JobKey("prod", "returns")
GROWING = Story(sources={"a": stepping(400 / 3, 1600 / 3, at_s=100), "b": steady(1 / 7)})
CALM = Story(job=RETURNS, sources={"a": steady(55.555), "over": stepping(9, 0, at_s=50)})


def test_it_tells_what_the_fleet_tells_over_the_same_samples() -> None:
    """Tick by tick, to the last bit, of jobs that are told of together and of one that comes later."""
    recent, growing, calm = RecentArrivals(KEEP), GROWING.samples(140), CALM.samples(140)

    for tick, both in enumerate(zip(growing, calm, strict=True)):
        told = recent.add(both if tick >= 30 else both[:1])
        if tick % 6 == 4:  # what the fleet tells takes a while
            assert told[ORDERS] == answered([GROWING], 2 * tick).of_job(0)
    assert told[ORDERS].changed
    assert told[RETURNS].per_s == pytest.approx(55.555, abs=0.001)


def test_only_those_are_told_that_were_just_looked_at() -> None:
    """The others are remembered all the same: their next sample continues where the last one was."""
    recent, growing, calm = RecentArrivals(KEEP), GROWING.samples(140), CALM.samples(140)
    for both in zip(growing[:30], calm[:30], strict=True):
        recent.add(both)
    for one in growing[30:-1]:
        assert recent.add([one]).keys() == {ORDERS}

    assert recent.add([growing[-1], calm[-1]])[RETURNS].lasted_s == 90.0


def test_what_is_older_than_it_keeps_is_forgotten() -> None:
    """A change that was long ago is none any more; nothing grows without bounds."""
    recent = RecentArrivals(timedelta(seconds=60))
    for one in GROWING.samples(200):
        arrival = recent.add([one])[ORDERS]

    assert not arrival.changed
    assert arrival.lasted_s == 60.0
    assert len(recent._told.owner) == 2 * 31


def test_a_source_that_was_not_measured_says_nothing() -> None:
    """Nor does one that is measured without a number, or with one that is none."""
    recent, samples = RecentArrivals(KEEP), GROWING.samples(60)
    for one in samples[:20]:
        before = recent.add([one])[ORDERS]
    unmeasured = replace(samples[20], vertices={})
    nonsense = told_of_reading(samples[21], float("nan"))

    assert recent.add([unmeasured])[ORDERS] == before
    assert recent.add([nonsense])[ORDERS] == before
    assert recent.add([samples[22]])[ORDERS].lasted_s == before.lasted_s + 6


def told_of_reading(sample: JobSample, records: float) -> JobSample:
    """Give a sample whose every source told this count."""
    vertices = {
        vertex: replace(seen, values={**seen.values, Measure.NUM_RECORDS_IN: records})
        for vertex, seen in sample.vertices.items()
    }
    return replace(sample, vertices=vertices)


def test_a_job_without_sources_is_told_of_too() -> None:
    """Nothing came in, for ever: nobody waits for it to change."""
    lone = Story(sources={})

    arrival = RecentArrivals(KEEP).add(lone.samples(0))[ORDERS]

    assert (arrival.per_s, arrival.lasted_s, arrival.changed) == (0.0, float("inf"), False)
    assert lone.samples(0)[0].at == at(0)


def test_who_is_gone_is_forgotten_and_the_others_are_not_mixed_up() -> None:
    """Numbers of sources are given anew; what came into those that stay goes on."""
    recent, growing, calm = RecentArrivals(KEEP), GROWING.samples(140), CALM.samples(140)
    for both in zip(calm[:-1], growing[:-1], strict=True):
        recent.add(both)
    alone = RecentArrivals(KEEP)
    for one in growing[:-1]:
        alone.add([one])

    recent.keep_only({ORDERS})

    assert recent.add([growing[-1]]) == alone.add([growing[-1]])
    assert {job for job, _ in recent._number} == {ORDERS}
