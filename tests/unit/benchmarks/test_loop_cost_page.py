"""The table on what the loop costs."""

from __future__ import annotations

from benchmarks.loop_cost_page import BEGIN, END, rendered
from benchmarks.page import PAGE, with_part

COST = {
    "jobs": 100,
    "changing": 0,
    "ticks": 12,
    "cycles": 12,
    "wall_s": 120.0,
    "cpu_s": 6.0,
    "collect_s": 24.0,
    "decide_s": 6.0,
    "calls": 3600,
    "connections": 6,
    "bytes_to_server": 1_200_000,
    "bytes_to_client": 12_000_000,
}


def results(**changes: int) -> dict[str, object]:
    """Give raw results of one fleet."""
    setting = {"rounds": 12, "interval_s": 10.0, "pipeline": "in-process"}
    return {"setting": setting, "machine": {"cores": 2, "load": 1.5}, "costs": [{**COST, **changes}]}


def test_everything_is_told_a_job_and_tick() -> None:
    """6 s of CPU for 1,200 of them are 5 ms; the reference stands below."""
    lines = rendered(results()).splitlines()
    assert lines[2] == "| Headgate | 100 | 5.0 | 3.0 | 0.005 | 11.0 | 1.0 | 2.50 |"
    assert lines[3].startswith("| flink-autoscaler |")
    assert "only" not in lines[5]


def test_a_loop_that_did_not_keep_its_pace_is_told() -> None:
    """Fewer ticks were over than there was time for."""
    assert "With 100 jobs only 9 of 12 ticks were over in that time." in rendered(results(ticks=9))


def test_the_page_has_the_tables_place() -> None:
    """Else the command that writes it would fail after minutes of measuring."""
    assert "here" in with_part(PAGE.read_text(encoding="utf-8"), "here\n", begin=BEGIN, end=END)


def test_a_fleet_of_which_some_change_is_named() -> None:
    """It goes by another option, and is looked at more often."""
    assert rendered(results(changing=1)).splitlines()[2].startswith("| Headgate, `fast`, 1 changing | 100 | 5.0 |")
