"""A rescale of a real job, measured."""

from __future__ import annotations

from dataclasses import astuple
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.engines.flink.local.cluster import LocalCluster
from headgate.errors import PermanentError
from headgate.rescales.cells import Backend, Block, Kind, Move
from headgate.rescales.clusters import existing_cluster
from headgate.rescales.measure import Measuring, Order
from headgate.rescales.runs_file import RunsFile

pytestmark = [pytest.mark.flink, pytest.mark.long]


def test_both_kinds_are_measured_and_kept(cluster: LocalCluster, jar: Path, tmp_path: Path) -> None:
    """In place and redeployed, with 10 MB of state: each phase took its time, and the state was loaded."""
    moves = (Move(before=1, after=2, kind=Kind.IN_PLACE), Move(before=2, after=1, kind=Kind.REDEPLOY))
    block = Block(number=0, round="test", state_mb=10, backend=Backend.HASHMAP, first_run=0, moves=moves)
    order = Order(seed=1, blocks=(block,), budget=timedelta(minutes=10))
    file = RunsFile(tmp_path / "runs.csv")
    told: list[str] = []
    with existing_cluster(cluster.url, slots=8) as rest:
        Measuring(order=order, file=file, jar=jar, tell=told.append).go_through(rest)
    in_place, redeployed = file.rows()
    assert all(row.state_bytes > 10**7 for row in (in_place, redeployed))
    assert all(length >= 0 for row in (in_place, redeployed) for length in astuple(row.phases))
    assert in_place.phases.savepoint_s == 0
    assert redeployed.phases.savepoint_s > 0
    assert all(row.phases.loading_s > 0 and row.phases.downtime_s > 0 for row in (in_place, redeployed))
    assert len(told) == 2


def test_a_cluster_without_room_is_refused(cluster: LocalCluster) -> None:
    """Before anything is submitted to it."""
    with pytest.raises(PermanentError, match="9 are needed"), existing_cluster(cluster.url, slots=9):
        pass
