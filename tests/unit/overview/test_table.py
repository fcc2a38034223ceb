"""The listing as people and machines read it."""

from __future__ import annotations

import io
import json
from itertools import islice

from rich.console import Console
from tests.unit.overview.conftest import Service, decided

from headgate.model.identity import JobKey
from headgate.overview.redrawing import redraw, repeated
from headgate.overview.row import Glance
from headgate.overview.selecting import Order, selected
from headgate.overview.table import row_json, table
from headgate.overview.wording import count

LONG = JobKey("prod", "a-job-with-a-name-that-no-terminal-of-eighty-columns-has-room-for")

CURSOR_UP = "\x1b[1A"


def drawn(glance: Glance, *, width: int, most: int | None = None, terminal: bool = True) -> str:
    """Draw once."""
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    rows = selected(glance.rows, None, Order.ATTENTION)
    redraw(console, [table(glance, rows, most=most)], in_place=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_line_tells_all_of_a_job(service: Service) -> None:
    """State, subtasks, lag and its trend, the busiest vertex, the change, why not, and when."""
    service.decides(decided(0, lag=100.0))
    service.decides(decided(300, factor=3.0, most=4, lag=45_600.0, load=0.87))
    header, line = drawn(service.at_a_glance(312), width=160).splitlines()
    assert header.split() == ["JOB", "STATE", "PAR", "LAG", "BUSIEST", "CHANGE", "WHY", "NOT", "SCALED", "DECIDED"]
    assert " ".join(line.split()) == (
        "prod/orders running 6 45.6k 8 min ↗ 87% agg (4) - limited: max parallelism 12 s ago"
    )


def test_a_pipe_loses_nothing(service: Service) -> None:
    """Whatever the width: a line is a job, and its name is whole."""
    service.decides(decided(0, job=LONG, factor=2.0))
    glance = service.at_a_glance(1)
    (line,) = [line for line in drawn(glance, width=80, terminal=False).splitlines() if str(LONG) in line]
    assert "agg 4 -> 8 advised" in line
    assert str(LONG) not in drawn(glance, width=80)


def test_a_terminal_shows_the_first_and_counts_the_rest(service: Service) -> None:
    """What is left out is what needs a look least."""
    service.decides(*(decided(0, job=JobKey("prod", f"job{number}")) for number in range(5)))
    told = drawn(service.at_a_glance(1), width=120, most=3)
    assert told.count("prod/job") == 3
    assert "and 2 more: --all shows them" in told


def test_a_machine_gets_every_number(service: Service) -> None:
    """A lag that never ends is null, which JSON has a word for."""
    service.decides(decided(0, lag=50.0))
    (row,) = service.at_a_glance(30).rows
    told = json.loads(row_json(row))
    assert (told["job"], told["age_s"], told["attention"]) == ("prod/orders", 30.0, "calm")
    assert told["lag"] == {"records": 50.0, "seconds": 0.5, "trend": None}


def test_each_look_is_printed_where_nothing_can_be_drawn_over(service: Service) -> None:
    """A pipe gets one table below the other; a terminal one that changes."""
    service.decides(decided(0))
    looks = repeated(lambda: service.at_a_glance(1), lambda: None)
    frames = [table(glance, glance.rows) for glance in islice(looks, 3)]
    for terminal, up in ((False, 0), (True, 2)):
        console = Console(file=io.StringIO(), width=120, force_terminal=terminal, color_system=None)
        redraw(console, frames, in_place=True)
        assert isinstance(console.file, io.StringIO)
        assert console.file.getvalue().count("prod/orders") >= 3
        assert console.file.getvalue().count(CURSOR_UP) >= up
        assert terminal or CURSOR_UP not in console.file.getvalue()


def test_a_name_is_no_order_to_the_terminal(service: Service) -> None:
    """Neither a colour of its own nor a second line, and no markup: whoever submits jobs names them."""
    service.decides(decided(0, job=JobKey("prod", "a [/x]\x1b[31m\nprod/b running")))
    told = drawn(service.at_a_glance(1), width=200)
    assert r"prod/a [/x]\x1b[31m\nprod/b running" in told
    assert "\x1b" not in told
    assert len(told.splitlines()) == 2


def test_a_count_never_says_a_thousand_of_a_smaller_unit() -> None:
    """What rounds up to the next one is told in that."""
    assert [count(number) for number in (9_999.0, 12_345.0, 999_499.0, 999_600.0, 2e9)] == [
        "9999",
        "12.3k",
        "999k",
        "1M",
        "2G",
    ]
