"""A log that an older Headgate wrote is still read."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, Measure
from headgate.model.tables import JOBS, SAMPLES, VERTICES
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import Candidate
from headgate.samplelog import parquet
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import job_table, read_decision, read_topology, sample_table, vertex_table
from headgate.samplelog.windows import LogWindows
from headgate.testing.builders import ORDERS, START, at, chain, sample

KEPT = Path(__file__).parents[2] / "fixtures" / "log"
"""A log that an older Headgate has left; see the README in it."""


def test_what_was_infinite_in_a_log_of_before_is_so_still() -> None:
    """Each vertex of it is named like the only measure that it had, whatever is declared in front of that by now."""
    candidate = Candidate(sample=sample(chain({})), options=AutoscalerOptions(), window_from=START)

    (tick,) = LogWindows(KEPT).samples([candidate])[ORDERS]

    known = {
        vertex: {measure.column: value for measure, value in one.values.items()}
        for vertex, one in tick.vertices.items()
    }
    assert len(known) == 23
    assert known == {column: {column: math.inf} for column in known}


@pytest.mark.parametrize("job", ["fast", "windowed"])
def test_what_was_decided_in_a_log_of_before_is_still_what_is_read(job: str) -> None:
    """Those that change nothing were kept as numbers without names; what a later version would say is no history."""
    told = [read_decision({"detail": line}) for line in (KEPT / "decisions.jsonl").read_text().splitlines()]

    read = LogReader(KEPT).decisions(JobKey("simulated", job), START, at(3600))

    assert list(read) == [decision for decision in told if decision.job.name == job]
    assert [str(decision.reason) for decision in read] == ["WindowFilling", "Balanced", "Balanced", "Rescaled"]
    assert read[1].message == "every vertex runs at its wanted parallelism"


def test_numbers_of_before_the_origin_of_a_lag_was_kept_are_read() -> None:
    """It was the last one of the job's; none is known of such."""
    row = LogReader(KEPT).read("decisions", at(40), at(40), job=JobKey("simulated", "fast")).to_pylist()[0]
    numbers = row["numbers"]

    older = read_decision({**row, "numbers": [numbers[0], 16.0, *numbers[2:16], *numbers[17:]]})

    now = read_decision(row)
    assert (now.evaluated, older.evaluated) != (None, None)
    assert now.evaluated is not None
    assert older == replace(now, evaluated=replace(now.evaluated, lag_origin=None))


def test_no_two_measures_share_a_bit_of_what_was_infinite() -> None:
    """Each has one of the 31 that the column has room for."""
    assert len({measure.bit for measure in Measure}) == len(Measure)
    assert all(measure.bit < 2**31 for measure in Measure)


def test_columns_that_were_added_since_are_null(tmp_path: Path) -> None:
    """Also where such a file is compacted together with a new one."""
    old, new, both = (tmp_path / name for name in ("old.parquet", "new.parquet", "both.parquet"))
    rows = job_table([sample(chain({"v": 1}))])
    parquet.write(old, rows.drop_columns([JobMeasure.GC_PRESSURE.value]))
    parquet.write(new, rows)

    read = parquet.read(old, JOBS)
    parquet.concatenate(both, JOBS, [old, new])

    assert read.schema.equals(JOBS)
    assert read[JobMeasure.GC_PRESSURE.value].to_pylist() == [None]
    assert parquet.read(both, JOBS).num_rows == 2


@pytest.mark.parametrize("measure", [each for each in Measure if each.column.startswith(("batch_", "row_", "task"))])
def test_samples_from_before_micro_batches_are_read(tmp_path: Path, measure: Measure) -> None:
    """They have nothing of what batches cost."""
    path = tmp_path / "old.parquet"
    parquet.write(path, sample_table([sample(chain({"v": 1}))]).drop_columns([measure.column]))
    assert parquet.read(path, SAMPLES)[measure.column].to_pylist() == [None]


def test_graphs_from_before_slot_sharing_groups_are_read(tmp_path: Path) -> None:
    """No group is known of their vertices."""
    path, graph = tmp_path / "old.parquet", chain({"v": 1})
    parquet.write(path, vertex_table([sample(graph)]).drop_columns(["slot_sharing_group"]))
    assert read_topology(parquet.read(path, VERTICES).to_pylist()) == graph
