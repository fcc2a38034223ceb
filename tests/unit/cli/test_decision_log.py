"""What the service writes of decisions: each job's whenever it reads differently."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog
from structlog.testing import LogCapture

from headgate.algorithm.decide import decide
from headgate.cli.logs import DecisionLog
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import ORDERS, at, chain, evaluated, sample

RETURNS = JobKey("prod", "returns")
GRAPH = chain({"source": 2, "agg": 2})


def decided(second: float, *, job: JobKey = ORDERS, factor: float = 1.0) -> Decision:
    """Decide for a job of which the last vertex needs so many times its capacity."""
    numbers = evaluated(GRAPH, {"agg": factor})
    return decide(sample(GRAPH, job=job), numbers, AutoscalerOptions(), at(second))


@pytest.fixture
def written() -> Iterator[LogCapture]:
    """Take what is written."""
    capture, before = LogCapture(), structlog.get_config()
    structlog.configure(processors=[capture])
    yield capture
    structlog.configure(**before)


def told(written: LogCapture) -> list[tuple[str, str]]:
    """Give job and outcome of each decision that was written."""
    return [(line["job"], line["outcome"]) for line in written.entries if line["event"] == "decision"]


def test_what_reads_the_same_is_written_once(written: LogCapture) -> None:
    """The first cycle lists every job; after that, who stays as it is says nothing."""
    log = DecisionLog()
    for second in (0, 10, 20):
        log([decided(second), decided(second, job=RETURNS)])

    assert [line["event"] for line in written.entries].count("ready") == 1
    assert told(written) == [("prod/orders", "Keep"), ("prod/returns", "Keep")]


def test_a_decision_before_its_turn_is_written_like_any_other(written: LogCapture) -> None:
    """Once, whether a cycle or something in between said it first; it makes no job new that it does not name."""
    log = DecisionLog()
    log([decided(0), decided(0, job=RETURNS)])
    log.early([decided(3, factor=4.0)])
    log.early([decided(4, factor=4.0)])
    log([decided(10, factor=4.0), decided(10, job=RETURNS)])

    assert told(written)[2:] == [("prod/orders", "Rescale")]


def test_nothing_is_ready_before_the_first_cycle(written: LogCapture) -> None:
    """Only that shows that everything has started."""
    log = DecisionLog()
    log.early([decided(3)])

    assert "ready" not in [line["event"] for line in written.entries]


def test_a_job_that_comes_back_is_written_again(written: LogCapture) -> None:
    """It is gone with the first cycle without it."""
    log = DecisionLog()
    log([decided(0), decided(0, job=RETURNS)])
    log([decided(10)])
    log([decided(20), decided(20, job=RETURNS)])

    assert told(written)[2:] == [("prod/returns", "Keep")]
