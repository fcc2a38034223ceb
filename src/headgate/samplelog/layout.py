"""
Where everything in the log stands: `<root>/<table>/hour=2026-11-21T09/<tick>-<shard>.parquet`.

Names are deterministic, so that a retry overwrites itself, and tell their tick, so that a window is found by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headgate.samplelog import files
from headgate.samplelog.directory import HIDDEN
from headgate.samplelog.files import Address

_HOUR = "%Y-%m-%dT%H"
_HOUR_PREFIX = "hour="
_TICK = re.compile(r"(?P<tick>\d{13})-(?P<shard>[a-z0-9]+)\.parquet")


@dataclass(frozen=True, slots=True, order=True)
class Hour:
    """One hour of one table: the unit that is closed, compacted and expires."""

    begin: datetime
    folder: Address

    @property
    def end(self) -> datetime:
        """The first instant that no longer belongs to it."""
        return self.begin + timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Layout:
    """The addresses below one root."""

    root: Address

    @property
    def upkeep_lock(self) -> Address:
        """Held by whoever compacts or expires."""
        return self.root / f"{HIDDEN}upkeep.lock"

    def hour(self, table: str, at: datetime) -> Hour:
        """Give the hour of a table that an instant belongs to."""
        begin = hour_of(at)
        return Hour(begin, self.root / table / f"{_HOUR_PREFIX}{begin:{_HOUR}}")

    def hours(self, table: str) -> list[Hour]:
        """List the hours that a table holds, oldest first."""
        return [hour for hour, _ in self._hours(table, files.names(self.root / table))]

    def listing(self, table: str) -> list[tuple[Hour, Sequence[str]]]:
        """List the hours that a table holds, oldest first, each with the names in it; not all seen at one instant."""
        found = files.listing(self.root / table)
        return [(hour, found[name]) for hour, name in self._hours(table, sorted(found))]

    def tick_file(self, table: str, at: datetime, shard: str) -> Address:
        """Name the file of one tick, written by one shard."""
        return self.hour(table, at).folder / f"{epoch_ms(at):013}-{shard}.parquet"

    def _hours(self, table: str, names: Iterable[str]) -> Iterator[tuple[Hour, str]]:
        for name in names:
            begin = _begin_of(name)
            if begin is not None:
                yield Hour(begin, self.root / table / name), name


def _begin_of(name: str) -> datetime | None:
    """Read an hour's name; None for every other: one stray folder must not hide the log."""
    text = name.removeprefix(_HOUR_PREFIX)
    with suppress(ValueError):
        return datetime.strptime(text, _HOUR).replace(tzinfo=UTC) if text != name else None
    return None


def hour_of(at: datetime) -> datetime:
    """Give the begin of the hour that an instant belongs to."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def tick_of(name: str) -> int | None:
    """Read the tick from a tick file's name, epoch milliseconds; None for every other name."""
    match = _TICK.fullmatch(name)
    return int(match["tick"]) if match else None


def shard_of(name: str) -> str:
    """Read from a tick file's name who wrote it; empty for every other name."""
    match = _TICK.fullmatch(name)
    return match["shard"] if match else ""


def epoch_ms(at: datetime) -> int:
    """Give an instant as whole epoch milliseconds; exact, unlike a float timestamp times 1000."""
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def instant(at_ms: int) -> datetime:
    """Give epoch milliseconds as an instant."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
