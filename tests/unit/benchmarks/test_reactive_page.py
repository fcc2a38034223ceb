"""The table on how soon a job runs on a new worker, and without a lost one."""

from __future__ import annotations

from benchmarks.page import with_part
from benchmarks.reactive_page import BEGIN, END, PAGE, rendered


def test_each_time_is_its_median_with_the_least_and_the_most() -> None:
    """In a row for each way to run reactively."""
    repeats = [{"registered_s": 2.0, "grown_s": grown, "shrunk_s": 4.0} for grown in (3.0, 9.0, 5.0)]
    lines = rendered({"flink": repeats, "headgate": repeats[:1]}).splitlines()
    assert lines[2] == "| Flink's reactive mode | 3 | 2.0 (2.0 to 2.0) | 5.0 (3.0 to 9.0) | 4.0 (4.0 to 4.0) |"
    assert lines[3].endswith("| 1 | 2.0 (2.0 to 2.0) | 3.0 (3.0 to 3.0) | 4.0 (4.0 to 4.0) |")


def test_the_page_has_the_tables_place() -> None:
    """Else the command that writes it would fail after minutes of measuring."""
    assert "here" in with_part(PAGE.read_text(encoding="utf-8"), "here\n", begin=BEGIN, end=END)
