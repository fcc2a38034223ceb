"""Which rows are shown first, and which at all."""

from __future__ import annotations

from tests.unit.overview.conftest import Service, decided, waiting

from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.overview.selecting import Order, selected

CALM, BEHIND, HELD, DOWN, MOVING = (JobKey("prod", name) for name in ("a", "b", "c", "d", "e"))


def fill(service: Service) -> None:
    """Decide on one job of each kind."""
    service.decides(
        decided(0, job=CALM, load=0.2),
        decided(0, job=BEHIND, lag=9_000.0),
        decided(0, job=HELD, factor=3.0, most=4, load=0.99),
        waiting(0, Reason.JOB_NOT_RUNNING, job=DOWN),
        decided(0, job=MOVING, factor=2.0),
    )


def test_what_needs_a_look_comes_first(service: Service) -> None:
    """Alarms, what is held, what moves; of equals the one that is further behind."""
    fill(service)
    rows = selected(service.at_a_glance(1).rows, None, Order.ATTENTION)
    assert [row.job for row in rows] == [DOWN, HELD, MOVING, BEHIND, CALM]


def test_rows_are_sorted_as_asked(service: Service) -> None:
    """The largest first; names as in the alphabet."""
    fill(service)
    rows = service.at_a_glance(1).rows
    assert [row.job.name for row in selected(rows, None, Order.NAME)] == list("abcde")
    assert selected(rows, None, Order.LAG)[0].job == BEHIND
    assert selected(rows, None, Order.BUSY)[0].job == HELD


def test_a_pattern_picks_by_key_or_by_name(service: Service) -> None:
    """As people write either."""
    fill(service)
    rows = service.at_a_glance(1).rows
    for pattern, found in (("b", [BEHIND]), ("prod/b", [BEHIND]), ("test/*", []), ("[ab]", [CALM, BEHIND])):
        assert [row.job for row in selected(rows, pattern, Order.NAME)] == found
