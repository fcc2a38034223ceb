"""The simulator's truth: what a job of the soak can do, what it needs, and a ledger of what happened to it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from enum import StrEnum
from io import StringIO
from typing import NamedTuple

CAPACITIES = (1000.0, 500.0, 2000.0)
"""Records/s of one fully busy subtask, by vertex; each reads what the source reads."""
TARGET, LEAST, MOST = 0.7, 0.5, 0.9
"""Busy share that Headgate is told to aim at, and its band."""
MARGIN = 0.02
"""What lies as close to an end of the band may be taken either way."""
_USUAL = 0.68
"""Busy share at the parallelism that a load is made for: a little under the target, so that nothing is rounded up."""

Parallelism = tuple[int, ...]
"""By vertex."""


class What(StrEnum):
    """Kinds of entries."""

    LEVEL = "level"
    """The load is made for so many subtasks of the source from now on; the first one tells the parallelism as well."""
    TROUBLE = "trouble"
    """Begins now; its end is an entry of its own."""
    CALM = "calm"
    EFFECT = "effect"
    """A PUT was accepted that changes the job; the parallelism by vertex."""
    RESTATED = "restated"
    """A PUT was accepted that asks for what the job was asked to have already."""
    DECISION = "decision"
    """Headgate decided to rescale; the decision's id."""


class Entry(NamedTuple):
    """One thing that happened to one job, seconds after the soak began."""

    at_s: float
    job: int
    what: What
    value: str


def needed(level: int) -> Parallelism:
    """Give what a job needs at a load, by Headgate's own target."""
    return tuple(max(1, round(level * CAPACITIES[0] / capacity)) for capacity in CAPACITIES)


def rate_of(level: int) -> float:
    """Give the records/s that a load of that level has."""
    return _USUAL * level * CAPACITIES[0]


def fits(parallelism: Parallelism, level: int, *, slack: float = MARGIN) -> bool:
    """
    Tell whether nothing has to change: every vertex is in its band, or idle at one subtask.

    Args:
        parallelism: by vertex.
        level: of the load.
        slack: how far outside its band a vertex may be; less than 0 asks whether nothing may change.
    """
    each = zip(parallelism, CAPACITIES, strict=True)
    return all(_in_band(count, rate_of(level) / (count * capacity), slack) for count, capacity in each)


def _in_band(count: int, busy: float, slack: float) -> bool:
    return busy <= MOST + slack and (busy >= LEAST - slack or count == 1)


def written(entries: Iterable[Entry]) -> str:
    """Give a ledger as CSV."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(Entry._fields)
    table.writerows((f"{entry.at_s:.2f}", entry.job, entry.what, entry.value) for entry in entries)
    return text.getvalue()


def read(text: str) -> Sequence[Entry]:
    """Read what `written` wrote, in order of time."""
    rows = csv.DictReader(StringIO(text))
    entries = [Entry(float(row["at_s"]), int(row["job"]), What(row["what"]), row["value"]) for row in rows]
    return sorted(entries, key=lambda entry: entry.at_s)


def spelled(parallelism: Parallelism) -> str:
    """Write a parallelism as an entry's value."""
    return " ".join(map(str, parallelism))


def parallelism_of(text: str) -> Parallelism:
    """Read what `spelled` wrote."""
    return tuple(map(int, text.split()))
