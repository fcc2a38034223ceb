"""What of a query's settings Headgate can change by starting it anew, and the configuration keys that ask for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges

PREFIX = "spark.headgate.query."
"""What the keys begin with; the query's name and the setting follow: `spark.headgate.query.orders.trigger-interval`."""
_LENGTH = re.compile(r"(\d+)\s*(ms|s|min|h)")
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSettings:
    """How a query is to be started; None leaves a setting as the application has it of its own."""

    max_offsets_per_trigger: int | None = None
    """Most rows that a batch takes: `maxOffsetsPerTrigger` of Kafka, or what the source calls it."""
    trigger_interval: timedelta | None = None
    """Between two triggers."""
    shuffle_partitions: int | None = None
    """`spark.sql.shuffle.partitions` of a query without state."""
    state_partitions: int | None = None
    """Over how many partitions its state is spread; the factory need not look at it."""

    @property
    def text(self) -> str:
        """Name what is set, for people."""
        named = {key: getattr(self, field) for key, field in _FIELDS.items()}
        return ", ".join(f"{key}={value}" for key, value in named.items() if value is not None) or "its own settings"


QueryFactory = Callable[[StartSettings], Any]
"""Starts a query with these settings, its own name and its own checkpoint, and gives the `StreamingQuery`."""

_FIELDS = {name.replace("_", "-"): name for name in StartSettings.__dataclass_fields__}


def split_changes(changes: ConfigChanges) -> Mapping[str, Mapping[str, str | None]]:
    """
    Sort the changes by query: name -> setting -> value, None where it is taken away.

    Raises:
        RefusedError: a key is none of a query's settings.
    """
    by_query: dict[str, dict[str, str | None]] = {}
    for key, value in (*changes.overrides.items(), *((key, None) for key in sorted(changes.removals))):
        name, _, setting = key.removeprefix(PREFIX).rpartition(".")
        if not key.startswith(PREFIX) or not name or setting not in _FIELDS:
            message = (
                f"{key} cannot be changed while the application runs. "
                f"Hint: {PREFIX}<query>. followed by {', '.join(_FIELDS)} can"
            )
            raise RefusedError(message)
        by_query.setdefault(name, {})[setting] = value
    return by_query


def with_changes(settings: StartSettings, changes: Mapping[str, str | None]) -> StartSettings:
    """
    Give the settings with some of them changed.

    Raises:
        RefusedError: a value is no whole number above 0, or no length of time such as `10 s`.
    """
    read: dict[str, Any] = {_FIELDS[setting]: _read(setting, value) for setting, value in changes.items()}
    return replace(settings, **read)


def _read(setting: str, value: str | None) -> int | timedelta | None:
    if value is None:
        return None
    read = _length(value) if setting == "trigger-interval" else _count(value)
    if read is None:
        message = (
            f"{setting}: {value!r} is none of its values. Hint: write a whole number above 0, or a time such as 10 s"
        )
        raise RefusedError(message)
    return read


def _count(value: str) -> int | None:
    return int(value) if value.isdecimal() and int(value) > 0 else None


def _length(value: str) -> timedelta | None:
    found = _LENGTH.fullmatch(value.strip())
    return int(found[1]) * _UNITS[found[2]] if found else None
