"""What rescales cost, as tables: medians of the measured rows, each with the interval in which it lies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from headgate.rescales.intervals import Interval, median_of
from headgate.rescales.phases import PHASES
from headgate.rescales.rows import Row

Group = TypeVar("Group", bound=Hashable)


def cost_table(rows: Sequence[Row]) -> str:
    """Return the phases and the downtime by kind, backend and state, over all changes of parallelism, in seconds."""
    head = ["kind", "backend", "state MB", "n", *map(phase_title, PHASES), "**downtime**"]
    lines = []
    for (kind, backend, state), group in grouped(rows, by_state):
        phases = [f"{np.median([getattr(row.phases, phase) for row in group]):.2f}" for phase in PHASES]
        downtime = interval_text(median_of([row.phases.downtime_s for row in group]))
        lines.append([str(kind), str(backend), str(state), str(len(group)), *phases, downtime])
    return markdown(head, lines)


def cell_table(rows: Sequence[Row]) -> str:
    """Return downtime and loading by every cell that was measured, in seconds."""
    head = ["kind", "backend", "state MB", "parallelism", "n", "downtime", "loading"]
    lines = []
    for row_of, group in grouped(rows, lambda row: (*by_state(row), row.cell.move.before, row.cell.move.after)):
        kind, backend, state, before, after = row_of
        downtime = interval_text(median_of([row.phases.downtime_s for row in group]))
        loading = interval_text(median_of([row.phases.loading_s for row in group]))
        lines.append([kind, backend, str(state), f"{before} → {after}", str(len(group)), downtime, loading])
    return markdown(head, lines)


def by_state(row: Row) -> tuple[str, str, int]:
    """Return what a row is, whatever its parallelism."""
    return str(row.cell.move.kind), str(row.cell.backend), row.cell.state_mb


def grouped(rows: Iterable[Row], key: Callable[[Row], Group]) -> list[tuple[Group, list[Row]]]:
    """Return the rows by a key, in its order."""
    groups: dict[Group, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return sorted(groups.items(), key=lambda item: item[0])  # type: ignore[arg-type, return-value]


def interval_text(interval: Interval, digits: int = 2) -> str:
    """Write a number with its interval, or alone where there is none."""
    if np.isnan(interval.low):
        return f"{interval.middle:.{digits}f}"
    return f"{interval.middle:.{digits}f} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"


def phase_title(phase: str) -> str:
    """Return a phase's name in words."""
    return phase.removesuffix("_s").replace("_", " ")


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *lines])
