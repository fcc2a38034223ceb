"""Progress reports as different versions of Spark write them, and what is made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.engines.spark.application import QuerySettings
from headgate.engines.spark.progress import Circumstances, query_of, read_batch
from headgate.model.lag import LagOrigin
from headgate.model.micro_batch import MicroBatch, StageWork

RECORDED = Path(__file__).parents[3] / "fixtures" / "spark" / "progress"
STAGES = (StageWork(tasks=4, task_time=timedelta(milliseconds=300)),)

PROGRESS: Mapping[str, Any] = {
    "id": "an-id",
    "runId": "a-run",
    "name": "count",
    "timestamp": "2026-01-01T12:00:00.250Z",
    "batchId": 7,
    "batchDuration": 1500,
    "numInputRows": 600,
    "durationMs": {"addBatch": 1200, "triggerExecution": 1500, "queryPlanning": 100},
    "stateOperators": [],
    "sources": [{"description": "a source", "endOffset": {"0": 600}, "latestOffset": {"0": 650}}],
}


def read(progress: Mapping[str, Any], settings: QuerySettings | None = None) -> MicroBatch | None:
    """Read a report of a batch that ran on two cores."""
    return read_batch(progress, Circumstances(cores=2, stages=STAGES, settings=settings or QuerySettings()))


def batch(settings: QuerySettings | None = None, **changes: Any) -> MicroBatch:
    """Read the report with changes."""
    found = read({**PROGRESS, **changes}, settings)
    assert found is not None
    return found


def test_a_report_says_what_a_batch_did() -> None:
    """When it began, how long it took, and what it left over."""
    found = batch(QuerySettings(interval=timedelta(seconds=2), row_limit=1000, takes_all=False))
    assert (found.query, found.run_id, found.batch_id) == ("count", "a-run", 7)
    assert found.started_at == datetime(2026, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    assert (found.duration, found.rows, found.cores) == (timedelta(seconds=1.5), 600, 2)
    assert found.phases["addBatch"] == timedelta(seconds=1.2)
    assert (found.lag, found.lag_origin) == (50, LagOrigin.OFFSETS)
    assert (found.interval, found.limit, found.stages) == (timedelta(seconds=2), 1000, STAGES)


def test_a_query_without_a_name_goes_by_its_id() -> None:
    """It is the same across restarts from one checkpoint."""
    assert query_of({**PROGRESS, "name": None}) == "an-id"


def test_without_a_duration_of_its_own_the_trigger_tells() -> None:
    """Older versions, and some reports, have none."""
    without = {key: value for key, value in PROGRESS.items() if key != "batchDuration"}
    found = read(without)
    assert found
    assert found.duration == timedelta(seconds=1.5)


def test_rows_are_added_up_where_the_sum_is_missing() -> None:
    """Over the sources."""
    without = {key: value for key, value in PROGRESS.items() if key != "numInputRows"}
    found = read({**without, "sources": [{"numInputRows": 3}, {"numInputRows": 4}]})
    assert found
    assert found.rows == 7


@pytest.mark.parametrize(
    "changes",
    [
        {"durationMs": {"triggerExecution": 3, "latestOffset": 2}},  # a query that waits
        {"durationMs": None},
        {"timestamp": "yesterday"},
        {"batchId": None},
    ],
)
def test_what_is_no_batch_or_cannot_be_read_is_none(changes: Mapping[str, Any]) -> None:
    """Whatever Spark writes, nothing is raised."""
    assert read({**PROGRESS, **changes}) is None


def test_numbers_that_are_none_count_as_nothing() -> None:
    """Not a number, nothing, or below zero."""
    states = [
        {"numRowsTotal": 5, "memoryUsedBytes": float("nan")},
        {"numRowsTotal": None, "memoryUsedBytes": 900, "customMetrics": {"rocksdbSstFileSize": 5000}},
    ]
    found = batch(numInputRows=-1, stateOperators=states, sources=None)
    assert (found.rows, found.state_rows, found.state_bytes) == (0, 5, 5000)


SILENT: Mapping[str, Any] = {"sources": [{"description": "files", "endOffset": {"logOffset": 3}, "latestOffset": None}]}


def test_batches_that_take_all_and_end_early_leave_nothing_waiting() -> None:
    """Where the source is silent, the trigger tells."""
    found = batch(QuerySettings(interval=timedelta(seconds=10)), **SILENT)
    assert (found.lag, found.lag_origin) == (0, LagOrigin.TRIGGER)


@pytest.mark.parametrize(
    "settings",
    [
        QuerySettings(interval=timedelta(seconds=1.6)),  # it ends just before the next trigger
        QuerySettings(interval=None),  # one batch follows the other
        QuerySettings(interval=timedelta(seconds=10), takes_all=False),  # it may have left any number of files
    ],
)
def test_otherwise_nobody_knows_what_waits(settings: QuerySettings) -> None:
    """Unknown is not zero."""
    found = batch(settings, **SILENT)
    assert (found.lag, found.lag_origin) == (None, LagOrigin.UNKNOWN)


def test_a_batch_as_large_as_its_limit_may_have_been_held_back() -> None:
    """Its end offset as the latest one proves nothing then; that of a smaller batch does."""
    same = {"sources": [{"endOffset": {"0": 600}, "latestOffset": {"0": 600}}]}
    full = batch(QuerySettings(row_limit=610, takes_all=False), **same)
    small = batch(QuerySettings(row_limit=1000, takes_all=False), **same)
    assert (full.lag_origin, small.lag_origin) == (LagOrigin.UNKNOWN, LagOrigin.OFFSETS)


def recorded() -> list[tuple[str, Mapping[str, Any]]]:
    """Give reports of real queries, with the version that wrote them."""
    files = sorted(RECORDED.glob("*.jsonl"))
    return [(path.stem, json.loads(line)) for path in files for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("version", "progress"), recorded())
def test_reports_of_real_queries_are_read(version: str, progress: Mapping[str, Any]) -> None:
    """Of PySpark 3.5, 4.0 and 4.3: every one is a batch, of a query with a name, that took some time."""
    found = read(progress)
    assert found, version
    assert found.query == progress["name"]
    assert found.duration > timedelta()
    assert found.rows == progress["numInputRows"]


def test_all_versions_are_recorded() -> None:
    """A rate source, whose head is known, a file source, whose head is not, and a store of state."""
    assert {version for version, _ in recorded()} == {"3.5.6", "4.0.1", "4.3.0"}
    for version in ("3.5.6", "4.0.1", "4.3.0"):
        batches = [found for name, progress in recorded() if name == version and (found := read(progress))]
        assert {one.lag_origin for one in batches if one.query == "counts"} == {LagOrigin.OFFSETS}
        assert {one.lag_origin for one in batches if one.query == "files"} == {LagOrigin.UNKNOWN}
        assert any(one.state_rows and one.state_bytes for one in batches if one.query == "counts")
