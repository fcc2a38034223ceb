"""How long a series will probably take: rough, measured once on two cores, for planning alone."""

from __future__ import annotations

from datetime import timedelta

from headgate.rescales.cells import Block, Cell, Kind

_FIXED_S = {Kind.IN_PLACE: 5.5, Kind.REDEPLOY: 4.0}
_PER_MB_S = {Kind.IN_PLACE: 0.006, Kind.REDEPLOY: 0.014}
_JOB_S, _JOB_PER_MB_S = 4.0, 0.02


def estimated_run(cell: Cell) -> timedelta:
    """Return how long one rescale takes with settling before and catching up after."""
    kind = cell.move.kind
    return timedelta(seconds=_FIXED_S[kind] + _PER_MB_S[kind] * cell.state_mb)


def estimated_start(block: Block) -> timedelta:
    """Return how long a job's start and the building up of its state take."""
    return timedelta(seconds=_JOB_S + _JOB_PER_MB_S * block.state_mb)


def estimated_block(block: Block) -> timedelta:
    """Return how long a job's rescales take, with its start."""
    runs = (estimated_run(block.cell(block.first_run + number)) for number in range(len(block.moves)))
    return sum(runs, estimated_start(block))
