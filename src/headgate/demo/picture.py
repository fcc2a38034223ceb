"""Draws a scene in plain words, for somebody who has never heard of Headgate. Pure: a scene in, a picture out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from headgate.demo.chart import MARK, MARK_INSIDE, bars, round_up
from headgate.demo.draw import MAX_PARALLELISM
from headgate.demo.saying import Saying
from headgate.demo.scene import Scene, clock, columns

_FRAME = 4
_AXIS = 9
"""Columns that the frame takes, and those left of a chart for its scale."""

_DRY_RUN = Text("Dry run: it may only say what it would do.", style="bold yellow")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """What fits into the terminal."""

    columns: int
    """Of a chart: a whole number for each phase, so that charts and clock stay in step."""
    rows: int
    """Of a chart."""
    sayings: int

    @classmethod
    def of(cls, scene: Scene, width: int, height: int) -> _Size:
        inner = width - _FRAME - _AXIS
        whole = max(inner - inner % len(scene.workload.phases), len(scene.workload.phases))
        # 36 and 30 lines are what the picture takes with three and with two rows.
        rows, sayings = (3, 5) if height >= 36 else (2, 2) if height >= 30 else (1, 2)  # noqa: PLR2004
        return cls(columns=whole, rows=rows, sayings=sayings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chart:
    title: Text
    values: Sequence[float]
    top: float
    rows: int
    colour: str
    marks: Sequence[float] = ()


def draw_scene(scene: Scene, *, width: int, height: int) -> RenderableType:
    """
    Return the whole picture.

    Args:
        scene: what to show.
        width: of the terminal, in columns.
        height: of the terminal, in lines; a low one gets lower charts and fewer sayings.
    """
    size = _Size.of(scene, width, height)
    charts = (_work(scene, size), _waiting(scene, size), _workers(scene, size))
    drawn = [line for chart in charts for line in (chart.title, _draw_chart(chart))]
    parts: list[RenderableType] = [_introduction(scene), _phases(scene, size), *drawn, _steps(scene)]
    parts.append(_said(scene, size))
    if size.sayings > 2:  # noqa: PLR2004 (there is room for blank lines between the parts too)
        parts[-1:] = [Text(), parts[-1]]
        parts[-3:-3] = [Text()]
        parts[1:1] = [Text()]
    title = f"[bold]Headgate demo[/] · seed {scene.workload.seed}"
    return Panel(Group(*parts), title=title, border_style="cyan", padding=(0, 1))


def _introduction(scene: Scene) -> Text:
    text = Text(scene.workload.introduction, style="dim")
    return text.append_text(_DRY_RUN) if scene.dry_run else text


def _phases(scene: Scene, size: _Size) -> Text:
    """Draw the clock, and the phases above the charts' columns, what has passed in bold."""
    share = size.columns // len(scene.workload.phases)
    passed = round(min(1.0, max(0.0, scene.at_s / scene.length_s)) * size.columns)
    words = "".join(f" {phase.title}, {phase.rate_per_s:.0f}/s ".center(share, "━") for phase in scene.workload.phases)
    text = Text(f"{clock(scene.at_s):>{_AXIS - 1}} ", style="bold")
    text.append(words[:passed], style="bold cyan")
    return text.append(words[passed:], style="dim")


def _work(scene: Scene, size: _Size) -> _Chart:
    title = Text.assemble(
        ("Work: ", "bold"), (f"records per second coming in {MARK}", "yellow"), " and ", ("taken in █", "cyan")
    )
    if scene.now:
        title.append(f"   now {scene.now.wanted_per_s:.0f} and {scene.now.processed_per_s:.0f}")
    return _Chart(
        title=title,
        values=columns(scene, size.columns, lambda seen: seen.processed_per_s, joined=fmean),
        marks=columns(scene, size.columns, lambda seen: seen.wanted_per_s) if size.rows > 1 else (),
        top=round_up(1.2 * max(phase.rate_per_s for phase in scene.workload.phases)),
        rows=size.rows,
        colour="cyan",
    )


def _waiting(scene: Scene, size: _Size) -> _Chart:
    values = columns(scene, size.columns, lambda seen: seen.lag_records)
    title = Text.assemble(("Waiting: ", "bold"), ("records not yet taken in (the lag) █", "magenta"))
    if scene.now:
        title.append(f"   now {scene.now.lag_records:.0f}")
    top = round_up(max([1000.0, *values]))
    return _Chart(title=title, values=values, top=top, rows=size.rows, colour="magenta")


def _workers(scene: Scene, size: _Size) -> _Chart:
    name = scene.workload.bottleneck
    title = Text.assemble(
        (f"{scene.workload.workers}: ", "bold"),
        (f"needed {MARK}", "yellow"),
        " and ",
        ("running █", "green"),
    )
    if scene.now:
        title.append(f"   now {scene.wanted[name]} and {scene.now.parallelism.get(name, 0)}")
    return _Chart(
        title=title,
        values=columns(scene, size.columns, lambda seen: float(seen.parallelism.get(name, 0)), joined=_last),
        marks=columns(scene, size.columns, lambda seen: float(scene.wanted_at(seen.at_s)[name])),
        top=float(MAX_PARALLELISM),
        rows=MAX_PARALLELISM if size.rows > 1 else 2,
        colour="green",
    )


def _last(values: Sequence[float]) -> float:
    return values[-1]


def _draw_chart(chart: _Chart) -> Text:
    text = Text()
    for row, line in enumerate(bars(chart.values, height=chart.rows, top=chart.top, marks=chart.marks)):
        scale = f"{chart.top:.0f}" if row == 0 else "0" if row == chart.rows - 1 else ""
        text.append(f"{scale:>{_AXIS - 1}} ", style="dim").append(line, style=chart.colour)
        text.append("\n" if row < chart.rows - 1 else "")
    text.highlight_regex(f"{MARK}+", style="bold yellow")
    text.highlight_regex(f"{MARK_INSIDE}+", style=f"bold yellow on {chart.colour}")
    return text


def _steps(scene: Scene) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    for heading in ("step", "workers now", "needed now", "busy"):
        table.add_column(heading, justify="left" if heading in {"step", "busy"} else "right")
    running = scene.now.parallelism if scene.now else {}
    for name, needed in scene.wanted.items():
        style = "green" if running.get(name) == needed else "bold red"
        table.add_row(name, Text(str(running.get(name, "…")), style=style), str(needed), _busy(scene, name))
    return table


def _busy(scene: Scene, name: str) -> Text:
    share = scene.now.busy.get(name) if scene.now else None
    if share is None:
        return Text("…", style="dim")
    return Text(f"{share:>4.0%} ").append("█" * round(20 * share), style="blue")


def _said(scene: Scene, size: _Size) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold", expand=True)
    table.add_column("when", style="dim", min_width=5, justify="right")
    table.add_column("what Headgate says, and why", no_wrap=True, overflow="ellipsis", ratio=1)
    said = scene.sayings[-size.sayings :]
    for saying in said:
        table.add_row(clock((saying.at - scene.epoch).total_seconds()), _sentence(saying))
    for _ in range(size.sayings - len(said)):
        table.add_row()
    return table


def _sentence(saying: Saying) -> Text:
    return Text(f"{saying.what}: ", style="bold").append(saying.message, style="green" if saying.rescales else "")
