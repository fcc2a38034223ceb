"""How a simulation looks in a terminal: charts, the rescales with their reasons, and a table of what it all cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.table import Table

from headgate.cli import console
from headgate.demo.chart import bars, round_up
from headgate.engines.simulated.cluster import START
from headgate.engines.simulated.restart import Cause, Restart
from headgate.model.decision import Decision
from headgate.model.events import Event, EventType
from headgate.model.identity import JobKey
from headgate.simulate.picture import Panel, panels
from headgate.simulate.recording import JobRun, Run
from headgate.simulate.summary import OSCILLATION, Summary, summarise

_ROWS = 4
_AXIS = 12
_LEAST_COLUMNS = 20
_MOST_WARNINGS = 10


def show(run: Run) -> None:
    """Print the result of every job."""
    for job in run.jobs.values():
        console.out.print(f"\n[bold]{console.shown(job.name)}[/]")
        for line in _charts(job, max(console.out.width - _AXIS, _LEAST_COLUMNS)):
            console.out.print(line, markup=False, highlight=False)
        for line in _restarts(job):
            console.out.print(line, highlight=False)
        for line in _warnings(run, job):
            console.out.print(line, highlight=False)
        console.out.print(_numbers(summarise(job, run.scenario)))
        console.out.print(f"[dim]last decision: {console.shown(job.decisions[-1].message)}[/]" if job.decisions else "")


def _charts(job: JobRun, columns: int) -> Iterator[str]:
    work, waiting, parallelism, _ = panels(job, columns=columns)
    yield from _chart(work, f"{work.title}: read by the sources █, arriving ─", drawn=1, marked=0)
    yield from _chart(waiting, waiting.title, drawn=0)
    for number, line in enumerate(parallelism.lines):
        yield from _chart(parallelism, f"parallelism of {line.name}", drawn=number, rows=2)


def _chart(panel: Panel, title: str, *, drawn: int, marked: int | None = None, rows: int = _ROWS) -> Iterator[str]:
    values = [value for _, value in panel.lines[drawn].points]
    marks = [] if marked is None else [value for _, value in panel.lines[marked].points]
    top = round_up(max(1.0, *values, *marks))
    yield f"{'':{_AXIS}}{title}"
    for number, line in enumerate(bars(values, height=rows, top=top, marks=marks)):
        yield f"{f'{top:,.0f}' if number == 0 else '':>{_AXIS - 1}} {line}"


def _restarts(job: JobRun) -> Iterator[str]:
    """List the restarts; of a job that fails again and again only the first one and their number."""
    for fails, restarts in groupby(job.restarts, _is_in_vain):
        together = list(restarts)
        yield from _each(job, together[:1] if fails else together)
        if fails and len(together) > 1:
            yield f"{'':9}  and {len(together) - 1} more like it until {_clock(together[-1].ended_s)}"


def _is_in_vain(restart: Restart) -> bool:
    return restart.cause is Cause.FAILURE and not restart.changes


def _each(job: JobRun, restarts: Iterable[Restart]) -> Iterator[str]:
    for restart in restarts:
        moved = ", ".join(f"{name} {before} -> {after}" for name, (before, after) in restart.changes.items())
        down = f"{restart.ended_s - restart.began_s:.0f} s down"
        yield f"{_clock(restart.began_s):>9}  {restart.cause}, {down}: {moved or 'the same parallelism'}"
        if reason := _reason(job, restart):
            yield f"{'':9}  [dim]{console.shown(reason)}[/]"


def _reason(job: JobRun, restart: Restart) -> str:
    """Find what a rescale is due to: the last decision that acted before it, or the rollback of one."""
    if restart.cause is not Cause.RESCALE:
        return ""
    # A failing job is down already when its rescale is taken back.
    told: list[Decision | Event] = [*(each for each in job.decisions if each.acts), *job.rollbacks]
    last = max((each for each in told if _at_s(each) <= restart.ended_s), key=_at_s, default=None)
    return last.message if last else ""


def _warnings(run: Run, job: JobRun) -> Iterator[str]:
    """List what Headgate warned of, for this job or for all."""
    told = [event for event in run.events if event.type is EventType.WARNING and _concerns(event.subject, job)]
    for event in told[:_MOST_WARNINGS]:
        when = _clock((event.at - START).total_seconds())
        yield f"{when:>9}  [yellow]{event.reason}[/]: {console.shown(event.message)}"
    if len(told) > _MOST_WARNINGS:
        yield f"{'':9}  and {len(told) - _MOST_WARNINGS} more warnings"


def _concerns(subject: JobKey | str, job: JobRun) -> bool:
    return not isinstance(subject, JobKey) or subject.name == job.name


def _numbers(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    least = summary.least_slot_seconds
    rows = {
        "rescales, and restarts altogether": f"{summary.rescales}, {summary.restarts}",
        "failures, and rescales taken back": f"{summary.failures}, {summary.rollbacks}",
        "down": _clock(summary.downtime_s),
        "lag growing": _clock(summary.lag_growing_s),
        "late": _clock(summary.late_s),
        "highest lag": f"{summary.peak_lag:,.0f} records",
        "worked off": "never" if summary.drained_after_s is None else f"{_clock(summary.drained_after_s)} after it",
        "slot hours": f"{summary.slot_seconds / 3600:,.1f}, at least {least / 3600:,.1f} were needed",
        f"turned back within {_clock(OSCILLATION.total_seconds())}": str(summary.oscillations),
    }
    for name, text in rows.items():
        table.add_row(name, text)
    return table


def _at_s(what: Decision | Event) -> float:
    return (what.at - START).total_seconds()


def _clock(seconds: float) -> str:
    """Write hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
