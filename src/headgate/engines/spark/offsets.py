"""
How far the sources of a query are ahead of what was read, in rows, from the offsets in a batch's progress.

Spark writes down an end offset, up to which the batch read, and a latest one, taken when the batch was planned. The
latest is the source's true head where the source reports one (Kafka, Python sources since 4.2), and the end offset once
more where it knows no admission control: all there was is read then. File sources report none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from headgate.model.lag import LagOrigin

Listing = Callable[[str], int | None]
"""From a source's description to the rows that lie in it and were not read yet; None: it cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """Rows that wait, and where that is known from."""

    rows: float | None
    """None when unknown."""
    origin: LagOrigin


UNKNOWN = Lag(rows=None, origin=LagOrigin.UNKNOWN)
INFERRED = Lag(rows=0.0, origin=LagOrigin.TRIGGER)


def lag_of(sources: Sequence[Mapping[str, Any]], *, took_all: bool, listing: Listing | None = None) -> Lag:
    """
    Give the rows that all sources of a query have ahead; unknown as soon as one of them is.

    Args:
        sources: as a batch's progress has them.
        took_all: whether the batch stayed below the query's limit. Otherwise a latest offset that is the end offset
            may be one that the source was held back to, and proves nothing.
        listing: asked where the offsets do not tell.
    """
    lags = [_lag(source, took_all=took_all, listing=listing) for source in sources]
    rows = total(lag.rows for lag in lags)
    return UNKNOWN if rows is None else Lag(rows=rows, origin=max(lag.origin for lag in lags))


def _lag(source: Mapping[str, Any], *, took_all: bool, listing: Listing | None) -> Lag:
    rows = rows_between(source.get("endOffset"), source.get("latestOffset"))
    if rows is not None and (rows > 0 or took_all):
        return Lag(rows=rows, origin=LagOrigin.OFFSETS)
    listed = listing(str(source.get("description", ""))) if listing else None
    return UNKNOWN if listed is None else Lag(rows=float(listed), origin=LagOrigin.LISTING)


def rows_between(end: Any, latest: Any) -> float | None:
    """
    Give the rows from one offset to another, 0 where the second is behind; None when that cannot be told.

    Read are numbers, and mappings from partitions to numbers, however deep (Kafka: by topic). A partition that the
    first does not know is new, and begins at 0. Offsets that are alike are no rows apart, whatever they mean.
    """
    end, latest = _parsed(end), _parsed(latest)
    if end is None or latest is None:
        return None
    return 0.0 if end == latest else _difference(end, latest)


def _parsed(offset: Any) -> Any:
    """Undo the quoting of offsets that a source gives as text."""
    if not isinstance(offset, str):
        return offset
    try:
        return json.loads(offset)
    except ValueError:
        return offset


def _difference(end: Any, latest: Any) -> float | None:
    if _is_number(end) and _is_number(latest):
        return max(0.0, float(latest) - float(end))
    if not isinstance(end, Mapping) or not isinstance(latest, Mapping):
        return None
    return total(_of_key(key, end, latest) for key in latest)


def total(parts: Iterable[float | None]) -> float | None:
    """Add parts up; None as soon as one of them is unknown, and where there are none."""
    told = list(parts)
    known = [part for part in told if part is not None]
    return sum(known) if known and len(known) == len(told) else None


def _of_key(key: str, end: Mapping[str, Any], latest: Mapping[str, Any]) -> float | None:
    """Only a partition's number leads to rows: `{"version": 5}` counts something else."""
    value = latest[key]
    if isinstance(value, Mapping):
        return _difference(end.get(key, {}), value)
    return _difference(end.get(key, 0), value) if key.isdigit() else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
