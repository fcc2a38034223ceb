"""How the Spark demo sees its application: the master's answer, the event log, and what Headgate says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from headgate.demo.spark.draw import EXECUTORS
from headgate.demo.spark.play import PROGRAM, headgate_lines, settings
from headgate.demo.spark.progress import EventLog
from headgate.demo.spark.watch import SparkWatcher, read_log
from headgate.engines.spark.source.profile import parse_profile

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
EPOCH = START + timedelta(seconds=15)
EVENT = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"


def progress(at: datetime, *, rows: int, ends: tuple[int, ...]) -> str:
    """Give a line of an event log as Spark 4.3 writes it: a batch of 3 s."""
    offsets = json.dumps({str(number): end for number, end in enumerate(ends)})
    told = {
        "timestamp": at.isoformat(),
        "durationMs": {"triggerExecution": 3000},
        "sources": [{"endOffset": offsets, "numInputRows": rows}],
    }
    return json.dumps({"Event": EVENT, "progress": told}) + "\n"


def watcher(directory: Path, answer: Mapping[str, Any] | OSError) -> SparkWatcher:
    """Give a watcher of a master that always says the same; 100 rows come each second."""

    def status() -> Mapping[str, Any]:
        if isinstance(answer, OSError):
            raise answer
        return answer

    return SparkWatcher(status, EventLog(directory), load=parse_profile("0s:100"), start=START)


def test_rows_that_came_and_were_not_taken_wait(tmp_path: Path) -> None:
    """After 20 s 2000 have come; the last batch that ended took the first 900 of them."""
    lines = [
        progress(START, rows=300, ends=(150, 150)),
        progress(START + timedelta(seconds=4), rows=600, ends=(450, 450)),
    ]
    (tmp_path / "app").write_text("".join(lines) + '{"Event": "unfinis')
    seen = watcher(tmp_path, {"activeapps": [{"cores": 3}]}).look(START + timedelta(seconds=20), EPOCH)
    assert seen is not None
    assert seen.at_s == 5
    assert seen.parallelism == {EXECUTORS: 3}
    assert (seen.wanted_per_s, seen.processed_per_s, seen.lag_records) == (100, 150, 1100)
    assert seen.busy == {EXECUTORS: 0.75}


def test_only_what_is_new_in_the_log_is_read(tmp_path: Path) -> None:
    """A line that is still being written is read once it is whole; triggers without rows are no batches."""
    log, path = EventLog(tmp_path), tmp_path / "app.inprogress"
    first, second = progress(START, rows=1, ends=(1,)), progress(START, rows=2, ends=(3,))
    assert log.batches() == []
    path.write_text(first + second[:20])
    assert [batch.rows for batch in log.batches()] == [1]
    path.write_text(first + second + progress(START, rows=0, ends=(3,)))
    assert [batch.taken for batch in log.batches()] == [3]


def test_an_application_that_is_gone_or_a_silent_master_is_no_failure(tmp_path: Path) -> None:
    """The judge gets what could be seen."""
    gone = watcher(tmp_path, {"activeapps": []}).look(START, EPOCH)
    assert gone is not None
    assert gone.parallelism == {EXECUTORS: 0}
    assert not gone.running
    assert watcher(tmp_path, ConnectionRefusedError()).look(START, EPOCH) is None


def test_what_headgate_says_is_told_from_what_others_log() -> None:
    """Python's own format of logging."""
    said = read_log(
        [
            "26/01/31 12:00:00 WARN TaskSetManager: Lost task",
            "INFO:headgate:ScalingReport spark/demo: executors 4 -> 2",
            "WARNING:py4j:lost",
        ],
        START,
    )
    assert [(each.what, each.subject, each.message) for each in said] == [
        ("ScalingReport", "spark/demo", "executors 4 -> 2")
    ]


def test_two_lines_of_the_application_are_headgates() -> None:
    """They are the only ones that name `headgate` itself; the others are of the stream that stands for a real one."""
    lines = headgate_lines()
    assert len(lines) == 2
    assert lines[0].startswith("import headgate")
    assert "headgate.attach(spark)" in lines[1]
    others = set(PROGRAM.read_text().splitlines()) - {
        line for line in PROGRAM.read_text().splitlines() if "<--" in line
    }
    assert all(
        "headgate.engines.spark.source" in line or "headgate-load" in line for line in others if "headgate" in line
    )


def test_a_dry_run_only_advises(tmp_path: Path) -> None:
    """By an option of the session: the application is the same."""
    assert settings(tmp_path, dry_run=True)["spark.headgate.mode"] == "advise"
    assert settings(tmp_path, dry_run=False)["spark.headgate.mode"] == "act"
