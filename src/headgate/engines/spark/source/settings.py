"""What a query tells the load source in its options, checked in one place."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from headgate.engines.spark.source.offsets import heads, share
from headgate.engines.spark.source.profile import LoadProfile, parse_profile

NAME = "headgate-load"

_Value = TypeVar("_Value")
_PLACE = "path"
"""Spark's own option, which it may set by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """A load that replays: the same settings give the same rows at the same offsets."""

    profile: LoadProfile
    start: datetime
    """The profile's time 0."""
    partitions: int
    most_rows: int | None
    """Of a batch; none for all that there are."""
    shares: tuple[float, ...]

    def heads_at(self, instant_s: float) -> tuple[int, ...]:
        """Return the next offset of each partition at an instant, in seconds since 1970."""
        return heads(self.profile.rows_until(instant_s - self.start.timestamp()), self.shares)

    def heads_now(self) -> tuple[int, ...]:
        """Return the next offset of each partition by this machine's clock."""
        return self.heads_at(time.time())


def read_settings(options: Mapping[str, str]) -> LoadSettings:
    """
    Check the options of a query; their names are told apart without regard to case.

    Raises:
        ValueError: one is missing, unknown or no value; the text names it.
    """
    given = {name.lower(): value for name, value in options.items() if name.lower() != _PLACE}
    _refuse_unknown(given)
    partitions = _read(given, "partitions", _positive, "8")
    return LoadSettings(
        profile=_read(given, "profile", parse_profile),
        start=_read(given, "start", _instant),
        partitions=partitions,
        most_rows=_read(given, "maxRowsPerTrigger", _positive) if "maxrowspertrigger" in given else None,
        shares=share(partitions, _read(given, "skew", _skew, "0")),
    )


_KNOWN = ("profile", "start", "partitions", "maxRowsPerTrigger", "skew")
_MISSING = {
    "profile": "Hint: for example `0s:200, 60s:700`, in rows per second",
    "start": "Hint: an instant such as 2026-01-31T12:00:00Z; keep it over restarts, or the offsets would go back",
}


def _refuse_unknown(given: Mapping[str, str]) -> None:
    if unknown := set(given) - {name.lower() for name in _KNOWN}:
        message = f"{NAME} has no option {', '.join(sorted(unknown))}. Hint: there are {', '.join(_KNOWN)}"
        raise ValueError(message)


def _read(given: Mapping[str, str], name: str, parse: Callable[[str], _Value], default: str | None = None) -> _Value:
    text = given.get(name.lower(), default)
    if text is None:
        message = f"{NAME} needs the option {name}. {_MISSING[name]}"
        raise ValueError(message)
    try:
        return parse(text)
    except ValueError as error:
        message = f"option {name} of {NAME}: {error}"
        raise ValueError(message) from error


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        message = f"{text!r} is no positive number"
        raise ValueError(message)
    return int(text)


def _skew(text: str) -> float:
    skew = float(text)
    if not 0 <= skew < 10:  # noqa: PLR2004 (beyond it all but one partition are empty)
        message = f"{text!r} is not between 0 and 10"
        raise ValueError(message)
    return skew


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
