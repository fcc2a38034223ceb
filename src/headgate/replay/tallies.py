"""What a replay comes to: one row for each job and verdict, small enough to be collected from a fleet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from headgate.replay.comparing import Step, Verdict
from headgate.samplelog.layout import epoch_ms, instant

SCHEMA = pa.schema(
    [
        ("job", pa.string()),
        ("verdict", pa.string()),
        ("why", pa.string()),
        ("count", pa.int64()),
        ("at_ms", pa.int64()),
        ("decided", pa.list_(pa.string())),
        ("instead", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The decisions of a job with one verdict."""

    first: Step
    """The first of them."""
    count: int = 1

    @property
    def row(self) -> dict[str, Any]:
        """The tally as a row of `SCHEMA`."""
        first = self.first
        return {
            "job": first.job,
            "verdict": first.verdict.value,
            "why": first.why,
            "count": self.count,
            "at_ms": epoch_ms(first.at),
            "decided": list(first.decided),
            "instead": list(first.instead),
        }

    @classmethod
    def read(cls, row: dict[str, Any]) -> Tally:
        """Read a row of `SCHEMA`."""
        first = Step(
            job=row["job"],
            at=instant(row["at_ms"]),
            verdict=Verdict(row["verdict"]),
            why=row["why"],
            decided=tuple(row["decided"]),
            instead=tuple(row["instead"]),
        )
        return cls(first=first, count=row["count"])


def tallied(steps: Iterable[Step]) -> tuple[Tally, ...]:
    """Count the steps of each job by verdict and reason; steps come in the order of time."""
    found: dict[tuple[str, Verdict, str], Tally] = {}
    for step in steps:
        key = step.job, step.verdict, step.why
        known = found.get(key)
        found[key] = replace(known, count=known.count + 1) if known else Tally(first=step)
    return tuple(found.values())


def first_at(tallies: Iterable[Tally]) -> datetime | None:
    """Give the time of the first decision of any of them."""
    return min((tally.first.at for tally in tallies), default=None)
