"""The last word on every job of a fleet, without reading its whole past."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.samplelog.compaction import compact
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, START, at

OTHER = JobKey("prod", "payments")
WITHIN = timedelta(minutes=15)


def decision(tick: datetime, job: JobKey = ORDERS, message: str = "all is well") -> Decision:
    """Build a decision to keep everything as it is."""
    return Decision(id=f"{job}@{tick}", job=job, at=tick, outcome=Outcome.KEEP, reason=Reason.BALANCED, message=message)


def latest(root: Path, second: float, jobs: list[JobKey] | None = None) -> dict[str, float]:
    """Tell of each job when it was decided on last, in seconds of the story."""
    found = LogReader(root).latest_decisions(at(second), WITHIN, jobs=jobs)
    return {job.name: (last.at - START).total_seconds() for job, last in found.items()}


def test_each_writers_newest_tick_counts(tmp_path: Path) -> None:
    """Processes and applications tick as they like; a job that its writer no longer names is gone."""
    service, application = SampleLog(tmp_path, shard="a"), SampleLog(tmp_path, shard="b")
    service.append_decisions([decision(at(0)), decision(at(0), JobKey("prod", "gone"))])
    application.append_decisions([decision(at(10), OTHER)])
    service.append_decisions([decision(at(30))])
    assert latest(tmp_path, 60) == {"orders": 30.0, "payments": 10.0}
    assert latest(tmp_path, 60, [OTHER]) == {"payments": 10.0}


def test_whoever_has_not_written_for_long_has_ended(tmp_path: Path) -> None:
    """Beside the newest of all; nobody has while everybody is silent."""
    SampleLog(tmp_path, shard="a").append_decisions([decision(at(0))])
    assert latest(tmp_path, 86_400) == {"orders": 0.0}
    SampleLog(tmp_path, shard="b").append_decisions([decision(at(901), OTHER)])
    assert latest(tmp_path, 901) == {"payments": 901.0}


def test_a_job_that_changed_hands_has_one_last_decision(tmp_path: Path) -> None:
    """Also where its old process had decided on it at the same tick: whoever started later counts."""
    SampleLog(tmp_path, shard="00000001").append_decisions([decision(at(30), message="the old process")])
    SampleLog(tmp_path, shard="00000002").append_decisions([decision(at(30), message="the new process")])
    (last,) = LogReader(tmp_path).latest_decisions(at(30), WITHIN).values()
    assert last.message == "the new process"


def test_what_came_later_is_not_looked_at(tmp_path: Path) -> None:
    """The same question of an earlier instant has an earlier answer, over the turn of an hour too."""
    log = SampleLog(tmp_path)
    for second in (3_570, 3_600, 3_630):
        log.append_decisions([decision(at(second))])
    assert [latest(tmp_path, second)["orders"] for second in (3_570, 3_599, 3_629, 3_630)] == [
        3_570.0,
        3_570.0,
        3_600.0,
        3_630.0,
    ]


def test_a_compacted_log_has_its_last_decisions_still(tmp_path: Path) -> None:
    """Of everybody who decided lately then."""
    SampleLog(tmp_path, shard="a").append_decisions([decision(at(0), JobKey("prod", "gone"))])
    SampleLog(tmp_path, shard="a").append_decisions([decision(at(2_000))])
    SampleLog(tmp_path, shard="b").append_decisions([decision(at(1_990), OTHER)])
    compact(tmp_path, at(10_000), closed_for=timedelta())
    assert latest(tmp_path, 10_000) == {"orders": 2_000.0, "payments": 1_990.0}
    assert latest(tmp_path, 1_995) == {"payments": 1_990.0}


def test_an_empty_log_has_none(tmp_path: Path) -> None:
    """Nor one that is not there."""
    assert latest(tmp_path / "nowhere", 0) == {}
