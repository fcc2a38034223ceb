"""The judge's verdicts as the table that ends the demo."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate.demo.spark.draw import PARTITIONS, TRIGGER_S, UTILIZATION_TARGET, SparkDraw
from headgate.demo.spark.judge import SETTLED_S, SparkVerdict

_FORMULA = (
    "wanted: the fewest executors n with time for a batch: rows x {row_ms:g} ms in ceil({partitions}/n) waves of "
    "{partitions} tasks every {trigger:g} s, {target:.0%} of it; reached: in all of the phase's last {settled:.0f} s, "
    "? if it changed there; settled: after how long it was right for good; batches: 95 % took no longer, slow ones "
    "on new executors included; lag: rows that waited at the end, as many as come within a batch are usual; changes: "
    "of the number of executors."
)


def spark_table(verdicts: Sequence[SparkVerdict], workload: SparkDraw) -> RenderableType:
    """Return a line for each phase: executors wanted and reached, times, lag, changes, and whether it passed."""
    table = Table(title="Executors in each phase", title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    table.add_column("phase", min_width=9)
    for heading in ("wanted", "reached", "settled", "batches", "lag", "changes"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for verdict in verdicts:
        table.add_row(*_cells(verdict))
    formula = _FORMULA.format(
        row_ms=workload.row_ms,
        partitions=PARTITIONS,
        trigger=TRIGGER_S,
        target=UTILIZATION_TARGET,
        settled=SETTLED_S,
    )
    return Group(Text(), table, Text(formula, style="dim"), Text())


def _cells(verdict: SparkVerdict) -> list[Text]:
    is_right = verdict.reached == verdict.wanted
    return [
        Text(f"{verdict.title}, {verdict.rate_per_s:.0f}/s"),
        Text(str(verdict.wanted)),
        Text("?" if verdict.reached is None else str(verdict.reached), style="green" if is_right else "bold red"),
        _seconds(verdict.settled_after_s, "never"),
        _seconds(verdict.batch_p95_s, "none"),
        Text(f"{verdict.lag_records:.0f}"),
        Text(f"{verdict.changes}{'' if verdict.is_steady else ', astray'}"),
        Text("passed", style="bold green") if verdict.passed else Text("FAILED", style="bold red"),
    ]


def _seconds(value: float | None, missing: str) -> Text:
    return Text(missing if value is None else f"{value:.1f} s")


def spark_summary(verdicts: Sequence[SparkVerdict], *, dry_run: bool) -> Text:
    """Return the last line of the demo."""
    failed = sum(not verdict.passed for verdict in verdicts)
    if not failed:
        return Text(f"PASSED: the application had the executors it needed in all {len(verdicts)} phases.", "bold green")
    text = f"FAILED: in {failed} of {len(verdicts)} phases the application ended without the executors it needed."
    if any(not verdict.is_steady for verdict in verdicts):
        text = f"FAILED: {failed} of {len(verdicts)} phases ended without the executors they needed, or went astray."
    if dry_run:
        text += " That is right for a dry run: Headgate was not allowed to change anything."
    return Text(text, style="bold red")
