"""What the demo reads from Flink's answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from headgate.demo.loadjob import LoadJobSpec, Stage, StepProfile
from headgate.demo.watch import Watcher

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SPEC = LoadJobSpec(
    stages=(Stage(name="count", cost_us=1000),),
    profile=StepProfile(steps=((timedelta(), 100.0), (timedelta(seconds=60), 300.0))),
    epoch=EPOCH,
)


def at(seconds: float) -> datetime:
    """Give a time after the epoch."""
    return EPOCH + timedelta(seconds=seconds)


class Flink:
    """Answers as Flink does, from numbers that a test sets."""

    def __init__(self) -> None:
        """Run source, count and sink with a subtask each."""
        self.state = "RUNNING"
        self.subtasks = {"Source: source": 1, "count": 1, "sink: Writer": 1}
        self.busy_ms: Mapping[str, float | str] = {}
        self.gauges: Mapping[str, float] = {"emittedRecords": 0, "pendingRecords": 0}
        self.answers = True

    def ask(self, url: str) -> Any:
        """Answer for the job, or for the source's gauges."""
        if not self.answers:
            raise ConnectionRefusedError
        if "metrics" in url:
            return [{"id": f"Source__source.{name}", "sum": value} for name, value in self.gauges.items()]
        return {"state": self.state, "vertices": [self.vertex(name) for name in self.subtasks]}

    def vertex(self, name: str) -> Mapping[str, Any]:
        """Give a vertex as the job's answer holds it."""
        return {
            "id": name,
            "name": name,
            "parallelism": self.subtasks[name],
            "status": "RUNNING",
            "metrics": {"accumulated-busy-time": self.busy_ms.get(name, 0.0)},
        }

    def watcher(self) -> Watcher:
        """Give a watcher of this job."""
        return Watcher("http://flink", "job", SPEC, ask=self.ask)


def test_a_look_tells_parallelism_by_short_names_and_the_wanted_load() -> None:
    """Flink's decorations of source and sink are no names for people."""
    seen = Flink().watcher().look(at(61))
    assert seen is not None
    assert seen.at_s == 61
    assert seen.running
    assert dict(seen.parallelism) == {"source": 1, "count": 1, "sink": 1}
    assert seen.wanted_per_s == 300


def test_rates_come_from_two_looks() -> None:
    """200 records and 500 ms of busy time in two seconds."""
    flink = Flink()
    watcher = flink.watcher()
    watcher.look(at(10))
    flink.gauges = {"emittedRecords": 200, "pendingRecords": 7}
    flink.busy_ms = {"count": 500}
    seen = watcher.look(at(12))
    assert seen is not None
    assert (seen.processed_per_s, seen.lag_records) == (100, 7)
    assert seen.busy["count"] == 0.25


def test_a_restart_gives_no_negative_rate_and_no_busy_share() -> None:
    """Counters begin anew, the position goes back to the checkpoint, the lag is not known for a moment."""
    flink = Flink()
    flink.gauges, flink.busy_ms = {"emittedRecords": 200, "pendingRecords": 50}, {"count": 900}
    watcher = flink.watcher()
    watcher.look(at(10))
    flink.state, flink.gauges, flink.busy_ms = "RESTARTING", {}, {"count": "NaN"}
    seen = watcher.look(at(11))
    assert seen is not None
    assert not seen.running
    assert (seen.processed_per_s, seen.lag_records) == (0, 50)
    assert "count" not in seen.busy
    flink.state, flink.gauges = "RUNNING", {"emittedRecords": 150, "pendingRecords": 300}
    seen = watcher.look(at(12))
    assert seen is not None
    assert (seen.processed_per_s, seen.lag_records) == (0, 300)


def test_a_vertex_with_another_parallelism_has_no_busy_share_yet() -> None:
    """Its counters are those of other subtasks."""
    flink = Flink()
    watcher = flink.watcher()
    watcher.look(at(10))
    flink.subtasks["count"], flink.busy_ms = 2, {"count": 800}
    seen = watcher.look(at(11))
    assert seen is not None
    assert seen.parallelism["count"] == 2
    assert "count" not in seen.busy


def test_no_answer_and_no_tasks_are_nothing_seen() -> None:
    """The judge must not take it for an observation."""
    flink = Flink()
    flink.answers = False
    assert flink.watcher().look(at(1)) is None
    flink.answers, flink.subtasks = True, {}
    assert flink.watcher().look(at(2)) is None
