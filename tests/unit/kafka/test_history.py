"""Where a partition ended at the instant at which somebody else looked."""

from __future__ import annotations

from headgate.kafka.history import History, Look
from headgate.ports import Missing
from headgate.testing.builders import at

ONE = ("in", 0)


def _history(*looks: tuple[float, int | Missing]) -> History:
    history = History()
    for second, end in looks:
        history.add(Look(at=at(second), partitions={"in": [ONE]}, ends={ONE: end}))
    return history


def test_between_two_looks_it_grows_evenly() -> None:
    """At 100 and two seconds later at 300: after half a second at 150."""
    assert _history((0, 100), (2, 300)).end_of(ONE, at(0.5)) == 150


def test_before_and_after_the_looks_nothing_is_made_up() -> None:
    """What was told first and last holds; one look alone is both."""
    history = _history((0, 100), (2, 300))

    assert [history.end_of(ONE, at(second)) for second in (-5, 0, 2, 9)] == [100, 100, 300, 300]
    assert _history((0, 100)).end_of(ONE, at(7)) == 100


def test_what_is_refused_now_is_missing() -> None:
    """What it was before does not help; once it is told again, what is known beside it has to do."""
    refused = Missing(why="not allowed")

    assert _history((0, 100), (2, refused)).end_of(ONE, at(1)) == refused
    assert _history((0, 100), (2, refused), (4, 300)).end_of(ONE, at(1)) == 100
    assert _history((0, refused), (2, refused), (4, 300)).end_of(ONE, at(1)) == 300


def test_old_looks_are_forgotten() -> None:
    """After a minute nobody asks about them any more."""
    assert _history((0, 100), (100, 200), (101, 300)).end_of(ONE, at(50)) == 200


def test_of_older_looks_a_few_are_enough() -> None:
    """A line through those that are kept tells of an even growth what all of them would."""
    every = _history(*((second / 2, 50 * second) for second in range(100)))

    assert every.end_of(ONE, at(12.25)) == 1225
    assert len(every) < 25
