"""The soak's part of the page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.page import PAGE, with_part
from benchmarks.soak_page import BEGIN, END, draw, rendered
from benchmarks.soak_truth import Entry, What

SERIES = [(float(at), 100.0 if at < 400 else 110.0) for at in range(0, 900, 10)]
RUN = {
    "setting": {
        "seed": 1,
        "jobs": 500,
        "duration_s": 900.0,
        "tick_s": 10.0,
        "pipeline": "in-process",
        "store": "PostgreSQL",
    },
    "machine": {"cores": 2, "load": 1.5},
    "series": {"memory": SERIES, "collect": SERIES, "decide": SERIES},
    "events": {"happened": 50, "told": 10, "retold": []},
}
LEDGER = (
    Entry(0.0, 7, What.LEVEL, "2"),
    Entry(100.0, 7, What.LEVEL, "8"),
    Entry(101.0, 8, What.TROUBLE, "hang"),
    Entry(130.0, 7, What.DECISION, "a"),
    Entry(131.0, 7, What.EFFECT, "8 16 4"),
)


def test_it_shows_what_the_judge_found() -> None:
    """Thirds with their ratio and samples, then needs, effects and events."""
    part = rendered(RUN, LEDGER)
    assert "| resident memory, MiB | 100.00 | 110.00 | 1.10 | 26 |" in part
    assert "| times a job needed another parallelism and got it | 1 |" in part
    assert "| how long that took, troubles included, median and longest, s | 31, 31 |" in part
    assert "| not within 220 s without troubles of its own | 0 |" in part
    assert "| of them, by kind | hang 1 |" in part
    assert "| events that happened, and lines that told them | 50, 10 |" in part


def test_the_plot_is_the_same_each_time(tmp_path: Path) -> None:
    """So that drawing it again changes nothing in the repository."""
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(RUN, first)
    draw(RUN, second)
    assert first.read_bytes() == second.read_bytes()


def test_the_page_has_the_soaks_place() -> None:
    """Else the command that writes it would fail after a quarter of an hour."""
    assert "here" in with_part(PAGE.read_text(encoding="utf-8"), "here\n", begin=BEGIN, end=END)
