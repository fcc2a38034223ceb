"""
What the rows say: is the time of a savepoint linear in the state, what share is loading, does parallelism count?

The questions are those of Varga, Balassi and Kiss, "Towards autoscaling of Apache Flink jobs" (2021).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headgate.rescales.cells import Backend, Kind
from headgate.rescales.intervals import Floats, Interval, Line, line_through, rank_correlation, share_of
from headgate.rescales.rows import Row
from headgate.rescales.table import by_state, grouped, interval_text, markdown

_STATES_FOR_A_CURVE = 3
_FEW = 3


def savepoint_line(rows: Sequence[Row], backend: Backend) -> Line | None:
    """Return seconds of a savepoint over MB of state; None with fewer than three sizes, of which none is a curve's."""
    ours = [row for row in rows if row.cell.move.kind is Kind.REDEPLOY and row.cell.backend is backend]
    x = _floats([row.cell.state_mb for row in ours])
    if len(np.unique(x)) < _STATES_FOR_A_CURVE:
        return None
    return line_through(x, _floats([row.phases.savepoint_s for row in ours]))


def savepoint_table(rows: Sequence[Row]) -> str:
    """Return the line through the savepoints of each backend, and how far it is one."""
    head = [
        "backend",
        "seconds without state",
        "seconds for 100 MB",
        "R²",
        "residuals by state",
        "curvature",
        "linear?",
    ]
    lines = []
    for backend in Backend:
        line = savepoint_line(rows, backend)
        if line is not None:
            lines.append(
                [
                    backend,
                    interval_text(line.base),
                    interval_text(_scaled(line.slope, 100)),
                    f"{line.explained:.2f}",
                    _residuals(rows, backend, line),
                    interval_text(_scaled(line.curvature, 1e6)),
                    "no: it bends" if line.curvature.excludes(0) else "nothing speaks against it",
                ]
            )
    return markdown(head, lines)


def loading_table(rows: Sequence[Row]) -> str:
    """Return which share of the downtime each phase is, of all rescales of a kind, backend and state together."""
    head = ["kind", "backend", "state MB", "loading's share", "largest phase", "its share"]
    lines = []
    for (kind, backend, state), group in grouped(rows, by_state):
        shares = {phase: _share(group, phase) for phase in _DOWN}
        largest = max(_DOWN, key=lambda phase: shares[phase].middle)
        loading = interval_text(shares["loading_s"])
        title = largest.removesuffix("_s").replace("_", " ")
        lines.append([kind, backend, str(state), loading, title, interval_text(shares[largest])])
    return markdown(head, lines)


def parallelism_table(rows: Sequence[Row]) -> str:
    """Return how loading and downtime go with the parallelism before and after, all else alike."""
    head = ["kind", "loading with target", "downtime with target", "downtime with parallelism before", "n"]
    lines = []
    for kind, group in grouped(rows, lambda row: str(row.cell.move.kind)):
        strata = [by_state(row) for row in group]
        after, before = (_floats([getattr(row.cell.move, end) for row in group]) for end in ("after", "before"))
        loading = _floats([row.phases.loading_s for row in group])
        downtime = _floats([row.phases.downtime_s for row in group])
        found = [rank_correlation(x, y, strata) for x, y in ((after, loading), (after, downtime), (before, downtime))]
        lines.append([kind, *map(interval_text, found), str(len(group))])
    return markdown(head, lines)


_DOWN = ("savepoint_s", "teardown_s", "redeploy_s", "loading_s", "first_output_s")


def _share(rows: Sequence[Row], phase: str) -> Interval:
    part = _floats([getattr(row.phases, phase) for row in rows])
    whole = _floats([row.phases.downtime_s for row in rows])
    return share_of(part, whole)


def _residuals(rows: Sequence[Row], backend: Backend, line: Line) -> str:
    ours = [row for row in rows if row.cell.move.kind is Kind.REDEPLOY and row.cell.backend is backend]
    parts = []
    for state, group in grouped(ours, lambda row: row.cell.state_mb):
        expected = line.base.middle + line.slope.middle * state
        parts.append(f"{state}: {np.median([row.phases.savepoint_s for row in group]) - expected:+.2f}")
    return ", ".join(parts)


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(middle=factor * interval.middle, low=factor * interval.low, high=factor * interval.high)


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)
