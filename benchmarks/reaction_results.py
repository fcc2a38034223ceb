"""Where the raw runs of the comparison of reactions lie: one line for each job and policy, as far as it has come."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

FOLDER = Path(__file__).with_name("results") / "reaction"
_READ: Mapping[str, Callable[[str], Any]] = {
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
    "str": str,
}
"""By the name of a field's type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One job under one policy."""

    job: int
    policy: str
    course: str
    arrivals: str
    quick: bool
    """Whether it was looked at more often than by default."""
    lag_s: float
    """Lag-seconds."""
    peak_lag_s: float
    worker_s: float
    """Worker-seconds."""
    least_s: float
    """Those of the least parallelism at every instant, had no change of it taken any time."""
    rescales: int
    turns: int
    """How often a vertex turned its direction within half an hour."""

    @property
    def share(self) -> float:
        """Give the worker-seconds as a share of the least."""
        return self.worker_s / self.least_s


@dataclass(frozen=True, slots=True, kw_only=True)
class CalmRow:
    """One job under a constant load for a day."""

    job: int
    policy: str
    quick: bool
    rescales: int


R = TypeVar("R", Row, CalmRow)


@dataclass(frozen=True, slots=True)
class Results(Generic[R]):
    """The runs in one file."""

    path: Path
    kind: type[R]

    def rows(self) -> list[R]:
        """Read all, by policy and job."""
        if not self.path.exists():
            return []
        read = [(each.name, _READ[str(each.type)]) for each in fields(self.kind)]
        with self.path.open(encoding="utf-8", newline="") as file:
            return [self.kind(**{name: of(told[name]) for name, of in read}) for told in csv.DictReader(file)]

    def add(self, rows: Iterable[R]) -> None:
        """Put some to the others; one that was measured before is forgotten."""
        every = {(row.policy, row.job): row for row in (*self.rows(), *rows)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".new")
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [each.name for each in fields(self.kind)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(every[key]) for key in sorted(every))
        unfinished.replace(self.path)

    def forget(self) -> None:
        """Delete all."""
        self.path.unlink(missing_ok=True)


def compared(seed: int, folder: Path = FOLDER) -> Results[Row]:
    """Find the runs of the comparison."""
    return Results(folder / f"seed-{seed}.csv", Row)


def calm(seed: int, folder: Path = FOLDER) -> Results[CalmRow]:
    """Find the days without a change."""
    return Results(folder / f"calm-seed-{seed}.csv", CalmRow)
