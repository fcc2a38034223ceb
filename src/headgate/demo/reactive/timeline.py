"""The reactive demo told in order of time: what happened, line by line, and the whole run as charts. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.demo.chart import MARK, MARK_INSIDE, bars, round_up
from headgate.demo.reactive.draw import SLOTS, ReactiveDraw
from headgate.demo.reactive.watch import Sight
from headgate.demo.scene import clock

_AXIS = 9
"""Columns left of a chart for its scale."""
_LEAST_COLUMNS = 40
_TOP_WORKERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One line of the story."""

    at_s: float
    what: str
    said_as: str = ""
    """The reason that Headgate gave; empty for what was seen of Flink."""
    is_phase: bool = False

    @property
    def line(self) -> str:
        """The time, who says it, and what."""
        return f"{clock(self.at_s):>6}  {f'Headgate: {self.said_as}: ' if self.said_as else ''}{self.what}"


@dataclass(slots=True, kw_only=True)
class Story:
    """All that was seen and said, and when each phase began."""

    sights: list[Sight] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    begun_s: list[float] = field(default_factory=list)

    @property
    def now(self) -> Sight | None:
        """The last sight."""
        return self.sights[-1] if self.sights else None

    def seen_in(self, number: int) -> list[Sight]:
        """Return the sights of a phase; none where it never began."""
        spans = dict(enumerate(pairwise((*self.begun_s, math.inf))))
        begin_s, end_s = spans.get(number, (math.inf, math.inf))
        return [each for each in self.sights if begin_s <= each.at_s < end_s]


def noticed(before: Sight | None, seen: Sight) -> Iterator[str]:
    """Give what is new since the sight before, in words."""
    if seen.workers != (before.workers if before else 0):
        yield f"{seen.workers} TaskManager{'' if seen.workers == 1 else 's'}"
    if seen.running != (running := before.running if before else 0):
        yield f"the job runs in {seen.running} slots" if seen.running else f"the job, in {running} slots, restarts"


def draw_story(story: Story, workload: ReactiveDraw, *, width: int) -> RenderableType:
    """
    Return the run as three charts over the phases that began.

    Args:
        story: what was seen.
        workload: what was drawn, which tells what was needed.
        width: of the terminal, in columns.
    """
    columns = _columns(story, max(_LEAST_COLUMNS, width - _AXIS - 1))
    phases = [workload.phases[each.phase] for each in columns]
    coming = [phase.rate_per_s for phase in phases]
    lag = [max(seen.lag_records for seen in each.sights) for each in columns]
    return Group(
        Text(),
        _headings(columns, workload),
        Text(f"Work: records per second coming in {MARK} and taken in █"),
        _draw(
            [fmean(_taken(seen) for seen in each.sights) for each in columns],
            rows=3,
            top=round_up(1.2 * max(coming, default=0.0)),
            marks=coming,
            colour="cyan",
        ),
        Text("Waiting: records not yet taken in (the lag) █"),
        _draw(lag, rows=2, top=round_up(max([1000.0, *lag])), colour="magenta"),
        Text(f"TaskManagers: needed {MARK} and used by the job █ ({SLOTS} slots each)"),
        _draw(
            [min(seen.running for seen in each.sights) / SLOTS for each in columns],
            rows=_TOP_WORKERS,
            top=_TOP_WORKERS,
            marks=[float(workload.workers(phase)) for phase in phases],
            colour="green",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A short time of one phase."""

    phase: int
    sights: Sequence[Sight]


def _columns(story: Story, count: int) -> list[_Column]:
    """Divide the run into columns; one in which nothing was seen repeats the sights of the one before."""
    phases = [(number, story.seen_in(number)) for number in range(len(story.begun_s))]
    seen = [(number, sight) for number, sights in phases for sight in sights]
    if not seen:
        return []
    begin_s, length_s = seen[0][1].at_s, max(1.0, seen[-1][1].at_s - seen[0][1].at_s)
    columns: list[_Column] = []
    for column in range(count):
        inside = [each for each in seen if column <= count * (each[1].at_s - begin_s) / length_s < column + 1]
        last = inside or [(columns[-1].phase, columns[-1].sights[-1])]
        columns.append(_Column(phase=last[-1][0], sights=[sight for _, sight in last]))
    return columns


def _headings(columns: Sequence[_Column], workload: ReactiveDraw) -> Text:
    """Write each phase's title over its columns."""
    text = Text(" " * _AXIS, style="bold")
    for number, phase in enumerate(workload.phases):
        share = sum(column.phase == number for column in columns)
        text.append(f" {phase.title} "[:share].center(share, "━"))
    return text


def _taken(seen: Sight) -> float:
    return seen.job.processed_per_s if seen.job else 0.0


def _draw(values: Sequence[float], *, rows: int, top: float, colour: str, marks: Sequence[float] = ()) -> Text:
    text = Text()
    for row, line in enumerate(bars(values, height=rows, top=top, marks=marks)):
        scale = f"{top:.0f}" if row == 0 else "0" if row == rows - 1 else ""
        text.append(f"{scale:>{_AXIS - 1}} ", style="dim").append(line, style=colour)
        text.append("\n" if row < rows - 1 else "")
    text.highlight_regex(f"{MARK}+", style="bold yellow")
    text.highlight_regex(f"{MARK_INSIDE}+", style=f"bold yellow on {colour}")
    return text
