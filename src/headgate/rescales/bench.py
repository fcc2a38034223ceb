"""A bench for the rescales of one block: its job, brought up with all of its state, and removed at the end."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Self

from headgate.errors import HeadgateError, PermanentError
from headgate.rescales.answers import read_savepoint
from headgate.rescales.backlog import KEEPING_UP, outlet
from headgate.rescales.cells import Backend, Block, Kind, Move
from headgate.rescales.job import await_running, measured_job
from headgate.rescales.rest import Rest, await_value, reading
from headgate.rescales.run import Measured, Stand, rescale

_SETTLED_S = (0.5, 2.0)
"""Least and most time between two rescales: at random, so that the next checkpoint may be near or far."""
_END_LIMIT = timedelta(seconds=30)


class Bench:
    """The job of a block while it runs; leaving cancels it and removes its savepoints."""

    def __init__(self, rest: Rest, jar_id: str, block: Block, run: int) -> None:
        """
        Start nothing yet.

        Args:
            rest: the cluster's.
            jar_id: under which the cluster has the load job's jar.
            block: whose rescales are made.
            run: the first of them to be made, counted over the series.
        """
        self._rest, self._block = rest, block
        start = block.cell(run).move.before
        self._stand = Stand(job=measured_job(jar_id, block.state_mb, block.backend), parallelism=start)

    @reading()
    def __enter__(self) -> Self:
        """
        Start the job and wait until it has its state and keeps up with its load.

        Raises:
            HeadgateError: it does not come to that.
        """
        stand = self._stand
        try:
            stand.start(self._rest, stand.parallelism)
            job = await_running(self._rest, stand.job_id, stand.parallelism)
            # The load comes after the state: who has caught up with it has all of its state.
            outlet(self._rest, job, stand.parallelism, stand.job.spec.epoch).await_lag(KEEPING_UP)
        except BaseException:
            self._remove()
            raise
        return self

    def is_ready_for(self, run: int) -> bool:
        """Tell whether the job stands where a run begins."""
        return self._block.cell(run).move.before == self._stand.parallelism

    @reading()
    def measure(self, run: int, seed: int) -> Measured:
        """
        Settle for a moment that the seed decides, and make a rescale.

        Raises:
            HeadgateError: it failed; the job may be gone.
        """
        chance = random.Random(f"{seed} {run}")  # noqa: S311 - an experiment's pauses, no secret
        time.sleep(chance.uniform(*_SETTLED_S))
        return rescale(self._rest, self._stand, self._block.cell(run).move)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what is left."""
        self._remove()

    def _remove(self) -> None:
        if self._stand.job_id:
            with suppress(HeadgateError):
                self._end_job()
        for savepoint in self._stand.savepoints:
            with suppress(HeadgateError):
                self._rest.send("POST", "/savepoint-disposal", {"savepoint-path": savepoint})

    @reading()
    def _end_job(self) -> None:
        await_value(self._has_ended, "the job's end", limit=_END_LIMIT)
        # Whoever was interrupted while it was written has not been told where it is.
        latest = read_savepoint(self._rest.get(f"{self._path}/checkpoints"))
        if latest and latest.path not in self._stand.savepoints:
            self._stand.savepoints.append(latest.path)

    def _has_ended(self) -> bool | None:
        # At every look: where the start was interrupted, the job may be there only now.
        with suppress(PermanentError):
            self._rest.send("PATCH", f"{self._path}?mode=cancel", {})
        return self._rest.get(self._path)["state"] in {"CANCELED", "FINISHED", "FAILED"} or None

    @property
    def _path(self) -> str:
        return f"/jobs/{self._stand.job_id}"


def warm_up(rest: Rest, jar_id: str, parallelism: int) -> None:
    """
    Load the classes that rescales need, on every TaskManager: what only the first pays is no cost of a rescale.

    Args:
        rest: the cluster's.
        jar_id: under which the cluster has the load job's jar.
        parallelism: 2 at least, and enough to be on every TaskManager.
    """
    there = Move(before=1, after=parallelism, kind=Kind.IN_PLACE)
    back = Move(before=parallelism, after=1, kind=Kind.REDEPLOY)
    block = Block(number=-1, round="", state_mb=0, backend=Backend.ROCKSDB, first_run=0, moves=(there, back))
    with Bench(rest, jar_id, block, 0) as bench:
        for run in range(len(block.moves)):
            bench.measure(run, 0)
