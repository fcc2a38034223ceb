"""
A made-up fleet of jobs of ten vertices, and the samples that its collector would take.

Nine jobs of ten share the default options, one has options of its own. Most jobs are balanced; every fifth would like
a little more but is within its band; every hundredth has a vertex that is too small and is to be changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property

import numpy as np
import pyarrow as pa

from headgate.algorithm.stats import Floats
from headgate.control.observation import Observation
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import SUBUNIT, JobMeasure, JobStatus, Measure
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.tables import JOBS, SAMPLES
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import Candidate, JobContext
from headgate.samplelog.layout import epoch_ms

INTERVAL = timedelta(seconds=15)
WINDOW = timedelta(minutes=15)
NOW = datetime(2026, 3, 1, 10, 12, tzinfo=UTC)
RUNNING_SINCE = NOW - timedelta(days=2)
NEEDED = 1 / 0.7 + 1 / 6
"""Capacity that the default options ask for, as a multiple of the target rate."""

PARALLELISM = np.array([2, 3, 4, 2, 5, 8, 4, 3, 6, 2])
EDGES = ((0, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6), (5, 7), (6, 8), (7, 8), (8, 9))
VERTICES = len(PARALLELISM)
SOURCES = np.array([True, True] + [False] * (VERTICES - 2))
SHARE = np.array([1.0, 0.5, 1.0, 0.5, 1.5, 1.5, 0.75, 0.75, 1.5, 1.5])
"""Records that a vertex reads, per record of the first source."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """So many jobs, the same ones each time."""

    jobs: int

    @cached_property
    def names(self) -> list[str]:
        """Text forms of the jobs' keys."""
        return [f"prod/orders-{number:05}" for number in range(self.jobs)]

    def observations(self) -> dict[JobKey, Observation]:
        """Give every job as the last tick of the collector left it."""
        default, settings = AutoscalerOptions(), EngineSettings(checkpoint_interval_s=60.0)
        seen: dict[JobKey, Observation] = {}
        for number, name in enumerate(self.names):
            options = default if number % 10 else _own_options(number)
            key = JobKey.parse(name)
            ctx = JobContext(key=key, job_id=f"{number:032x}", status=JobStatus.RUNNING, options=options)
            seen[key] = Observation(ctx=ctx, sample=_sample(key, ctx.job_id, number, settings))
        return seen

    def candidates(self, now: datetime) -> list[Candidate]:
        """Ask about every job; each shares its window with all others."""
        seen = ((one.sample, one.ctx.options) for one in self.observations().values() if one.sample)
        return [Candidate(sample=sample, options=options, window_from=now - WINDOW) for sample, options in seen]

    @cached_property
    def _load(self) -> Floats:
        """Busy share of every vertex."""
        random = np.random.default_rng(7)
        parallelism = np.tile(PARALLELISM, self.jobs)
        least = np.maximum((parallelism - 1) / parallelism + 0.02, 0.66)
        load = random.uniform(least, 0.97) / NEEDED
        load[VERTICES + 5 :: 5 * VERTICES] = 1.15 / NEEDED
        load[50 * VERTICES + 8 :: 100 * VERTICES] = 0.95
        return np.asarray(load)

    @cached_property
    def _rate(self) -> Floats:
        """Records/s that every vertex reads."""
        base = np.random.default_rng(8).uniform(50, 50_000, self.jobs)
        return np.asarray(np.repeat(base, VERTICES) * np.tile(SHARE, self.jobs))

    @cached_property
    def _keys(self) -> dict[str, pa.Array]:
        ids = [vertex_id(number, place) for number in range(self.jobs) for place in range(VERTICES)]
        return {"job": pa.array(np.repeat(np.array(self.names), VERTICES).tolist()), "vertex": pa.array(ids)}

    def samples(self, at: datetime) -> pa.Table:
        """Give the rows of one tick."""
        rows = self.jobs * VERTICES
        seconds = (at - RUNNING_SINCE).total_seconds()
        random = np.random.default_rng(int(seconds))
        noise = random.normal(1, 0.01, rows)
        parallelism, source = np.tile(PARALLELISM, self.jobs), np.tile(SOURCES, self.jobs)
        measured = epoch_ms(at) - np.repeat(random.integers(0, 900, self.jobs), VERTICES)
        age = (measured - epoch_ms(RUNNING_SINCE)) / 1000
        busy = self._load * age * parallelism * 1000
        values = {
            Measure.LAG: np.where(source, 0.0, np.nan),
            Measure.NUM_RECORDS_IN: np.floor(self._rate * age),
            Measure.NUM_RECORDS_OUT: np.floor(self._rate * age),
            Measure.ACCUMULATED_BUSY_TIME: np.floor(busy),
            Measure.ACCUMULATED_IDLE_TIME: np.floor(age * parallelism * 1000 - busy),
            Measure.ACCUMULATED_BACKPRESSURED_TIME: np.zeros(rows),
            Measure.LOAD: self._load * noise,
            Measure.NUM_RECORDS_IN_PER_SECOND: self._rate * noise,
        }
        columns = {measure.column: _stored(numbers) for measure, numbers in values.items()}
        columns |= {
            "at_ms": np.full(rows, epoch_ms(at)),
            "measured_ms": measured,
            "epoch": np.zeros(rows, dtype=np.int64),
            "parallelism": parallelism,
            "infinite": np.where(source, Measure.OBSERVED_TPR.bit, 0),
            Measure.OBSERVED_TPR.column: pa.nulls(rows, pa.int64()),
        }
        return pa.table({**self._keys, **columns}).select(SAMPLES.names).cast(SAMPLES)

    def job_values(self, at: datetime) -> pa.Table:
        """Give the job-wide rows of one tick."""
        random = np.random.default_rng(epoch_ms(at))
        known: dict[str, object] = {
            "job": self.names,
            "at_ms": np.full(self.jobs, epoch_ms(at)),
            "job_id": [f"{number:032x}" for number in range(self.jobs)],
            "running_since_ms": np.full(self.jobs, epoch_ms(RUNNING_SINCE)),
            "fingerprint": [f"{number:016x}" for number in range(self.jobs)],
            "slots_total": np.full(self.jobs, 64),
            "slots_free": np.full(self.jobs, 8),
            **{measure.value: _stored(random.uniform(0.1, 0.9, self.jobs)) for measure in JobMeasure},
        }
        return pa.table(known).select(JOBS.names).cast(JOBS)


def ticks(begin: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the collector's ticks of `[begin, end)`."""
    while begin < end:
        yield begin
        begin += INTERVAL


def vertex_id(job: int, place: int) -> str:
    """Name a vertex as Flink does, by 32 hex digits without any order in them."""
    return f"{(job * VERTICES + place + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128:032x}"


@cache
def _own_options(number: int) -> AutoscalerOptions:
    return AutoscalerOptions(utilization_target=0.69 + number / 1e7, utilization_max=0.8 + number / 1e7)


@cache
def _topology(number: int) -> Topology:
    """Give a job's graph: the same object each time, as the collector does while nothing changes."""
    ids = [VertexId(vertex_id(number, place)) for place in range(VERTICES)]
    return Topology(
        vertices=tuple(
            Vertex(id=one, name=f"step {place}", parallelism=int(PARALLELISM[place]), max_parallelism=128)
            for place, one in enumerate(ids)
        ),
        edges=tuple(Edge(source=ids[u], target=ids[v], ship_strategy=ShipStrategy.HASH) for u, v in EDGES),
    )


def _sample(key: JobKey, job_id: str, number: int, settings: EngineSettings) -> JobSample:
    return JobSample(
        job=key,
        at=NOW,
        job_id=job_id,
        running_since=RUNNING_SINCE,
        topology=_topology(number),
        vertices={},
        settings=settings,
        slots_total=64,
        slots_free=8,
        values=dict.fromkeys(JobMeasure, 0.5),
    )


def _stored(values: Floats) -> pa.Array:
    """Give numbers as the log keeps them: whole thousandths, NaN as null."""
    missing = np.isnan(values)
    return pa.array(np.rint(np.where(missing, 0, values) * SUBUNIT).astype(np.int64), mask=missing)
