"""A job's past as lines for a terminal, and as lines of JSON for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from pydantic_core import to_json, to_jsonable_python
from rich.markup import escape

from headgate.algorithm.wording import span
from headgate.model.printable import printable
from headgate.overview.entry import Entry, Kind, Past, Point, Rescale
from headgate.overview.sparkline import extremes, sparkline
from headgate.overview.wording import count

_COLOURS = {
    Kind.RESCALE: "bold green",
    Kind.ROLLBACK: "bold red",
    Kind.ORDER: "bold yellow",
    Kind.EVENT: "yellow",
    Kind.UNCHANGED: "",
    Kind.SILENCE: "red",
}
_CHARTS: tuple[tuple[str, Callable[[Point], float | None], Callable[[float], str]], ...] = (
    ("parallelism", lambda point: point.parallelism, "{:.0f}".format),
    ("lag", lambda point: point.lag, count),
    ("busiest", lambda point: point.load, "{:.0%}".format),
)
_INDENT = " " * 10
_MINUTES = timedelta(minutes=2)
"""What lasted less is told to the second."""
_LEGEND = 32
_LEAST_COLUMNS = 20


def story(past: Past, *, width: int) -> Iterator[str]:
    """Tell a job's past line by line, in rich's markup, the charts no wider than `width`."""
    begin = _begin(past)
    known = "" if begin == past.since else f", known from {begin:%Y-%m-%d %H:%M} on"
    yield f"[bold]{_plain(str(past.job))}[/], {past.since:%Y-%m-%d %H:%M} to {past.until:%Y-%m-%d %H:%M} UTC{known}"
    yield from _charts(past, begin, max(width - _LEGEND, _LEAST_COLUMNS))
    day = None
    for entry in past.entries:
        if entry.at.date() != day:
            day = entry.at.date()
            yield f"[dim]{day:%A %Y-%m-%d}[/]"
        yield from _entry(entry)
    if not past.entries:
        yield "nothing is known of this time"
    if past.standing:
        yield "[bold]now[/]"
        yield from (f"  {_plain(line)}" for line in past.standing)


def entry_json(past: Past, entry: Entry) -> str:
    """Write an entry as one line of JSON."""
    return to_json({"job": str(past.job), **to_jsonable_python(entry)}, inf_nan_mode="null").decode()


def _begin(past: Past) -> datetime:
    """Give where charts begin: a young job's past would be a speck at the end of a day."""
    known = (*(point.at for point in past.points), *(entry.at for entry in past.entries))
    first = min(known, default=past.since)
    return first if first - past.since > (past.until - past.since) / 10 else past.since


def _charts(past: Past, begin: datetime, columns: int) -> Iterator[str]:
    for name, value_of, text_of in _CHARTS:
        series = [(point.at, value_of(point)) for point in past.points]
        if line := sparkline(series, begin, past.until, columns=columns):
            least, most = extremes(series)
            yield f"  {name:>11} [cyan]{line}[/] {text_of(least)} to {text_of(most)}"


def _entry(entry: Entry) -> Iterator[str]:
    colour = _COLOURS[entry.kind]
    head = _plain(f"{'rescaled ' if entry.rescale else ''}{entry.what}{_times(entry)}")
    yield f"  {_when(entry)}  {f'[{colour}]{head}[/]' if colour else head}"
    for sentence in entry.why:
        yield f"{_INDENT}[dim]{_plain(sentence)}[/]"
    if entry.rescale:
        yield f"{_INDENT}{_ending(entry.at, entry.rescale)}"


def _plain(text: str) -> str:
    """Give a text that is no markup and no order to the terminal."""
    return escape(printable(text))


def _when(entry: Entry) -> str:
    if entry.until is None or entry.until == entry.at:
        return f"{entry.at:%H:%M:%S}"
    if entry.until - entry.at < _MINUTES:
        return f"{entry.at:%H:%M:%S} to {entry.until:%H:%M:%S}"
    same_day = entry.until.date() == entry.at.date()
    return f"{entry.at:%H:%M} to {entry.until:%H:%M}" if same_day else f"{entry.at:%H:%M} to {entry.until:%m-%d %H:%M}"


def _times(entry: Entry) -> str:
    if entry.kind is Kind.UNCHANGED:
        return f", {entry.count} decision{'s' if entry.count > 1 else ''}"
    return f", {entry.count} times" if entry.count > 1 else ""


def _ending(at: datetime, rescale: Rescale) -> str:
    """Say what became of a rescale."""
    stood = "" if rescale.downtime_s is None else f", the job stood still for {span(rescale.downtime_s)}"
    if rescale.reached_at:
        return f"running so after {span(rescale.reached_at - at)}{stood}"
    return f"under way{stood}" if rescale.in_flight else f"[yellow]not known to have been reached[/]{stood}"
