"""
What every `FailureHistory` must do.

Use: subclass `FailureHistorySuite` in a test file and define a fixture `stage` that gives a `FailureStage`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

import pytest

from headgate.errors import NotFoundError, TransientError
from headgate.model.rollback import JobFailures
from headgate.ports import FailureHistory, JobContext


class FailureStage(Protocol):
    """A history, and an engine whose job fails on demand and starts again by itself."""

    @property
    def history(self) -> FailureHistory:
        """The one that is tested."""

    @property
    def job(self) -> JobContext:
        """A running job that has never failed."""

    @property
    def now(self) -> datetime:
        """The engine's clock."""

    async def fail_job(self) -> str:
        """Let the job fail once, now or soon, and give a part of what the engine says of it."""

    async def pass_time(self) -> timedelta:
        """Let some seconds pass, and give how many."""

    async def end_job(self) -> None:
        """Let the job be gone."""

    async def go_silent(self) -> None:
        """Let the engine give no usable answer from now on."""


@pytest.mark.asyncio
class FailureHistorySuite:
    """The contract of `headgate.ports.FailureHistory`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> FailureStage:
        """Give a history in front of a running job; every subclass has its own."""
        raise NotImplementedError

    async def test_a_healthy_job_has_no_failures(self, stage: FailureStage) -> None:
        """Whatever its restarts are counted from."""
        assert (await told_since(stage, stage.now - timedelta(days=1))).failures == ()

    async def test_a_failure_is_told_with_its_time_and_text(self, stage: FailureStage) -> None:
        """The text is of one line an exception, without frames."""
        began = stage.now
        text = await stage.fail_job()
        await stage.pass_time()
        (failure,) = (await told_since(stage, began)).failures
        assert began <= failure.at <= stage.now
        assert text in failure.text
        assert not [line for line in failure.text.splitlines() if line.strip() != line or not line]

    async def test_failures_are_told_oldest_first(self, stage: FailureStage) -> None:
        """And each of them, however alike they are."""
        began = stage.now
        await stage.fail_job()
        await stage.pass_time()
        await stage.fail_job()
        await stage.pass_time()
        first, second = (await told_since(stage, began)).failures
        assert first.at < second.at

    async def test_what_was_before_is_left_out(self, stage: FailureStage) -> None:
        """The instant itself counts."""
        began = stage.now
        await stage.fail_job()
        await stage.pass_time()
        (failure,) = (await told_since(stage, began)).failures
        assert (await told_since(stage, failure.at)).failures == (failure,)
        assert (await told_since(stage, failure.at + timedelta(seconds=1))).failures == ()

    async def test_restarts_are_counted_or_unknown(self, stage: FailureStage) -> None:
        """By one for a failure, after which the job starts again."""
        before = (await told_since(stage, stage.now)).restarts
        await stage.fail_job()
        await stage.pass_time()
        after = (await told_since(stage, stage.now)).restarts
        assert after == (None if before is None else before + 1)

    async def test_a_job_that_is_gone_is_not_found(self, stage: FailureStage) -> None:
        """It has no failures any more that anybody could ask for."""
        await stage.end_job()
        with pytest.raises(NotFoundError):
            await told_since(stage, stage.now)

    async def test_no_answer_is_a_passing_error(self, stage: FailureStage) -> None:
        """It is never taken for a job without failures."""
        await stage.go_silent()
        with pytest.raises(TransientError):
            await told_since(stage, stage.now)


async def told_since(stage: FailureStage, since: datetime) -> JobFailures:
    """Ask for the failures of the stage's job."""
    return await stage.history.query_failures(stage.job, since)
