"""The listing of all jobs as a table for a terminal, and as lines of JSON for machines."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_core import to_json, to_jsonable_python
from rich.console import Group
from rich.table import Table
from rich.text import Text

from headgate.model.printable import printable
from headgate.overview.row import Advice, Attention, Busiest, Doing, Glance, JobRow, Lag, Standing, Trend
from headgate.overview.wording import age, count

_COLOURS = {Attention.ALARM: "bold red", Attention.HELD: "yellow", Attention.MOVING: "cyan", Attention.CALM: ""}
_ARROWS = {Trend.GROWING: "↗", Trend.STEADY: "→", Trend.SHRINKING: "↘", None: ""}
_COLUMNS = ("JOB", "STATE", "PAR", "LAG", "BUSIEST", "CHANGE", "WHY NOT SCALED", "DECIDED")
_NUMBERS = {"PAR", "LAG"}
_YIELDING = {"JOB", "BUSIEST", "CHANGE", "WHY NOT SCALED"}
"""Columns that are cut short where the terminal is narrow, the widest first."""
_UNKNOWN = "-"
_NAMED = 2
"""Vertices whose change a line names; the others are counted."""


def table(glance: Glance, rows: Sequence[JobRow], *, most: int | None = None) -> Group:
    """
    Draw the notes and the rows.

    Args:
        glance: what the rows are of.
        rows: those to be shown, in their order.
        most: lines for rows; the others are counted below. None: all.
    """
    shown = rows if most is None else rows[: max(most, 1)]
    notes = [Text(printable(note), style="yellow") for note in glance.notes]
    if glance.rows and not rows:
        return Group(*notes, Text(f"none of {len(glance.rows):,} jobs is called so"))
    return Group(*notes, *([_drawn(shown)] if shown else []), *_rest(rows[len(shown) :]))


def row_json(row: JobRow) -> str:
    """Write a row as one line of JSON; a lag without end is null."""
    fields = to_jsonable_python(row) | {"job": str(row.job)}
    return to_json(fields, inf_nan_mode="null").decode()


def _drawn(rows: Sequence[JobRow]) -> Table:
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for name in _COLUMNS:
        drawn.add_column(_cut(name), no_wrap=name not in _YIELDING, justify="right" if name in _NUMBERS else "left")
    for row in rows:
        drawn.add_row(*map(_cut, _cells(row)), style=_COLOURS[row.attention])
    return drawn


def _cut(cell: str) -> Text:
    return Text(printable(cell), no_wrap=True, overflow="ellipsis")


def _cells(row: JobRow) -> tuple[str, ...]:
    return (
        str(row.job),
        ", ".join(one.value for one in row.standing),
        _UNKNOWN if row.parallelism is None else str(row.parallelism),
        _lag(row.lag),
        _busiest(row.busiest),
        _advice(row),
        row.why,
        f"stale, {age(row.age_s)}" if row.is_stale else f"{age(row.age_s)} ago",
    )


def _lag(lag: Lag | None) -> str:
    if lag is None:
        return _UNKNOWN
    seconds = "" if lag.seconds is None or lag.seconds < 1 else f" {age(lag.seconds)}"
    return f"{count(lag.records)}{seconds} {_ARROWS[lag.trend]}".rstrip()


def _busiest(busiest: Busiest | None) -> str:
    return _UNKNOWN if busiest is None else f"{busiest.load:.0%} {busiest.name} ({busiest.parallelism})"


def _advice(row: JobRow) -> str:
    if row.advice is None:
        return _UNKNOWN
    return f"{changes_text(row.advice)} {_doing(row)}"


def changes_text(advice: Advice, most: int = _NAMED) -> str:
    """Write the changes, `map 2 -> 4`, the first few by name."""
    rest = len(advice.changes) - most
    return ", ".join([*map(str, advice.changes[:most]), *([f"{rest} more"] if rest > 0 else [])])


def _doing(row: JobRow) -> str:
    if row.advice is None or row.advice.doing is not Doing.DONE:
        return "" if row.advice is None else row.advice.doing.value
    since = row.age_s + (row.decided_at - row.advice.at).total_seconds()
    return f"{age(since)} ago"


def _rest(rows: Sequence[JobRow]) -> list[Text]:
    if not rows:
        return []
    alarms = sum(row.attention is Attention.ALARM for row in rows)
    paused = sum(Standing.PAUSED in row.standing for row in rows)
    found = ", ".join(f"{number} {what}" for number, what in ((alarms, "that alarm"), (paused, "paused")) if number)
    return [Text(f"and {len(rows):,} more{f', {found} among them' if found else ''}: --all shows them", style="dim")]
