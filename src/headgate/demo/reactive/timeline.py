"""The reactive demo told in order of time: what happened, line by line, and the whole run as charts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
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
    """All that was seen and said."""

    sights: list[Sight] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)

    @property
    def now(self) -> Sight | None:
        """The last sight."""
        return self.sights[-1] if self.sights else None


def noticed(before: Sight | None, seen: Sight) -> Iterator[str]:
    """Give what is new since the sight before, in words."""
    if seen.workers != (before.workers if before else 0):
        yield f"{seen.workers} TaskManager{'' if seen.workers == 1 else 's'}"
    if seen.running != (running := before.running if before else 0):
        yield f"the job runs in {seen.running} slots" if seen.running else f"the job, in {running} slots, restarts"


def draw_story(story: Story, workload: ReactiveDraw, phase_length: timedelta, *, width: int) -> RenderableType:
    """
    Return the run as three charts over its phases.

    Args:
        story: what was seen.
        workload: what was drawn, which tells what was needed.
        phase_length: of every phase.
        width: of the terminal, in columns.
    """
    share = max(_LEAST_COLUMNS, width - _AXIS - 1) // len(workload.phases)
    length_s = phase_length.total_seconds() * len(workload.phases)
    chart = _Columns(sights=story.sights, count=share * len(workload.phases), length_s=length_s)
    needed = [float(workload.workers(phase)) for phase in workload.phases for _ in range(share)]
    coming = [phase.rate_per_s for phase in workload.phases for _ in range(share)]
    lag = chart.of(lambda seen: seen.lag_records)
    return Group(
        Text(),
        Text(" " * _AXIS + "".join(f" {phase.title} ".center(share, "━") for phase in workload.phases), style="bold"),
        Text(f"Work: records per second coming in {MARK} and taken in █"),
        _draw(chart.of(_taken, joined=fmean), rows=3, top=round_up(1.2 * max(coming)), marks=coming, colour="cyan"),
        Text("Waiting: records not yet taken in (the lag) █"),
        _draw(lag, rows=2, top=round_up(max([1000.0, *lag])), colour="magenta"),
        Text(f"TaskManagers: needed {MARK} and used by the job █ ({SLOTS} slots each)"),
        _draw(
            chart.of(lambda seen: seen.running / SLOTS, joined=min),
            rows=_TOP_WORKERS,
            top=_TOP_WORKERS,
            marks=needed,
            colour="green",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The sights of a run, put together in columns."""

    sights: Sequence[Sight]
    count: int
    length_s: float

    def of(self, value: Callable[[Sight], float], *, joined: Callable[[list[float]], float] = max) -> list[float]:
        """Return one number a column; where nothing was seen the column before is repeated."""
        drawn: list[float] = []
        for column in range(self.count):
            begin_s, end_s = (self.length_s * edge / self.count for edge in (column, column + 1))
            values = [value(seen) for seen in self.sights if begin_s <= seen.at_s < end_s]
            drawn.append(joined(values) if values else drawn[-1] if drawn else 0.0)
        return drawn


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
