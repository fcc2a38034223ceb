"""What a bench leaves on the cluster: nothing, whatever interrupts it."""

from __future__ import annotations

import re

import pytest
from tests.unit.rescales.fake_cluster import FakeCluster

from headgate.errors import PermanentError, TransientError
from headgate.rescales.bench import Bench
from headgate.rescales.cells import Backend, Block, Kind, Move

MOVE = Move(before=1, after=2, kind=Kind.REDEPLOY)
BLOCK = Block(number=0, round="test", state_mb=0, backend=Backend.HASHMAP, first_run=0, moves=(MOVE,))
SHORT_PAUSE = 34
"""A seed whose first pause is half a second."""


class Interruption:
    """Raises an error at each call that a pattern fits, once a bench has its job."""

    def __init__(self, pattern: str, error: BaseException, *, times: int = 1) -> None:
        """Wait to be armed."""
        self._pattern, self._error, self._left = pattern, error, times
        self.armed = False

    def __call__(self, call: str) -> None:
        """Raise where it is time."""
        if self.armed and self._left and re.match(self._pattern, call):
            self._left -= 1
            raise self._error


def redeploy(cluster: FakeCluster, interruption: Interruption) -> None:
    """Redeploy a job, and leave."""
    with Bench(cluster, "jar", BLOCK, 0) as bench:
        interruption.armed = True
        bench.measure(0, SHORT_PAUSE)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(r"GET /jobs/\w+/savepoints", id="while the savepoint is written"),
        pytest.param(r"POST /jars", id="while the successor is submitted"),
        pytest.param(r"GET /jobs/\w+/checkpoints", id="while the successor runs"),
    ],
)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), TransientError("took too long")])
def test_an_interrupted_redeploy_leaves_nothing_behind(call: str, error: BaseException) -> None:
    """Neither the successor nor the savepoint, however little of them was answered by then."""
    interruption = Interruption(call, error)
    cluster = FakeCluster(trip=interruption)
    with pytest.raises(type(error)):
        redeploy(cluster, interruption)
    assert not cluster.running
    assert not cluster.savepoints


def test_a_start_that_is_interrupted_leaves_no_job() -> None:
    """It was submitted, though nobody was told."""
    interruption = Interruption("POST /jars", KeyboardInterrupt())
    interruption.armed = True
    cluster = FakeCluster(trip=interruption)
    with pytest.raises(KeyboardInterrupt):
        redeploy(cluster, interruption)
    assert cluster.started
    assert not cluster.running


def test_a_savepoint_goes_even_if_the_job_cannot_be_cancelled() -> None:
    """What fails first keeps nothing else from being removed."""
    interruption = Interruption(r"GET .*/subtasktimes|PATCH", TransientError("took too long"), times=2)
    cluster = FakeCluster(trip=interruption)
    with pytest.raises(TransientError):
        redeploy(cluster, interruption)
    assert not cluster.savepoints


def test_an_answer_of_another_flink_is_told_as_such() -> None:
    """No traceback: it fails, and its job is removed, as with any other failure."""
    interruption = Interruption(r"POST /jobs/\w+/stop", KeyError("Restarting"))
    cluster = FakeCluster(trip=interruption)
    with pytest.raises(PermanentError, match="Restarting"):
        redeploy(cluster, interruption)
    assert not cluster.running
