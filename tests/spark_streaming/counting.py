"""Counting what queries wrote against what they committed: no row missing, none twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq

Row = tuple[int, int]
"""Partition and offset."""


def committed(checkpoint: Path) -> int:
    """Give the last batch that a query has committed; -1 for none."""
    return max((int(entry.name) for entry in (checkpoint / "commits").iterdir() if entry.name.isdecimal()), default=-1)


def end_offsets(checkpoint: Path, batch: int) -> Mapping[int, int]:
    """Give where each partition stood after a batch, by the query's own log: the next offset."""
    last_line = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[-1]
    return {int(partition): offset for partition, offset in json.loads(last_line).items()}


def expected(checkpoint: Path) -> Counter[Row]:
    """Give every row up to the last commit, once."""
    ends = end_offsets(checkpoint, committed(checkpoint))
    return Counter((partition, offset) for partition, end in ends.items() for offset in range(end))


def written(directory: Path, until: int) -> Counter[Row]:
    """Give how often each row is in the files that count, by the sink's own log, up to a batch."""
    rows: Counter[Row] = Counter()
    for path in _files(directory / "_spark_metadata", until):
        table = pq.read_table(directory / Path(path).name, columns=["partition", "offset"])
        rows.update(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))
    return rows


def differences(directory: Path, checkpoint: Path) -> str:
    """Say which rows are missing or there twice; empty where none is."""
    found, should = written(directory, committed(checkpoint)), expected(checkpoint)
    missing, surplus = should - found, found - should
    if not should:
        return "nothing was committed at all"
    return f"missing {_some(missing)}; too often {_some(surplus)}" if missing or surplus else ""


def _files(log: Path, until: int) -> Iterator[str]:
    """List the files by the sink's log; it is compacted now and then, and a compact file stands for all before it."""
    names = {int(entry.name.partition(".")[0]): entry for entry in log.iterdir() if entry.name[0].isdecimal()}
    compacted = max((batch for batch, entry in names.items() if entry.suffix == ".compact"), default=0)
    for batch, entry in sorted(names.items()):
        if compacted <= batch <= until:
            yield from (json.loads(line)["path"] for line in entry.read_text().splitlines()[1:])


def _some(rows: Counter[Row]) -> str:
    return f"{rows.total()} rows, such as {sorted(rows)[:5]}" if rows else "none"
