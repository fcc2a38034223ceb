"""
The three programs of the kill test, each a process of its own: `log_programs.py write|compact|read FOLDER [ENDPOINT]`.

Time is synthetic: a tick is ten minutes, so that hours close every few real moments. What was appended for certain
stands in `acknowledged`, one byte a tick.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa

from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.options.service import LogOptions
from headgate.samplelog import bucket, parquet
from headgate.samplelog.compaction import compact
from headgate.samplelog.files import Address, root_of
from headgate.samplelog.layout import Layout, epoch_ms
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import START, chain, sample

TICK, HOUR = timedelta(minutes=10), timedelta(hours=1)
GRACE = timedelta(hours=24)
JOBS = tuple(JobKey("prod", name) for name in ("orders", "clicks", "fraud"))
TOPOLOGY = chain({"source": 2, "sink": 1})
WINDOW_TICKS = 60
BUCKET = "fleet"


def write(folder: Path, log: Address) -> None:
    """Append tick after tick; after a restart begin with the first one that was not acknowledged."""
    writer = SampleLog(log)
    with (folder / "acknowledged").open("ab", buffering=0) as acknowledged:
        for tick in range(count_acknowledged(folder), sys.maxsize):
            writer.append([sample_of(job, tick) for job in JOBS])
            acknowledged.write(b".")
            time.sleep(0.01)


def compact_forever(_folder: Path, log: Address) -> None:
    """Compact every hour as soon as it is closed; in a bucket two do so at once, as no lock lasts there."""
    bucket._FORSAKEN = timedelta()
    while True:
        compact_once(log, grace=GRACE)
        time.sleep(0.02)


def compact_once(log: Address, *, grace: timedelta) -> None:
    """Compact as of the end of the latest hour."""
    if hours := Layout(log).hours("samples"):
        compact(log, hours[-1].end, closed_for=HOUR, grace=grace)


def read(folder: Path, log: Address) -> None:
    """Check windows all along, half of them as Spark reads: list now, open later. Ends when the folder says `stop`."""
    reader, choice, checks = LogReader(log), random.Random(1), 0  # noqa: S311 (which windows, no secret)
    while not (folder / "stop").exists():
        last = count_acknowledged(folder) - 1
        if last < 0:
            continue
        first = choice.choice([max(0, last - WINDOW_TICKS), choice.randint(0, last)])
        last = min(last, first + WINDOW_TICKS)
        for way in (read_at_once, read_listed):
            check(way(reader, at_tick(first), at_tick(last)), range(first, last + 1))
        checks += 1
    print(checks)  # noqa: T201 (the test reads it)


def read_at_once(reader: LogReader, since: datetime, until: datetime) -> pa.Table:
    """Read a window without Spark."""
    return reader.read("samples", since, until)


def read_listed(reader: LogReader, since: datetime, until: datetime) -> pa.Table:
    """List a window's files, let some time pass, read the rows of the window."""
    files = reader.files("samples", since, until)
    time.sleep(0.1)
    rows = pa.concat_tables(parquet.columns(path, None) for path in files)
    ticks = rows["at_ms"].to_numpy()
    return rows.filter(pa.array((ticks >= epoch_ms(since)) & (ticks <= epoch_ms(until))))


def check(rows: pa.Table, ticks: Iterable[int]) -> None:
    """
    Find each vertex's row of each tick exactly once, with the value it was written with.

    Raises:
        AssertionError: a row is missing, doubled or another one.
    """
    columns = (rows[name].to_pylist() for name in ("job", "vertex", "at_ms", Measure.LAG.column))
    found = Counter(zip(*columns, strict=True))
    expected = Counter(
        (str(job), vertex.id, epoch_ms(at_tick(tick)), 1000 * tick)
        for tick in ticks
        for job in JOBS
        for vertex in TOPOLOGY.vertices
    )
    message = f"lost: {list(expected - found)[:3]}, doubled or wrong: {list(found - expected)[:3]}"
    assert found == expected, message


def sample_of(job: JobKey, tick: int) -> JobSample:
    """Build a sample whose lag tells its tick."""
    made = sample(TOPOLOGY, job=job, tick=at_tick(tick))
    measured = VertexSample(measured_at=made.at, values={Measure.LAG: float(tick)})
    return replace(made, vertices=dict.fromkeys(made.vertices, measured))


def at_tick(tick: int) -> datetime:
    """Give a tick's instant."""
    return START + tick * TICK


def count_acknowledged(folder: Path) -> int:
    """Tell how many ticks were appended for certain."""
    path = folder / "acknowledged"
    return path.stat().st_size if path.exists() else 0


def log_of(folder: Path, endpoint: str | None) -> Address:
    """Tell where the log stands: beside what was acknowledged, or in a bucket of a store with that endpoint."""
    path = f"s3a://{BUCKET}/{folder.name}" if endpoint else str(folder / "log")
    return root_of(LogOptions(path=path, endpoint=endpoint))


PROGRAMS: dict[str, Callable[[Path, Address], None]] = {"write": write, "compact": compact_forever, "read": read}

if __name__ == "__main__":
    print("ready", flush=True)  # noqa: T201 (the test waits for it)
    name, place, *endpoints = sys.argv[1:]
    PROGRAMS[name](Path(place), log_of(Path(place), endpoints[0] if endpoints else None))
