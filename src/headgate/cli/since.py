"""The option `--since` of commands that look back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from headgate.errors import ConfigError
from headgate.options.units import parse_duration

Since = Annotated[str, typer.Option(help="How far back, like `30min` or `2d`, or an ISO date.")]


def beginning(text: str, now: datetime) -> datetime:
    """
    Read a duration before now, or an instant, in UTC; one without a time zone is in UTC already.

    Raises:
        ConfigError: it is neither, or before all time.
    """
    try:
        return now - parse_duration(text)
    except OverflowError as error:
        raise ConfigError([f"--since: {text!r} is longer ago than any date"]) from error
    except ValueError:
        pass
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        fault = f"--since: found {text!r}. Hint: write a duration like `2d`, or a date like 2025-06-01T12:00"
        raise ConfigError([fault]) from error
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
