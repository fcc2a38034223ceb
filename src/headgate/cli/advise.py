"""`headgate advise`: one look at a cluster, without a file, without Java, without any effect."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from headgate import wiring
from headgate.cli import console
from headgate.cli.advice import show
from headgate.control.runner import Runner
from headgate.doctor.naming import name_clusters
from headgate.errors import UnreachableError
from headgate.model.decision import Decision
from headgate.model.events import Event, EventReason, EventType
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.options.service import ClusterOptions, Mode, Pipeline, ServiceOptions
from headgate.options.serving import MetricsOptions
from headgate.options.units import format_duration, parse_duration
from headgate.samplelog.rows import decision_json

_INTERVAL = timedelta(seconds=2)
_LEAST = 2 * _INTERVAL


def advise(
    url: Annotated[str, typer.Argument(help="REST address of a Flink JobManager, like http://127.0.0.1:8081")],
    *,
    watch: Annotated[str, typer.Option("--for", help="How long to look: the longer, the surer.")] = "30 s",
    target: Annotated[
        float, typer.Option("--utilization", min=0.05, max=1.0, help="Share of time a vertex should be busy.")
    ] = 0.7,
    json: Annotated[bool, typer.Option("--json", help="The decisions as a JSON list.")] = False,
) -> None:
    """
    Look at a cluster for a while and say what would be done with each job, and why. Changes nothing.

    The advice is provisional: it knows only what it has seen, and says how sure that makes it.
    """
    duration = _duration(watch)
    with console.failures():
        decisions = asyncio.run(_look(_options(url, duration, target), duration))
    if json:
        typer.echo("[" + ",\n".join(decision_json(decision) for decision in decisions) + "]")
        return
    show(decisions, duration)


def _duration(watch: str) -> timedelta:
    try:
        duration = parse_duration(watch)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--for") from error
    if duration < _LEAST:
        message = f"{watch} is too short to see a rate. Hint: at least {format_duration(_LEAST)}"
        raise typer.BadParameter(message, param_hint="--for")
    return duration


def _cluster(url: str) -> ClusterOptions:
    try:
        return name_clusters([url])[0]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="URL") from error


def _options(url: str, duration: timedelta, target: float) -> ServiceOptions:
    return ServiceOptions(
        clusters=(_cluster(url),),
        mode=Mode.ADVISE,
        pipeline=Pipeline.IN_PROCESS,
        state_store="memory",
        metrics=MetricsOptions(enabled=False),
        collect_interval=_INTERVAL,
        decide_interval=duration,
        autoscaler=AutoscalerOptions(
            metrics_window=duration,
            stabilization_interval=timedelta(),
            utilization_target=target,
            reaction=Reaction.WINDOWED,  # there is no later look, for which a rescale could wait
        ),
    )


async def _look(options: ServiceOptions, duration: timedelta) -> Sequence[Decision]:
    complaints = _Complaints()
    async with wiring.service(options, events=complaints, decisions=_Nowhere()) as runner:
        await _observe(runner, datetime.now(UTC) + duration)
        if complaints.unreachable:
            message = f"no advice: cluster {', '.join(sorted(complaints.unreachable))} does not answer"
            raise UnreachableError(message)
        return await runner.decide(datetime.now(UTC))


async def _observe(runner: Runner, until: datetime) -> None:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console.err, transient=True) as progress:
        task = progress.add_task("looking", total=None)
        while (now := datetime.now(UTC)) < until:
            await runner.observe(now)
            jobs = len(runner.latest)
            left = (until - now).total_seconds()
            progress.update(task, description=f"looking at {jobs} job{'' if jobs == 1 else 's'}, {left:.0f} s to go")
            await asyncio.sleep(_INTERVAL.total_seconds())


class _Complaints:
    """
    Shows warnings only: a look at a cluster has no log.

    Attributes:
        unreachable: the clusters that do not answer now.
    """

    def __init__(self) -> None:
        """Begin without complaints."""
        self.unreachable: set[str] = set()

    def handle(self, event: Event, /) -> None:
        """Print a warning to standard error."""
        if event.reason is EventReason.CLUSTER_UNREACHABLE:
            self.unreachable.add(str(event.subject))
        if event.reason is EventReason.CLUSTER_REACHABLE:
            self.unreachable.discard(str(event.subject))
        if event.type is EventType.WARNING:
            console.err.print(f"[yellow]{event.subject}:[/] {event.message}")


class _Nowhere:
    """Keeps no decision: the terminal is all that a look leaves behind."""

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """Drop them."""
