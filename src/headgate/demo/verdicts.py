"""The judge's verdicts as the table that ends the demo."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate.demo.draw import UTILIZATION_TARGET
from headgate.demo.judge import SETTLED_S, PhaseVerdict, VertexVerdict

_FORMULA = (
    f"wanted: records per second x seconds of work per record / {UTILIZATION_TARGET:.0%} busy, rounded up; "
    f"reached: in all of the phase's last {SETTLED_S:.0f} s, ? if it changed there; "
    "settled: after how long it was right for good; lag: records that waited at the worst moment."
)


def verdict_table(verdicts: Sequence[PhaseVerdict]) -> RenderableType:
    """Return a line for each phase: workers wanted and reached of each step, rescales, times, and whether it passed."""
    title = "Workers of each step: wanted/reached"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    table.add_column("phase", min_width=9)
    for vertex in verdicts[0].vertices:
        table.add_column(vertex.name, justify="center", no_wrap=True)
    for heading in ("rescales", "settled", "lag"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for verdict in verdicts:
        table.add_row(*_cells(verdict))
    return Group(Text(), table, Text(_FORMULA, style="dim"), Text())


def _cells(verdict: PhaseVerdict) -> list[Text]:
    settled = verdict.settled_after_s
    return [
        Text(f"{verdict.title}, {verdict.rate_per_s:.0f}/s"),
        *(_numbers(vertex) for vertex in verdict.vertices),
        Text(str(verdict.rescales)),
        Text("never" if settled is None else f"{settled:.0f} s"),
        Text(f"{verdict.largest_lag_records:.0f}"),
        Text("passed", style="bold green") if verdict.passed else Text("FAILED", style="bold red"),
    ]


def _numbers(vertex: VertexVerdict) -> Text:
    reached = "?" if vertex.reached is None else vertex.reached
    return Text(f"{vertex.wanted}/{reached}", style="green" if vertex.passed else "bold red")


def summary(verdicts: Sequence[PhaseVerdict], *, dry_run: bool) -> Text:
    """Return the last line of the demo."""
    passed = sum(verdict.passed for verdict in verdicts)
    if passed == len(verdicts):
        return Text(f"PASSED: the job had the workers it needed in all {passed} phases.", style="bold green")
    text = f"FAILED: the job ended {len(verdicts) - passed} of {len(verdicts)} phases without the workers it needed."
    if dry_run:
        text += " That is right for a dry run: Headgate was not allowed to change anything."
    return Text(text, style="bold red")
