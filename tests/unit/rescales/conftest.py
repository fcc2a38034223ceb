"""Rows as a series would have left them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.rescales.cells import Backend, Cell, Kind, Move
from headgate.rescales.phases import PHASES, Phases
from headgate.rescales.rows import Row

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def made_row(run: int, cell: Cell, **phases: float) -> Row:
    """Make a row whose other phases took no time."""
    lengths = dict.fromkeys(PHASES, 0.0) | phases
    return Row(
        seed=7,
        run=run,
        block=run // 8,
        round="corners 1",
        at=START + timedelta(minutes=run),
        cell=cell,
        state_bytes=cell.state_mb * 10**6,
        snapshot_s=0.25,
        phases=Phases(**lengths),
        load=1.5,
    )


@pytest.fixture
def series_rows() -> list[Row]:
    """
    Return rows of a machine without noise: 0.5 s to redeploy, a savepoint of 4 s a GB, loading of 2 s a GB.

    Loading into twice the parallelism takes half as long, and no two runs take quite the same.
    """
    rows: list[Row] = []
    for state in (0, 10, 100, 500):
        for backend in Backend:
            for kind in Kind:
                for before, after in ((1, 2), (2, 1), (1, 8), (8, 1)):
                    gb, extra = state / 1000, len(rows) / 1e4
                    cell = Cell(state_mb=state, backend=backend, move=Move(before=before, after=after, kind=kind))
                    savepoint = 4 * gb + extra if kind is Kind.REDEPLOY else 0.0
                    loading = 2 * gb / after
                    row = made_row(len(rows), cell, savepoint_s=savepoint, redeploy_s=0.5, loading_s=loading)
                    rows.append(row)
    return rows
