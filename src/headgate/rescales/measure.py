"""Goes through a series, one rescale after the other, for as long as the budget lasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from headgate.demo.submit import upload_jar
from headgate.errors import ConfigError, HeadgateError
from headgate.rescales.bench import Bench, warm_up
from headgate.rescales.cells import Block, Cell
from headgate.rescales.estimate import estimated_run, estimated_start
from headgate.rescales.machine import load_average
from headgate.rescales.rest import Rest
from headgate.rescales.rows import Row
from headgate.rescales.run import Measured
from headgate.rescales.runs_file import RunsFile

Tell = Callable[[str], None]
_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be measured, and how long it may take."""

    seed: int
    blocks: tuple[Block, ...]
    budget: timedelta
    """
    No job is started and no rescale begun that would probably end after it; what goes wrong then may take minutes more.
    """


@dataclass(slots=True, kw_only=True)
class Measuring:
    """
    A series on its way; its budget runs from the moment that this is made.

    Attributes:
        order: what is measured.
        file: receives a row a rescale.
        jar: the load job's.
        tell: is given a line about each rescale.
    """

    order: Order
    file: RunsFile
    jar: Path
    tell: Tell
    _deadline: float = field(init=False)
    _failures: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Reckon when the budget ends."""
        self._deadline = time.monotonic() + self.order.budget.total_seconds()

    def go_through(self, rest: Rest) -> None:
        """
        Give the cluster the jar, warm it up, and measure.

        Raises:
            HeadgateError: the cluster does not even warm up, or several rescales in a row failed.
        """
        jar_id = upload_jar(rest.url, self.jar)
        warm_up(rest, jar_id, max(move.before for block in self.order.blocks for move in block.moves))
        self.measure(rest, jar_id)

    def measure(self, rest: Rest, jar_id: str) -> None:
        """
        Measure what the file does not have yet, until all is done or the budget is used up.

        Raises:
            HeadgateError: several rescales in a row failed.
        """
        done = done_runs(self.file.rows(), self.order)
        for block in self.order.blocks:
            pending = _runs_left(block, done)
            while pending and self._has_time_for(block.cell(pending[0]), start=estimated_start(block)):
                self._try_runs(rest, jar_id, block, pending)

    def _try_runs(self, rest: Rest, jar_id: str, block: Block, pending: list[int]) -> None:
        """Measure runs with one job, and take them off the list; one that fails is left out, and with it its job."""
        try:
            with Bench(rest, jar_id, block, pending[0]) as bench:
                while pending and bench.is_ready_for(pending[0]) and self._has_time_for(block.cell(pending[0])):
                    self._keep(block, pending[0], bench.measure(pending[0], self.order.seed))
                    pending.pop(0)
        except HeadgateError as error:
            self.tell(f"run {pending[0]} failed and is left out: {error}")
            pending.pop(0)
            self._failures += 1
            if self._failures >= _FAILURES_IN_A_ROW:
                raise

    def _keep(self, block: Block, run: int, measured: Measured) -> None:
        self._failures = 0
        row = Row(
            seed=self.order.seed,
            run=run,
            block=block.number,
            round=block.round,
            at=measured.at,
            cell=block.cell(run),
            state_bytes=measured.snapshot.state_bytes,
            snapshot_s=measured.snapshot.duration_s,
            phases=measured.phases,
            load=load_average(),
        )
        self.file.append(row)
        self.tell(_line(row))

    def _has_time_for(self, cell: Cell, *, start: timedelta = timedelta()) -> bool:
        return time.monotonic() + (start + estimated_run(cell)).total_seconds() < self._deadline


def done_runs(rows: Sequence[Row], order: Order) -> frozenset[int]:
    """
    Tell which runs of a series a file has already.

    Raises:
        ConfigError: a row of the same seed is not the rescale that the series has at this place.
    """
    cells = {run: block.cell(run) for block in order.blocks for run in _runs_left(block, frozenset())}
    ours = [row for row in rows if row.seed == order.seed]
    for row in ours:
        if cells.get(row.run) != row.cell:
            message = f"run {row.run} of seed {row.seed} in the file is of another series. Hint: take another --seed"
            raise ConfigError([message])
    return frozenset(row.run for row in ours)


def _runs_left(block: Block, done: frozenset[int]) -> list[int]:
    return [run for run in range(block.first_run, block.first_run + len(block.moves)) if run not in done]


def _line(row: Row) -> str:
    move = row.cell.move
    return (
        f"{row.round}: {row.cell.state_mb} MB {row.cell.backend} {move.kind} {move.before} -> {move.after}: "
        f"down {row.phases.downtime_s:.1f} s, loading {row.phases.loading_s:.1f} s"
    )
