"""How far sources are ahead of what was read, and what is not believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from headgate.engines.spark.offsets import lag_of, rows_between
from headgate.model.lag import LagOrigin


def source(end: Any, latest: Any, description: str = "a source") -> Mapping[str, Any]:
    """Give a source as a batch's progress has it."""
    return {"description": description, "endOffset": end, "latestOffset": latest}


@pytest.mark.parametrize(
    ("end", "latest", "rows"),
    [
        ({"orders": {"0": 5, "1": 7}}, {"orders": {"0": 9, "1": 7}}, 4),  # Kafka
        ({"0": 5}, {"0": 12}, 7),
        (5, 12, 7),  # sources with one counter
        ('{"0": 5}', '{"0": 12}', 7),  # quoted, as some sources give them
        ({"0": 5}, {"0": 12, "1": 3}, 10),  # a new partition begins at 0
        ({"0": 5, "1": 8}, {"0": 6}, 1),  # one that went has nothing ahead
        ({"0": 12}, {"0": 5}, 0),  # the source was truncated
    ],
)
def test_rows_are_counted_between_offsets(end: Any, latest: Any, rows: float) -> None:
    """Numbers, and numbers by partition, however deep."""
    assert rows_between(end, latest) == rows


@pytest.mark.parametrize(
    ("end", "latest"),
    [
        ({"logOffset": 3}, None),  # files
        ({"version": 3, "index": 7}, {"version": 4, "index": 1}),  # versions are no rows
        ({"0": 5}, 7),
        ("abc", "abd"),
        ({"0": 5}, {"0": float("nan")}),
        (True, False),
        ({}, {"0": {"a": 1}}),
        (None, {"0": 5}),
    ],
)
def test_other_offsets_tell_nothing(end: Any, latest: Any) -> None:
    """A number is believed only where it can be nothing but a count of rows."""
    assert rows_between(end, latest) is None


def test_alike_offsets_are_no_rows_apart_whatever_they_mean() -> None:
    """Everything there was is read."""
    assert rows_between({"version": 3}, {"version": 3}) == 0


def test_sources_add_up() -> None:
    """The query is behind by what all of them have."""
    lag = lag_of([source(5, 7), source({"0": 1}, {"0": 4})], took_all=True)
    assert (lag.rows, lag.origin) == (5, LagOrigin.OFFSETS)


def test_one_silent_source_makes_all_unknown() -> None:
    """Half of a lag is no lag."""
    assert lag_of([source(5, 7), source({"logOffset": 3}, None)], took_all=True).origin is LagOrigin.UNKNOWN


def test_without_sources_nothing_is_known() -> None:
    """Not even that there is no lag."""
    assert lag_of([], took_all=True).origin is LagOrigin.UNKNOWN


def test_a_full_batch_that_ends_at_the_latest_offset_proves_nothing() -> None:
    """The source may have been held back to its limit, and tells no more than that; rows ahead it cannot make up."""
    assert lag_of([source(600, 600)], took_all=False).origin is LagOrigin.UNKNOWN
    assert lag_of([source(600, 700)], took_all=False).rows == 100
    assert lag_of([source(600, 600)], took_all=True).rows == 0


def test_a_listing_is_asked_where_offsets_are_silent() -> None:
    """And the lag says so."""
    files = source({"logOffset": 3}, None, "FileStreamSource[file:/in]")
    lag = lag_of([source(5, 7), files], took_all=True, listing=lambda what: 40 if "file:/in" in what else None)
    assert (lag.rows, lag.origin) == (42, LagOrigin.LISTING)


def test_kafka_is_behind_by_the_sum_over_its_partitions() -> None:
    """
    As recorded of a query with a backlog: its own metrics are texts, and of one partition on average.

    What counts is the difference of the offsets, not the rows that came in a second, of which it says fewer than come.
    """
    source = {
        "description": "KafkaV2[Subscribe[orders]]",
        "endOffset": {"orders": {str(number): 18247 for number in range(8)}},
        "latestOffset": {"orders": {str(number): 22140 if number == 3 else 22139 for number in range(8)}},
        "inputRowsPerSecond": 1449.2,
        "metrics": {"avgOffsetsBehindLatest": "3892.1", "maxOffsetsBehindLatest": "3893"},
    }

    lag = lag_of([source], took_all=False)

    assert (lag.rows, lag.origin) == (31_137, LagOrigin.OFFSETS)
    assert lag.rows == pytest.approx(8 * 3892.1, abs=1)
