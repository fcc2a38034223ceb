"""Which metric is followed, missing ones included: the table of Kubernetes' controller."""

from __future__ import annotations

import math

import pytest

from headgate.algorithm.hpa.votes import NO_SAY, Vote, elected


def vote(metric: str, wants: int | None) -> Vote:
    """Make a vote; its value does not matter."""
    return Vote(metric=metric, value=math.nan, target=1.0, wants=wants)


@pytest.mark.parametrize(
    ("one", "other", "followed"),
    [
        (6, 3, 6),
        (3, 6, 6),
        (2, 3, 3),
        (NO_SAY, 2, 2),
        (None, 6, 6),
        (6, None, 6),
        (None, 4, 4),
        (None, 3, None),
        (3, None, None),
        (NO_SAY, None, None),
        (None, None, None),
    ],
)
def test_the_largest_is_followed_unless_a_missing_one_might_want_more(
    one: int | None, other: int | None, followed: int | None
) -> None:
    """Of four replicas: growth needs one metric, staying too, shrinking all of them, and nothing comes of none."""
    found = elected([vote("lag", one), vote("use", other)], 4)
    assert (found and found.wants) == followed


def test_of_equal_votes_the_first_is_named() -> None:
    """As Kubernetes names the metric in its reason."""
    found = elected([vote("lag", 5), vote("use", 5)], 4)
    assert found
    assert found.metric == "lag"


def test_no_metric_may_want_nothing_at_all() -> None:
    """A job of no subtask does nothing and measures nothing: it would never come back."""
    found = elected([vote("lag", NO_SAY), vote("use", 0)], 4)
    assert found
    assert found.replicas == 1
