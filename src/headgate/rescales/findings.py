"""
What the rows say: is a savepoint's time linear in the state, what share is loading, do parallelism and load count?

The questions are those of Varga, Balassi and Kiss, "Towards autoscaling of Apache Flink jobs" (2021).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headgate.rescales.cells import Backend, Kind
from headgate.rescales.intervals import Floats, Interval, Line, line_through, rank_correlation, share_of
from headgate.rescales.phases import DOWN
from headgate.rescales.rows import Row
from headgate.rescales.table import by_state, grouped, interval_text, markdown, phase_title

_STATES_FOR_A_BEND = 3


def savepoint_line(rows: Sequence[Row], backend: Backend) -> Line | None:
    """Return seconds of a savepoint over MB of state; None below three states: through two goes every line."""
    ours = _redeploys(rows, backend)
    states = _floats([row.cell.state_mb for row in ours])
    if len(np.unique(states)) < _STATES_FOR_A_BEND:
        return None
    return line_through(states, _floats([row.phases.savepoint_s for row in ours]))


def savepoint_table(rows: Sequence[Row]) -> str:
    """Return the line through the savepoints of each backend, and how far it is one."""
    explained = ["R²", "R² of the medians"]
    head = ["backend", "runs", "without state", "for 100 MB", *explained, "left over by state", "bend", "linear?"]
    lines = []
    for backend in Backend:
        for name, chosen in (("all", rows), ("calm half", calm_half(rows))):
            line = savepoint_line(chosen, backend)
            lines += [[str(backend), name, *_told(chosen, backend, line)]] if line else []
    return markdown(head, lines)


def calm_half(rows: Sequence[Row]) -> list[Row]:
    """Return the half of the rows with the least load on the machine."""
    bound = np.median([row.load for row in rows])
    return [row for row in rows if row.load <= bound]


def _told(rows: Sequence[Row], backend: Backend, line: Line) -> list[str]:
    groups = grouped(_redeploys(rows, backend), lambda row: row.cell.state_mb)
    states = _floats([state for state, _ in groups])
    medians = _floats([float(np.median([row.phases.savepoint_s for row in group])) for _, group in groups])
    left = medians - line.base.middle - line.slope.middle * states
    return [
        interval_text(line.base),
        interval_text(_scaled(line.slope, 100)),
        f"{line.explained:.2f}",
        f"{line_through(states, medians).explained:.3f}",
        ", ".join(f"{state:.0f}: {seconds:+.2f}" for state, seconds in zip(states, left, strict=True)),
        interval_text(_scaled(line.curvature, 1e6)),
        "no: it bends" if line.curvature.excludes(0) else "nothing speaks against it",
    ]


def loading_table(rows: Sequence[Row]) -> str:
    """Return which share of the downtime each phase is, of all rescales of a kind, backend and state together."""
    head = ["kind", "backend", "state MB", "loading's share", "largest phase", "its share"]
    lines = []
    for (kind, backend, state), group in grouped(rows, by_state):
        shares = {phase: _share(group, phase) for phase in DOWN}
        largest = max(DOWN, key=lambda phase: shares[phase].middle)
        found = [interval_text(shares["loading_s"]), phase_title(largest), interval_text(shares[largest])]
        lines.append([kind, backend, str(state), *found])
    return markdown(head, lines)


def parallelism_table(rows: Sequence[Row]) -> str:
    """Return how loading and downtime go with the parallelism before and after, all else alike."""
    head = ["kind", "runs", "loading with target", "downtime with target", "downtime with parallelism before", "n"]
    lines = []
    for name, chosen in (("all", rows), ("calm half", calm_half(rows))):
        for kind, group in grouped(chosen, lambda row: str(row.cell.move.kind)):
            lines.append([kind, name, *map(interval_text, _correlations(group)), str(len(group))])
    return markdown(head, lines)


def _correlations(rows: Sequence[Row]) -> list[Interval]:
    strata = [by_state(row) for row in rows]
    after, before = (_floats([getattr(row.cell.move, end) for row in rows]) for end in ("after", "before"))
    loading = _floats([row.phases.loading_s for row in rows])
    downtime = _floats([row.phases.downtime_s for row in rows])
    return [rank_correlation(x, y, strata) for x, y in ((after, loading), (after, downtime), (before, downtime))]


def load_table(rows: Sequence[Row]) -> str:
    """Return how busy the machine was with whatever else, and how far downtime went with that, all else alike."""
    head = ["kind", "load: median (least to most)", "downtime with load", "n"]
    lines = []
    for kind, group in grouped(rows, lambda row: str(row.cell.move.kind)):
        loads = _floats([row.load for row in group])
        found = rank_correlation(
            loads, _floats([row.phases.downtime_s for row in group]), [by_state(row) for row in group]
        )
        spread = f"{np.median(loads):.1f} ({loads.min():.1f} to {loads.max():.1f})"
        lines.append([kind, spread, interval_text(found), str(len(group))])
    return markdown(head, lines)


def _share(rows: Sequence[Row], phase: str) -> Interval:
    part = _floats([getattr(row.phases, phase) for row in rows])
    whole = _floats([row.phases.downtime_s for row in rows])
    return share_of(part, whole)


def _redeploys(rows: Sequence[Row], backend: Backend) -> list[Row]:
    return [row for row in rows if row.cell.move.kind is Kind.REDEPLOY and row.cell.backend is backend]


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(middle=factor * interval.middle, low=factor * interval.low, high=factor * interval.high)


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)
