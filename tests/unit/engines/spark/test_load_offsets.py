"""How rows are spread over partitions, and how many a batch may take."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.engines.spark.source.offsets import admit, heads, share
from headgate.engines.spark.source.settings import read_settings

OPTIONS = {"profile": "0s:100", "start": "2026-01-31T12:00:00Z"}
START_S = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()


@given(st.floats(0, 1e7), st.integers(1, 40))
def test_equal_partitions_hold_exactly_the_rows_that_came(rows: float, partitions: int) -> None:
    """None is lost to rounding, and no partition is more than one row ahead of another."""
    offsets = heads(rows, share(partitions, 0))
    assert abs(sum(offsets) - int(rows)) <= 1
    assert max(offsets) - min(offsets) <= 1


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 20), st.floats(0, 3))
def test_offsets_never_go_back(one: float, other: float, partitions: int, skew: float) -> None:
    """Whatever the skew."""
    early, late = (heads(rows, share(partitions, skew)) for rows in sorted((one, other)))
    assert all(before <= after for before, after in zip(early, late, strict=True))


def test_skew_gives_the_first_partition_most() -> None:
    """In proportion to 1, 1/2, 1/3."""
    assert heads(1100, share(3, 1.0)) == (600, 300, 200)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=1, max_size=20), st.integers(1, 5000))
def test_a_batch_is_as_full_as_may_be(waiting: list[tuple[int, int]], most: int) -> None:
    """It takes what waits, at most the limit, and never more of a partition than there is."""
    start = [begin for begin, _ in waiting]
    head = [begin + rows for begin, rows in waiting]
    admitted = admit(start, head, most)
    assert sum(admitted) - sum(start) == min(most, sum(head) - sum(start))
    assert all(begin <= until <= end for begin, until, end in zip(start, admitted, head, strict=True))


def test_a_clock_that_was_set_back_takes_nothing_back() -> None:
    """A head behind the start of a batch is an empty batch."""
    assert admit((10, 10), (7, 12), 100) == (10, 12)


def test_the_same_options_give_the_same_offsets_at_the_same_instant() -> None:
    """So a restart reads the very same rows."""
    first, second = (read_settings(OPTIONS | {"PARTITIONS": "4"}) for _ in range(2))
    assert first.heads_at(START_S + 10) == second.heads_at(START_S + 10) == (250, 250, 250, 250)
    assert first.heads_at(START_S - 10) == (0, 0, 0, 0)


def test_a_start_without_a_zone_is_utc() -> None:
    """As all instants are."""
    assert read_settings(OPTIONS | {"start": "2026-01-31T12:00:00"}).start.timestamp() == START_S


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"profile": None}, "needs the option profile"),
        ({"start": None}, "keep it over restarts"),
        ({"start": "soon"}, "option start"),
        ({"partitions": "0"}, "option partitions of headgate-load: '0' is no positive number"),
        ({"maxRowsPerTrigger": "many"}, "option maxRowsPerTrigger"),
        ({"skew": "-1"}, "not between 0 and 10"),
        ({"rows": "7"}, "has no option rows"),
    ],
)
def test_a_faulty_option_is_named(changed: dict[str, str | None], fault: str) -> None:
    """All of them are checked before anything is read."""
    options = {name: text for name, text in {**OPTIONS, **changed}.items() if text is not None}
    with pytest.raises(ValueError, match=fault.replace("(", r"\(")):
        read_settings(options)
