"""Goes through a series, one rescale after the other, for as long as the budget lasts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path

from headgate.demo.submit import cancel_job, upload_jar
from headgate.errors import ConfigError, HeadgateError
from headgate.rescales.backlog import outlet
from headgate.rescales.cells import Backend, Block, Cell, Kind, Move
from headgate.rescales.clusters import OpenCluster
from headgate.rescales.estimate import estimated_run
from headgate.rescales.job import await_running, measured_job
from headgate.rescales.machine import load_average
from headgate.rescales.rest import Rest, await_value
from headgate.rescales.rows import Row
from headgate.rescales.run import Measured, Stand, rescale
from headgate.rescales.runs_file import RunsFile

Tell = Callable[[str], None]
_SETTLED_S = (0.5, 2.0)
"""Least and most time between two rescales: at random, so that the next checkpoint may be near or far."""
_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be measured, and how long it may take."""

    seed: int
    blocks: tuple[Block, ...]
    budget: timedelta
    """No rescale is begun that would probably end after it."""


@dataclass(slots=True, kw_only=True)
class Measuring:
    """
    A series on its way.

    Attributes:
        tell: is given a line about each rescale.
    """

    order: Order
    file: RunsFile
    jar: Path
    tell: Tell
    _deadline: float = 0.0
    _failures: int = 0

    def go_through(self, open_cluster: OpenCluster) -> None:
        """
        Measure what the file does not have yet, until all is done or the budget is used up.

        Raises:
            HeadgateError: several rescales in a row failed, or the cluster did not start.
        """
        self._deadline = time.monotonic() + self.order.budget.total_seconds()
        done = done_runs(self.file.rows(), self.order)
        for _, blocks in groupby(self.order.blocks, key=lambda block: block.round):
            left = [(block, runs) for block in blocks if (runs := _runs_left(block, done))]
            if left and self._has_time_for(left[0][0].cell(left[0][1][0])):
                with open_cluster() as rest:
                    self._go_through_round(rest, left)

    def _go_through_round(self, rest: Rest, left: Sequence[tuple[Block, Sequence[int]]]) -> None:
        jar_id = upload_jar(rest.url, self.jar)
        _warm_up(rest, jar_id)
        for block, runs in left:
            pending = list(runs)
            while pending and self._has_time_for(block.cell(pending[0])):
                self._try_runs(rest, jar_id, block, pending)

    def _try_runs(self, rest: Rest, jar_id: str, block: Block, pending: list[int]) -> None:
        """Measure runs with one job, and take them off the list; one that fails is left out, and with it its job."""
        try:
            with _Bench(rest, jar_id, block, pending[0]) as bench:
                while pending and self._has_time_for(block.cell(pending[0])):
                    self._keep(block, pending[0], bench.next_run(self.order.seed))
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

    def _has_time_for(self, cell: Cell) -> bool:
        return time.monotonic() + estimated_run(cell).total_seconds() < self._deadline


class _Bench:
    """The job of a block while it runs; leaving cancels it and removes its savepoints."""

    def __init__(self, rest: Rest, jar_id: str, block: Block, run: int) -> None:
        self._rest, self._block, self._run = rest, block, run
        self._job = measured_job(jar_id, block.state_mb, block.backend)
        self._stand: Stand | None = None

    def __enter__(self) -> _Bench:
        start = self._block.cell(self._run).move.before
        job_id = self._job.start(self._rest, start)
        self._stand = Stand(job=self._job, job_id=job_id, parallelism=start)
        # All of the state is there once the load, which comes after it, has caught up.
        outlet(self._rest, await_running(self._rest, job_id, start), start).await_level(past=0)
        return self

    def next_run(self, seed: int) -> Measured:
        """Settle, and make the next rescale."""
        assert self._stand is not None  # noqa: S101 - entered
        chance = random.Random(f"{seed} {self._run}")  # noqa: S311 - an experiment's pauses, no secret
        time.sleep(chance.uniform(*_SETTLED_S))
        measured = rescale(self._rest, self._stand, self._block.cell(self._run).move)
        self._stand = measured.stand
        self._run += 1
        return measured

    def __exit__(self, *_: object) -> None:
        stand, rest = self._stand, self._rest
        if stand is None:
            return
        with suppress(HeadgateError):
            cancel_job(rest.url, stand.job_id)
            await_value(lambda: _has_ended(rest, stand.job_id), "the job's end")
            for savepoint in stand.savepoints:
                rest.send("POST", "/savepoint-disposal", {"savepoint-path": savepoint})


def _warm_up(rest: Rest, jar_id: str) -> None:
    """Load the classes that rescales need, on every TaskManager: what only the first pays is no cost of a rescale."""
    moves = (Move(before=1, after=8, kind=Kind.IN_PLACE), Move(before=8, after=1, kind=Kind.REDEPLOY))
    block = Block(number=-1, round="", state_mb=0, backend=Backend.ROCKSDB, first_run=0, moves=moves)
    with _Bench(rest, jar_id, block, 0) as bench:
        for _ in moves:
            bench.next_run(0)


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
            raise ConfigError(message)
    return frozenset(row.run for row in ours)


def _runs_left(block: Block, done: frozenset[int]) -> list[int]:
    return [run for run in range(block.first_run, block.first_run + len(block.moves)) if run not in done]


def _has_ended(rest: Rest, job_id: str) -> bool | None:
    return rest.get(f"/jobs/{job_id}")["state"] in {"CANCELED", "FINISHED", "FAILED"} or None


def _line(row: Row) -> str:
    move = row.cell.move
    return (
        f"{row.round}: {row.cell.state_mb} MB {row.cell.backend} {move.kind} {move.before} -> {move.after}: "
        f"down {row.phases.downtime_s:.1f} s, loading {row.phases.loading_s:.1f} s"
    )
