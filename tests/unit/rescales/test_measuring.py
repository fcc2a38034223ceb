"""A series on its way, with rescales that fail and a budget that ends."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.rescales.fake_cluster import FakeCluster

from headgate.errors import RefusedError
from headgate.rescales.cells import Backend, Block, Kind, Move
from headgate.rescales.estimate import estimated_run
from headgate.rescales.measure import Measuring, Order
from headgate.rescales.runs_file import RunsFile

UP, DOWN = (Move(before=low, after=3 - low, kind=Kind.REDEPLOY) for low in (1, 2))


def block_of(*moves: Move, state_mb: int = 0) -> Block:
    """Return the only block of a series."""
    return Block(number=0, round="test", state_mb=state_mb, backend=Backend.HASHMAP, first_run=0, moves=moves)


class Refusals:
    """Refuses some of the jobs that are submitted: by their numbers, from 1."""

    def __init__(self, *numbers: int) -> None:
        """Begin to count."""
        self._numbers, self._submitted = numbers, 0

    def __call__(self, call: str) -> None:
        """Raise for a job that is to be refused."""
        self._submitted += call.startswith("POST /jars")
        if call.startswith("POST /jars") and self._submitted in self._numbers:
            message = "no such jar"
            raise RefusedError(message)


def measuring(tmp_path: Path, block: Block, budget: timedelta = timedelta(minutes=5)) -> tuple[Measuring, list[str]]:
    """Return a series of one block, and what it will have told."""
    told: list[str] = []
    order = Order(seed=34, blocks=(block,), budget=budget)
    return Measuring(order=order, file=RunsFile(tmp_path / "runs.csv"), jar=Path("jar"), tell=told.append), told


def test_three_failures_in_a_row_end_the_series(tmp_path: Path) -> None:
    """Each is told; nobody waits for a fourth."""
    series, told = measuring(tmp_path, block_of(UP, DOWN, UP, DOWN))
    with pytest.raises(RefusedError, match="no such jar"):
        series.measure(FakeCluster(trip=Refusals(1, 2, 3)), "jar")
    assert [line.split(" failed")[0] for line in told] == ["run 0", "run 1", "run 2"]
    assert not series.file.rows()


def test_failures_that_are_not_in_a_row_are_left_out(tmp_path: Path) -> None:
    """After two, one rescale goes well, which is two submissions, and it may fail twice again."""
    series, told = measuring(tmp_path, block_of(UP, DOWN, UP, DOWN, UP))
    cluster = FakeCluster(trip=Refusals(1, 2, 5, 6))
    series.measure(cluster, "jar")
    assert [row.run for row in series.file.rows()] == [2]
    assert len(told) == 5
    assert not cluster.savepoints


def test_a_job_that_could_not_be_built_up_in_time_is_not_started(tmp_path: Path) -> None:
    """The budget holds its rescale, but not its 500 MB before."""
    block = block_of(UP, state_mb=500)
    series, told = measuring(tmp_path, block, estimated_run(block.cell(0)) + timedelta(seconds=5))
    cluster = FakeCluster()
    series.measure(cluster, "jar")
    assert not cluster.started
    assert not told
