"""A log that an older Headgate wrote is still read."""

from __future__ import annotations

from pathlib import Path

from headgate.model.measures import JobMeasure
from headgate.model.tables import JOBS
from headgate.samplelog import parquet
from headgate.samplelog.rows import job_table
from headgate.testing.builders import chain, sample


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
