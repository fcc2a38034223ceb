"""The judge's verdicts on the reactive demo as the table that ends it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate.demo.draw import UTILIZATION_TARGET
from headgate.demo.reactive.draw import SLOTS
from headgate.demo.reactive.judge import HOLD_S, PhaseVerdict

_FORMULA = (
    f"needed: records per second x seconds of work per record / {UTILIZATION_TARGET:.0%} busy, in slots, of which each "
    f"TaskManager has {SLOTS}, rounded up; used: at the phase's end, for {HOLD_S:.0f} s at least; "
    "settled: after how long it was so; lag: records that waited at the worst moment."
)


def reactive_table(verdicts: Sequence[PhaseVerdict]) -> RenderableType:
    """Return a line for each phase: TaskManagers needed and used, times, and whether it passed."""
    table = Table(title="TaskManagers: needed/used", title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    table.add_column("phase", min_width=9)
    for heading in ("needed/used", "fewest slots", "settled", "lag"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for verdict in verdicts:
        table.add_row(*_cells(verdict))
    return Group(Text(), table, Text(_FORMULA, style="dim"), Text())


def _cells(verdict: PhaseVerdict) -> list[Text]:
    settled, reached = verdict.settled_after_s, "?" if verdict.reached is None else verdict.reached
    return [
        Text(f"{verdict.title}, {verdict.rate_per_s:.0f}/s"),
        Text(f"{verdict.wanted}/{reached}", style="green" if verdict.reached == verdict.wanted else "bold red"),
        Text("" if verdict.least_running is None else str(verdict.least_running)),
        Text("never" if settled is None else f"{settled:.0f} s"),
        Text(f"{verdict.largest_lag_records:.0f}"),
        Text("passed", style="bold green") if verdict.passed else Text("FAILED", style="bold red"),
    ]


def reactive_summary(verdicts: Sequence[PhaseVerdict], *, dry_run: bool) -> Text:
    """Return the last line of the demo."""
    failed = [verdict.title for verdict in verdicts if not verdict.passed]
    if not failed:
        text = f"PASSED: the job ran on the TaskManagers that it needed in all {len(verdicts)} phases."
        return Text(text, style="bold green")
    text = f"FAILED: the job did not come to run on the TaskManagers that it needed in: {', '.join(failed)}."
    if dry_run:
        text += " That is right for a dry run: Headgate was not allowed to start any."
    return Text(text, style="bold red")
