"""
A counter reset means the same to whatever reads samples.

Windows are reduced in memory here; tests/spark/test_reducers.py holds Spark's equal to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from headgate.algorithm.arrival.stretches import stretches
from headgate.algorithm.epochs import combine
from headgate.algorithm.hpa.series import track
from headgate.algorithm.micro_batch.arrivals import arrival_rate
from headgate.algorithm.rates import rate
from headgate.algorithm.reduce import reduce_columns
from headgate.algorithm.resets import Epochs
from headgate.model.identity import VertexId
from headgate.model.measures import SUBUNIT, Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.pipeline.in_process import kept_vertices
from headgate.samplelog.rows import sample_table
from headgate.testing.builders import at, chain, sample

SOURCE = VertexId("source")
GRAPH = chain({SOURCE: 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a collector tells of a source at one tick."""

    at_s: float
    records: float
    """Read so far, and written so far to what is read."""
    epoch: int = 0
    job_id: str = "j1"


def samples_of(history: Sequence[Told]) -> list[JobSample]:
    """Return the samples that the observer makes of what its collector told."""
    epochs, found = Epochs(), list[JobSample]()
    for each in history:
        counted = {Measure.NUM_RECORDS_IN: each.records, Measure.ARRIVED: each.records, Measure.LAG: 0.0}
        seen = VertexSample(measured_at=at(each.at_s), epoch=each.epoch, values=counted)
        told = sample(GRAPH, tick=at(each.at_s), job_id=each.job_id)
        found.append(epochs.marked(replace(told, vertices={SOURCE: seen})))
    return found


def rates(samples: Sequence[JobSample]) -> dict[str, float]:
    """Return the records/s of the source as each reader takes them; of stretches, the mean."""
    rows, seen = kept_vertices(sample_table(samples)), [each.vertices[SOURCE] for each in samples]
    windows, owner = reduce_columns(rows.columns, rows.owner)
    ds2, read = combine(windows, owner, 1), track(SOURCE, 1, samples).read
    come = stretches(rows.columns, rows.owner, 1)
    took_s = float(np.sum(come.took_ms)) / 1000
    return {
        "windows": float(rate(ds2[Measure.NUM_RECORDS_IN])[0]),
        "input as its owner counts it": float(rate(ds2[Measure.ARRIVED])[0]),
        "the HPA's policy": read.rate(0, len(samples) - 1),
        "arrivals": float(np.sum(come.came)) / SUBUNIT / took_s if took_s else math.nan,
        "micro-batches": arrival_rate(seen),
    }


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[Told]]:
    """Draw a rate, and a counter that grows by it but where it is reset, whether its collector tells of that or not."""
    per_s, now = draw(st.integers(0, 10**6)), Told(at_s=0, records=draw(st.integers(0, 10**9)))
    told = [now]
    for _ in range(draw(st.integers(1, 20))):
        now = replace(now, at_s=now.at_s + draw(st.integers(1, 60)))
        records = told[-1].records + per_s * (now.at_s - told[-1].at_s)
        match draw(st.sampled_from(["grows", "grows", "grows", "falls", "new epoch", "new job"])):
            case "falls" if told[-1].records > 0:
                records = draw(st.integers(0, int(told[-1].records) - 1))
            case "new epoch":
                now, records = replace(now, epoch=now.epoch + draw(st.integers(1, 9))), draw(st.integers(0, 10**9))
            case "new job":
                now, records = replace(now, job_id=f"j{now.at_s}"), draw(st.integers(0, 10**9))
        now = replace(now, records=records)
        told.append(now)
    return per_s, told


@given(histories())
def test_whoever_reads_a_counter_sees_the_same_resets(drawn: tuple[int, list[Told]]) -> None:
    """Across one neither growth nor time counts, so the rate is what it is between them; or nobody knows it."""
    per_s, history = drawn

    found = rates(samples_of(history))

    unknown = [name for name, each in found.items() if math.isnan(each)]
    assert unknown in ([], list(found))
    assert unknown or list(found.values()) == pytest.approx([per_s] * len(found))


def test_a_counter_that_fell_once_grew_by_100_per_second() -> None:
    """Were the reset none, 1500 records in 40 s would be 37.5/s."""
    history = [Told(at_s=10 * number, records=read) for number, read in enumerate((0, 1000, 2000, 500, 1500))]

    assert list(rates(samples_of(history)).values()) == pytest.approx([100.0] * 5)


def test_a_reset_that_the_collector_tells_is_no_second_one() -> None:
    """Its epochs stay as they are, so that a log goes on where another process left it."""
    history = [
        Told(at_s=0, records=1000, epoch=7),
        Told(at_s=10, records=0, epoch=8),
        Told(at_s=20, records=9, epoch=8),
    ]

    assert [each.vertices[SOURCE].epoch for each in samples_of(history)] == [7, 8, 8]


def test_what_is_told_again_of_one_instant_is_no_reset() -> None:
    """A micro-batch had fewer rows at its end than it announced at its begin."""
    history = [Told(at_s=0, records=0), Told(at_s=10, records=1010), Told(at_s=10, records=1000)]
    again = samples_of(history)[-1].vertices[SOURCE]

    assert (again.epoch, again.measured_at - at(0)) == (0, timedelta(seconds=10))


def test_busy_time_alone_may_fall() -> None:
    """Flink takes it as the rest of the time that is neither idle nor back-pressured, and books idle time late."""
    times = [(5, 95, 0), (1, 199, 0), (0, 90, 0)]
    names = (Measure.ACCUMULATED_BUSY_TIME, Measure.ACCUMULATED_IDLE_TIME, Measure.ACCUMULATED_BACKPRESSURED_TIME)
    epochs = Epochs()
    found = []
    for second, values in enumerate(times):
        seen = VertexSample(measured_at=at(second), values=dict(zip(names, map(float, values), strict=True)))
        marked = epochs.marked(replace(sample(GRAPH, tick=at(second)), vertices={SOURCE: seen}))
        found.append(marked.vertices[SOURCE].epoch)

    assert found == [0, 0, 1]
