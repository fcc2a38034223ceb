"""An event log is followed while it grows: each event once, whatever becomes of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headgate.engines.spark.outside.event_log import EventLog
from headgate.errors import UnreachableError, UnsupportedError

APP = "app-1"
QUERY = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"


def line(number: int, event: str = QUERY) -> str:
    """Give an event as Spark writes it."""
    return json.dumps({"Event": event, "number": number}, separators=(",", ":")) + "\n"


def numbers(log: EventLog) -> list[int]:
    """Read on, and give the numbers of the events."""
    return [event["number"] for event in log.read()]


@pytest.fixture
def running(tmp_path: Path) -> Path:
    """Give the file of an application that runs."""
    path = tmp_path / f"{APP}.inprogress"
    path.write_text(line(1) + line(2))
    return path


def append(path: Path, text: str) -> None:
    """Write on."""
    with path.open("a") as file:
        file.write(text)


def test_each_event_is_given_once(running: Path) -> None:
    """A second reading gives what came since."""
    log = EventLog(running.parent, APP)
    assert numbers(log) == [1, 2]
    assert numbers(log) == []
    append(running, line(3))
    assert numbers(log) == [3]


def test_half_a_line_is_left_for_later(running: Path) -> None:
    """It is an event once its end is written."""
    log = EventLog(running.parent, APP)
    append(running, line(3)[:20])
    assert numbers(log) == [1, 2]
    append(running, line(3)[20:])
    assert numbers(log) == [3]


def test_what_nobody_needs_and_what_is_no_event_is_passed_over(running: Path) -> None:
    """Neither stops what comes after it."""
    append(running, line(3, "SparkListenerBlockUpdated") + "no event\n" + '{"Event":"QueryIdleEvent"\n' + line(4))
    assert numbers(EventLog(running.parent, APP)) == [1, 2, 4]


def test_the_name_of_a_kind_is_without_its_package(running: Path) -> None:
    """As the listener's events have one, and Spark's own have none."""
    (first, _) = EventLog(running.parent, APP).read()
    assert first["Event"] == "QueryProgressEvent"


def test_a_log_goes_on_under_its_final_name(running: Path) -> None:
    """The last events are not lost, and the first are not told again."""
    log = EventLog(running.parent, APP)
    numbers(log)
    append(running, line(3))
    running.rename(running.with_suffix(""))
    assert numbers(log) == [3]
    assert log.begun == 0


def test_a_file_that_was_cut_short_is_read_anew(running: Path) -> None:
    """And it is told that what was said before is void."""
    log = EventLog(running.parent, APP)
    numbers(log)
    running.write_text(line(7))
    assert numbers(log) == [7]
    assert log.begun == 1


def test_another_file_of_that_name_is_read_from_its_begin(running: Path) -> None:
    """However long it is."""
    log = EventLog(running.parent, APP)
    numbers(log)
    other = running.with_name("other")
    other.write_text(line(5) + line(6) + line(7))
    other.rename(running)
    assert numbers(log) == [5, 6, 7]


def test_a_rolling_log_is_read_file_by_file(tmp_path: Path) -> None:
    """In the order of their numbers, of which the tenth comes after the second."""
    folder = tmp_path / f"eventlog_v2_{APP}"
    folder.mkdir()
    for part in (1, 2):
        (folder / f"events_{part}_{APP}").write_text(line(part))
    log = EventLog(tmp_path, APP)
    assert numbers(log) == [1, 2]
    append(folder / f"events_2_{APP}", line(3))
    (folder / f"events_10_{APP}").write_text(line(4))
    assert numbers(log) == [3, 4]


def test_of_a_long_log_only_what_lasts_is_read_from_the_begin(running: Path) -> None:
    """Executors that came long ago are still there; batches of long ago say nothing."""
    running.write_text(line(1, "SparkListenerExecutorAdded") + line(2) + line(9))
    assert numbers(EventLog(running.parent, APP, recent_bytes=len(line(9)))) == [1, 9]


def test_a_compressed_log_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """What Spark has not flushed cannot be seen in it."""
    (tmp_path / f"{APP}.zstd.inprogress").touch()
    with pytest.raises(UnsupportedError, match=r"spark\.eventLog\.compress=false"):
        list(EventLog(tmp_path, APP).read())


def test_without_a_log_somebody_says_what_the_application_lacks(tmp_path: Path) -> None:
    """It may still come."""
    with pytest.raises(UnreachableError, match=r"spark\.eventLog\.enabled=true"):
        list(EventLog(tmp_path, APP).read())
