"""A vertex shrinks once it has wanted to for the interval, and then to the most it wished (FLINK-36535)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.delay import largest_wish, noted, shrinking_late
from headgate.algorithm.propose import propose
from headgate.model.decision import Proposal
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.state import DelayedScaleDown, JobState, Wish
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, at, chain, evaluated

V = VertexId("v")
HOUR = timedelta(hours=1)
PENDING = DelayedScaleDown(first_at=at(0), wishes=(Wish(at=at(0), parallelism=6, outside=True),))


def _proposal(wanted: int, delayed: DelayedScaleDown | None = None, *, outside: bool = True) -> Proposal:
    return Proposal(vertex=V, name="v", current=10, wanted=wanted, outside=outside, delayed=delayed)


def _after(wishes: Sequence[tuple[float, int]], interval: timedelta = HOUR) -> Proposal:
    """Let a vertex of 10 subtasks wish one parallelism after another, each at its second."""
    found = _proposal(10)
    for seconds, wanted in wishes:
        found = shrinking_late(interval, at(seconds))(_proposal(wanted, found.delayed))
    return found


def test_the_first_wish_is_held_back() -> None:
    """It is remembered, and the step tells why nothing is done."""
    found = _after([(0, 6)])

    assert found.wanted == 10
    assert found.delayed == PENDING
    assert [step.reason for step in found.steps] == [Reason.SCALE_DOWN_DELAYED]


def test_the_interval_ends_just_when_it_is_over() -> None:
    """A second before it is too early, exactly at it the vertex shrinks."""
    assert _after([(0, 6), (3_599, 6)]).wanted == 10
    assert _after([(0, 6), (3_600, 6)]).wanted == 6


def test_the_largest_wish_of_the_interval_is_granted() -> None:
    """A short dip does not decide: what was enough all the time does."""
    assert _after([(0, 6), (1_800, 8), (3_600, 4)]).wanted == 8


def test_an_old_wish_counts_no_more() -> None:
    """The eight of the beginning have left the hour; the seven of its very border have not."""
    assert _after([(0, 8), (900, 7), (4_500, 4)]).wanted == 7
    assert _after([(0, 8), (900, 7), (4_501, 4)]).wanted == 4


@pytest.mark.parametrize("other", [10, 12])
def test_who_wants_to_stay_or_to_grow_begins_anew(other: int) -> None:
    """The wishes of before are forgotten, so the next one waits its whole interval."""
    assert _after([(0, 6), (1_800, other)]).delayed is None
    assert _after([(0, 6), (1_800, other), (3_600, 6)]).wanted == 10


@pytest.mark.parametrize("interval", [timedelta(), timedelta(seconds=-1)])
def test_without_an_interval_nothing_waits(interval: timedelta) -> None:
    """And nothing is remembered."""
    found = _after([(0, 6)], interval)

    assert (found.wanted, found.delayed) == (6, None)


def test_the_cause_is_that_of_the_granted_wish() -> None:
    """Whether the job has cause to change is judged by the wish that is carried out, not by the latest one."""
    pending = DelayedScaleDown(first_at=at(0), wishes=(Wish(at=at(0), parallelism=8, outside=False),))

    found = shrinking_late(HOUR, at(3_600))(_proposal(4, pending, outside=True))

    assert (found.wanted, found.outside) == (8, False)


def test_a_wish_drops_the_smaller_ones_before_it() -> None:
    """They can never be the maximum again: a queue that only falls, however many cycles an hour has."""
    pending = noted(noted(noted(None, _wish(0, 6)), _wish(10, 4)), _wish(20, 5))

    assert [wish.parallelism for wish in pending.wishes] == [6, 5]
    assert [wish.at for wish in noted(pending, _wish(30, 6)).wishes] == [at(30)]
    assert noted(pending, _wish(30, 6)).first_at == at(0)


def test_no_wish_within_the_interval_is_an_error() -> None:
    """Whoever asks has to note the wish of now first."""
    with pytest.raises(ValueError, match="no wish"):
        largest_wish(PENDING, at(1))


def test_nothing_known_leaves_the_wishes_alone() -> None:
    """A vertex whose rate is unknown in one cycle neither shrinks nor begins its hour anew."""
    topology = chain({"v": 10})
    metrics = evaluated(topology, {})
    unknown = replace(metrics.vertices[V], needed_capacity=None, factor=None, outside=False)
    state = JobState(delayed={V: PENDING})

    (found,) = propose(topology, replace(metrics, vertices={V: unknown}), AutoscalerOptions(), at(7_200), state)

    assert (found.wanted, found.delayed) == (10, PENDING)


def test_wishes_of_the_state_are_continued() -> None:
    """An hour after the first wish in the state the vertex shrinks, although this process has never seen it before."""
    topology = chain({"v": 10})
    options = AutoscalerOptions(alignment_mode="OFF")
    state = JobState(delayed={V: PENDING})

    (found,) = propose(topology, evaluated(topology, {"v": 0.5}), options, at(3_600), state)
    (fresh,) = propose(topology, evaluated(topology, {"v": 0.5}), options, START, JobState())

    assert (found.wanted, fresh.wanted) == (6, 10)


def _wish(seconds: float, parallelism: int) -> Wish:
    return Wish(at=at(seconds), parallelism=parallelism, outside=True)


def test_a_wish_to_shrink_never_grows_a_vertex() -> None:
    """The granted wish is bounded by the running parallelism."""
    pending = DelayedScaleDown(first_at=at(0), wishes=(Wish(at=at(1_800), parallelism=8, outside=True),))
    proposal = Proposal(vertex=V, name="v", current=4, wanted=2, outside=True, delayed=pending)

    assert shrinking_late(timedelta(hours=1), at(3_600))(proposal).wanted <= 4
