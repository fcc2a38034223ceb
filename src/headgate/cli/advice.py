"""How advice looks in a terminal: one table a job, one line that says how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.table import Table

from headgate.cli import console
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.metrics import ScalingMetric, VertexMetrics
from headgate.options.units import format_duration
from headgate.overview.redrawing import redraw

_SURE = timedelta(minutes=15)
"""The reference autoscaler's window: what it takes to be as sure as it is."""

_UNKNOWN = "-"


def show(decisions: Sequence[Decision], seen: timedelta) -> None:
    """Print the advice for every job."""
    if not decisions:
        console.out.print("no job is running there")
    for decision in decisions:
        console.out.print(f"\n[bold]{decision.job}[/]: {headline(decision)}")
        if decision.evaluated is not None:
            redraw(console.out, [_table(decision)], in_place=False)
            console.out.print(f"[dim]{confidence(seen, decision.evaluated.coverage)}[/]")


def headline(decision: Decision) -> str:
    """Say in a line what is advised."""
    if decision.outcome is Outcome.RESCALE:
        return "[yellow]rescale[/] " + ", ".join(
            f"{change.name} {change.current} -> {change.wanted}" for change in decision.changes.values()
        )
    return f"leave as it is ({decision.reason}): {decision.message}"


def confidence(seen: timedelta, coverage: float) -> str:
    """Say how much the advice rests on: `coverage` is the share of `seen` that has samples."""
    basis = seen * coverage
    level = "low" if basis < _SURE / 15 else "fair" if basis < _SURE else "good"
    return (
        f"confidence {level}: provisional, from {format_duration(timedelta(seconds=round(basis.total_seconds())))} "
        f"of samples; {format_duration(_SURE)} of them make it good"
    )


def _table(decision: Decision) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("vertex", "parallelism", "advised", "busy", "can do /s", "has to do /s", "lag", "because"):
        table.add_column(heading, justify="left" if heading in {"vertex", "because"} else "right")
    metrics = decision.evaluated.vertices if decision.evaluated else {}
    for proposal in decision.proposals:
        table.add_row(*_row(proposal, metrics.get(proposal.vertex)))
    return table


def _row(proposal: Proposal, known: VertexMetrics | None) -> tuple[str, ...]:
    numbers = known.metrics if known else {}

    def text(metric: ScalingMetric, form: str) -> str:
        return form.format(numbers[metric]) if metric in numbers else _UNKNOWN

    return (
        proposal.name,
        str(proposal.current),
        str(proposal.wanted),
        text(ScalingMetric.LOAD, "{:.0%}"),
        text(ScalingMetric.TRUE_PROCESSING_RATE, "{:,.0f}"),
        text(ScalingMetric.TARGET_DATA_RATE, "{:,.0f}"),
        text(ScalingMetric.LAG, "{:,.0f}"),
        ", ".join(dict.fromkeys(step.reason.value for step in proposal.steps)),
    )
