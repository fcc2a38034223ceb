"""What comes into the jobs of a fleet since it changed last."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.unit.algorithm.arrival.fleet import Story, answered, steady, stepping

from headgate.algorithm.arrival.fleet import Series
from headgate.model.arrival import Arrival
from headgate.model.identity import JobKey


def wavering(seed: int) -> Story:
    """Give a job of two sources, one of them noisy, the other stepping."""
    chance = random.Random(seed)  # noqa: S311 - a draw that can be repeated, no secret
    rates = [400.0 * (1 + 0.2 * chance.gauss(0, 1)) for _ in range(61)]
    return Story(
        job=JobKey("prod", f"job-{seed}"),
        sources={"noisy": lambda second: rates[int(second) // 2], "stepping": stepping(100, 900, at_s=70 + 2 * seed)},
    )


def test_the_sources_of_a_job_are_told_apart_and_together() -> None:
    """One goes on with 100/s while the other one grows from 400/s to 1600/s."""
    found = answered([Story(sources={"a": steady(100), "b": stepping(400, 1600, at_s=100)})], 120)

    assert found.of_source.tolist() == [100.0, 1600.0]
    arrival = found.of_job(0)
    assert arrival is not None
    assert (arrival.per_s, arrival.lasted_s, arrival.changed) == (1700.0, 20.0, True)


def test_a_finished_source_brings_nothing() -> None:
    """It is no part of what comes in, and its last change none of the job's."""
    sources = {"alive": steady(100), "over": stepping(400, 0, at_s=100)}

    both, one = (answered([Story(sources=sources, finished=frozenset(over))], 120) for over in ([], ["over"]))

    assert np.isnan(one.of_source).tolist() == [False, True]
    arrival = one.of_job(0)
    assert arrival is not None
    assert (arrival.per_s, arrival.lasted_s, arrival.changed) == (100.0, 120.0, False)
    assert both.of_job(0) != one.of_job(0)


def test_a_job_that_goes_by_its_window_is_not_told() -> None:
    """Its sources have no rate either, so that the mean over the window stands; the job beside it has its own."""
    stories = [wavering(1), wavering(2)]

    found = answered(stories, 120, fast=[True, False])

    assert found.of_job(1) is None
    assert np.isnan(found.of_source).tolist() == [False, False, True, True]
    assert found.of_job(0) == answered(stories[:1], 120).of_job(0)


def test_a_job_of_which_nothing_was_told_is_unknown() -> None:
    """The first sample alone says nothing."""
    found = answered([wavering(1)], 0)

    assert found.of_job(0) == Arrival(per_s=None, error=None, lasted_s=0.0, changed=False)


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_of_a_job_do_not_depend_on_the_others(seed: int) -> None:
    """Not by a bit, alone or among jobs with longer pasts and shorter ones, in whatever order."""
    fleet = [
        *(wavering(number) for number in range(5)),
        Story(job=JobKey("prod", "three"), sources={"a": steady(1 / 3), "b": steady(7e5), "c": stepping(3, 1, at_s=9)}),
    ]
    shuffled = random.Random(seed).sample(fleet, len(fleet))  # noqa: S311 - as above
    together = answered(shuffled, 120)

    begin = 0
    for place, story in enumerate(shuffled):
        end = begin + len(story.sources)
        alone = answered([story], 120)
        assert together.of_source[begin:end].tobytes() == alone.of_source.tobytes()
        assert together.of_job(place) == alone.of_job(0)
        begin = end


def test_samples_of_vertices_in_no_graph_are_passed_over() -> None:
    """As those from before and after what is looked at: both ends are included."""
    empty = Series.none()
    assert len(empty.between(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)).owner) == 0
    at_ms = np.array([10, 20, 30, 40, 20])
    column = empty.columns["at_ms"]
    columns = {name: type(column)(values=at_ms, valid=np.ones(5, dtype=np.bool_)) for name in empty.columns.columns}
    series = Series(columns=type(empty.columns)(columns=columns), owner=np.array([0, 0, 0, 0, -1]))

    kept = series.between(np.array([20]), np.array([30]))

    assert kept.columns["at_ms"].values.tolist() == [20, 30]
    assert kept.owner.tolist() == [0, 0]
