"""Every signal of every sample is kept, and a replay finds exactly what a decision went by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from headgate.algorithm.decide import decide
from headgate.model.decision import SeenSignal
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import JobSample, Signal
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import SignalOptions, SignalUse
from headgate.samplelog.compaction import compact
from headgate.samplelog.layout import Layout
from headgate.samplelog.reader import LogReader
from headgate.samplelog.retention import expire
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, at, chain, evaluated, sample

GRAPH = chain({"source": 2, "sink": 2})
OTHER = JobKey("prod", "other")
NOTHING: Mapping[str, Signal] = {}
SIGNALS = {
    "depth": Signal(value=0.1 + 0.2, measured_at=at(9.123), vertex=VertexId("source")),
    "cpu": Signal(value=-1e300, measured_at=at(3)),
}


def tick(second: float, signals: Mapping[str, Signal] = NOTHING, *, job: JobKey = ORDERS) -> JobSample:
    """Give a sample with signals."""
    return replace(sample(GRAPH, job=job, tick=at(second)), signals=signals)


def test_what_was_kept_is_read_exactly(tmp_path: Path) -> None:
    """By job and tick, to the last bit and the millisecond; before and after compaction."""
    log, reader = SampleLog(tmp_path), LogReader(tmp_path)
    log.append([tick(10, SIGNALS), tick(10, {"depth": SIGNALS["cpu"]}, job=OTHER)])
    log.append([tick(20, {"cpu": SIGNALS["cpu"]})])
    for _ in range(2):
        assert reader.signals(ORDERS, at(10)) == SIGNALS
        assert reader.signals(OTHER, at(10)) == {"depth": SIGNALS["cpu"]}
        assert reader.signals(ORDERS, at(20)) == {"cpu": SIGNALS["cpu"]}
        assert reader.signals(ORDERS, at(30)) == {}
        compact(tmp_path, at(9000), closed_for=timedelta())
    assert reader.files("signals", at(0), at(60))[0].name.startswith("generation-")


def test_a_fleet_without_signals_writes_no_file_for_them(tmp_path: Path) -> None:
    """Nothing is written at every tick for nothing."""
    SampleLog(tmp_path).append([tick(10)])
    assert not Layout(tmp_path).hours("signals")


def test_a_tick_that_is_written_again_has_its_last_signals(tmp_path: Path) -> None:
    """Also when it has none any more."""
    log = SampleLog(tmp_path)
    log.append([tick(10, SIGNALS)])
    log.append([tick(10)])
    assert LogReader(tmp_path).signals(ORDERS, at(10)) == {}


def test_signals_expire_as_samples_do(tmp_path: Path) -> None:
    """By the hour."""
    SampleLog(tmp_path).append([tick(10, SIGNALS)])
    expire(tmp_path, at(7200))
    assert LogReader(tmp_path).signals(ORDERS, at(10)) == {}


def test_a_replay_decides_as_the_live_run_did(tmp_path: Path) -> None:
    """From the log's signals alone; the decision itself comes back from its row too, with what it saw."""
    limit = SignalOptions(name="depth", source="there", use=SignalUse.UPPER_LIMIT, unit="seats", per_subtask=0.05)
    options = AutoscalerOptions(signals_in_force=(limit,), alignment_mode="OFF")
    live = tick(10, SIGNALS)
    log, reader = SampleLog(tmp_path), LogReader(tmp_path)
    log.append([live])
    decision = decide(live, evaluated(GRAPH, {"sink": 4.0}), options, at(12))
    log.append_decisions([decision])
    replayed = replace(tick(10), signals=reader.signals(ORDERS, at(10)))
    assert decide(replayed, evaluated(GRAPH, {"sink": 4.0}), options, at(12)) == decision
    kept = reader.latest_decision(ORDERS)
    assert kept == decision
    assert kept.signals["depth"] == SeenSignal(value=0.1 + 0.2, age_s=2.877, unit="seats", use="upper-limit")
    assert decision.targets == {"source": 2, "sink": 4}
