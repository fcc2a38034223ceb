"""
The reason why rates are differences of counters: a recorded load step, with a rescale up and one down.

One subtask of `agg` can do 667 records/s. The gauge of its busy time averages over the last minute and is far off for
as long; the counters tell the capacity within seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any

import pytest

from headgate.engines.flink.counters import Counters
from headgate.engines.flink.look import Look, Reading, Seen, look

Row = Mapping[str, Any]
Series = Callable[[str], list[dict[str, Any]]]
NOMINAL = 667.0
T0_S = 1_700_000_000.0
RECORDINGS = ("step_rescale", "step_rescale_debloat")
RESTARTS_S = {"step_rescale": (0.0, 67.0, 128.0), "step_rescale_debloat": (0.0, 61.0, 125.5)}
"""When the tasks were deployed, in seconds of the recording."""
WINDOW_S = 10


def read(recording: str, row: Row, vertex: str) -> Reading | None:
    """Make a reading of one line; None while Flink did not answer."""
    parallelism, records_in, records_out, busy, idle, blocked, _ = row[vertex]
    if records_in is None:
        return None
    started_s = max(each for each in RESTARTS_S[recording] if each <= max(row["t"], 0.0))
    return Reading(
        counters=Counters(
            records_in=records_in,
            records_out=records_out,
            busy_ms=busy,
            idle_ms=idle,
            backpressured_ms=blocked,
        ),
        parallelism=parallelism,
        started_at_ms=round((T0_S + started_s) * 1000),
        running_since_ms=round((T0_S + started_s) * 1000),
        now_ms=round((T0_S + row["t"]) * 1000),
        all_running=True,
    )


def looks(recording: str, rows: list[dict[str, Any]], vertex: str) -> Iterator[Look]:
    """Look at a vertex at every line, as the collector does."""
    seen: Seen | None = None
    for row in rows:
        reading = read(recording, row, vertex)
        at = datetime.fromtimestamp(T0_S + row["t"], UTC)
        found = look(seen, reading, at=at, refresh=timedelta(seconds=1)) if reading else None
        if found is not None:
            seen = found.seen
            yield found


def over_window(recording: str, rows: list[dict[str, Any]], begin_s: int) -> tuple[float, float]:
    """Give the true processing rate of a subtask of `agg` over ten seconds: by counters, and by the gauge."""
    window = rows[begin_s : begin_s + WINDOW_S + 1]
    first, last = (read(recording, row, "agg") for row in (window[0], window[-1]))
    assert first is not None
    assert last is not None
    assert first.counters.records_in is not None
    assert first.counters.busy_ms is not None
    records = (last.counters.records_in or 0.0) - first.counters.records_in
    busy_s = ((last.counters.busy_ms or 0.0) - first.counters.busy_ms) / 1000
    gauge = fmean(row["agg"][-1] for row in window) / 1000
    seconds = window[-1]["t"] - window[0]["t"]
    return records / busy_s, records / seconds / gauge


@pytest.mark.parametrize("recording", RECORDINGS)
@pytest.mark.parametrize("begin_s", [30, 35, 40])
def test_soon_after_a_step_counters_tell_the_capacity_and_the_gauge_does_not(
    recording: str, begin_s: int, series: Series
) -> None:
    """The load steps from 400 to 1,000 records/s at 30 s, more than one subtask can do."""
    by_counters, by_gauge = over_window(recording, series(recording), begin_s)
    assert by_counters == pytest.approx(NOMINAL, rel=0.05)
    assert by_gauge != pytest.approx(NOMINAL, rel=0.15)


@pytest.mark.parametrize("recording", RECORDINGS)
@pytest.mark.parametrize("begin_s", [80, 85, 95])
def test_after_the_rescale_too(recording: str, begin_s: int, series: Series) -> None:
    """Three subtasks share the load, each at half its capacity; that changes nothing about what one can do."""
    by_counters, by_gauge = over_window(recording, series(recording), begin_s)
    assert by_counters == pytest.approx(NOMINAL, rel=0.05)
    assert by_gauge != pytest.approx(NOMINAL, rel=0.05)


@pytest.mark.parametrize("recording", RECORDINGS)
@pytest.mark.parametrize("vertex", ["Source", "parse", "agg", "sink"])
def test_no_rate_is_negative_over_two_rescales(recording: str, vertex: str, series: Series) -> None:
    """Each restart begins an epoch, and no difference reaches across."""
    found = list(looks(recording, series(recording), vertex))
    pairs = [each for each in found if each.is_sample and each.before]
    assert len(pairs) > 100
    assert all((each.grown("records_in") or 0.0) >= 0 for each in pairs)
    assert all((each.grown("records_out") or 0.0) >= 0 for each in pairs)
    assert all(each.elapsed_s > 0 for each in pairs)


@pytest.mark.parametrize("recording", RECORDINGS)
@pytest.mark.parametrize("vertex", ["parse", "agg", "sink"])
def test_epochs_are_the_restarts(recording: str, vertex: str, series: Series) -> None:
    """Three runs, three epochs: falling busy times of a nearly idle vertex begin none."""
    samples = [each for each in looks(recording, series(recording), vertex) if each.is_sample]
    assert len({each.seen.epoch for each in samples}) == 3


@pytest.mark.parametrize("recording", RECORDINGS)
def test_repeated_answers_are_left_out(recording: str, series: Series) -> None:
    """Flink was asked about as often as it looked itself, so that many answers repeat the one before."""
    found = list(looks(recording, series(recording), "agg"))
    stale = [each for each in found if not each.is_sample]
    assert len(stale) > 10


@pytest.mark.parametrize("recording", RECORDINGS)
def test_the_engines_clock_runs_like_the_recorders(recording: str, series: Series) -> None:
    """Over each run, busy, idle and back-pressured time of a subtask add up to the time that has passed."""
    runs: dict[int, list[Look]] = {}
    for each in looks(recording, series(recording), "agg"):
        if each.is_sample:
            runs.setdefault(each.seen.epoch, []).append(each)
    for run in runs.values():
        first, last = run[0].seen, run[-1].seen
        by_engine = (last.measured_at - first.measured_at).total_seconds()
        by_recorder = (last.looked_at - first.looked_at).total_seconds()
        assert by_engine == pytest.approx(by_recorder, abs=2.5)
