"""A job is observed by what another process has sampled, as long as that is of this job and not too old."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from headgate.control.received import ReceivedCollector
from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine


@dataclass
class Inbox:
    """What has come."""

    samples: dict[JobKey, JobSample] = field(default_factory=dict)

    def newest(self, job: JobKey) -> JobSample | None:
        """Give the newest sample of a job."""
        return self.samples.get(job)

    def forget(self, job: JobKey) -> None:
        """Drop what is known of a job."""
        self.samples.pop(job)


NEWEST = sample(chain({"source": 4}), tick=at(100))


@pytest.fixture
def inbox() -> Inbox:
    """Give an inbox with a sample of the 100th second."""
    return Inbox({ORDERS: NEWEST})


@pytest.fixture
def collector(inbox: Inbox) -> ReceivedCollector:
    """Collect from it; somebody else ticks every 10 seconds."""
    return ReceivedCollector(inbox, FakeEngine(), interval=timedelta(seconds=10))


@pytest.mark.parametrize("seconds", [100, 110, 140])
async def test_a_sample_of_an_earlier_tick_is_as_good(collector: ReceivedCollector, seconds: float) -> None:
    """It was some time under way, and says itself of when it is."""
    assert await collector.update_metrics(context(), at(seconds)) == NEWEST


async def test_an_old_sample_is_none(collector: ReceivedCollector) -> None:
    """Nobody may take a collector or brokers that are away for a job that does not change. Told alike at each tick."""
    with pytest.raises(UnreachableError, match="the newest that came through kafka is of 2026-01-01T00:01:40"):
        await collector.update_metrics(context(), at(141))


async def test_a_sample_of_the_job_before_is_none(collector: ReceivedCollector) -> None:
    """A job that was submitted anew has the same name."""
    with pytest.raises(UnreachableError, match="is of j1, and the job is j2 by now"):
        await collector.update_metrics(context(job_id="j2"), at(100))


async def test_what_has_not_come_is_told(collector: ReceivedCollector) -> None:
    """So that whoever asks why nothing is decided looks there."""
    collector.forget(ORDERS)
    with pytest.raises(UnreachableError, match="none has come through kafka"):
        await collector.update_metrics(context(), at(100))
