"""
What every `ScalingRealizer` must do.

Use: subclass `ScalingRealizerSuite` in a test file and define a fixture `stage` that gives a `RealizerStage`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

import pytest

from headgate.errors import NotFoundError, RefusedError, TransientError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext, ScalingRealizer

PATIENCE_S = 5.0
"""Longer than any engine takes to say that it understood."""


class RealizerStage(Protocol):
    """A realizer, and an engine that notes what it is asked for and takes its time to do it."""

    @property
    def realizer(self) -> ScalingRealizer:
        """The one that is tested; it has asked for nothing yet."""

    @property
    def job(self) -> JobContext:
        """A running job of at least two vertices."""

    @property
    def wish(self) -> Mapping[VertexId, int]:
        """Parallelisms of some vertices, not of all, that the engine can do, other than the running ones."""

    @property
    def impossible(self) -> Mapping[VertexId, int]:
        """Parallelisms that it will not do; empty if it does all."""

    def asked(self) -> Mapping[VertexId, int]:
        """Give the parallelism that each vertex of the job is asked to have: the running one until it was asked."""

    def requests(self) -> int:
        """Count the changes that the engine was asked for."""

    async def end_job(self) -> None:
        """Let the job be gone."""

    async def go_silent(self) -> None:
        """Let the engine give no usable answer from now on."""


@pytest.mark.asyncio
class ScalingRealizerSuite:
    """The contract of `headgate.ports.ScalingRealizer`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> RealizerStage:
        """Give a realizer in front of a running job; every subclass has its own."""
        raise NotImplementedError

    async def test_the_engine_is_asked_for_what_is_wished(self, stage: RealizerStage) -> None:
        """Once, and vertices that are not named keep theirs."""
        before = dict(stage.asked())
        assert await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish) is True
        assert stage.asked() == {**before, **stage.wish}
        assert stage.requests() == 1

    async def test_asking_again_sends_nothing(self, stage: RealizerStage) -> None:
        """It is called every cycle until the job runs so; the engine hears of it once."""
        await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish)
        assert await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish) is False
        assert stage.requests() == 1

    async def test_what_the_job_has_already_is_not_asked_for(self, stage: RealizerStage) -> None:
        """A wish for the running parallelism is no change."""
        running = {vertex: parallelism for vertex, parallelism in stage.asked().items() if vertex in stage.wish}
        assert await stage.realizer.realize_parallelism_overrides(stage.job, running) is False
        assert stage.requests() == 0

    async def test_another_wish_is_sent(self, stage: RealizerStage) -> None:
        """Going back to what ran before is a change like any other, also before the first one is done."""
        before = {vertex: parallelism for vertex, parallelism in stage.asked().items() if vertex in stage.wish}
        await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish)
        assert await stage.realizer.realize_parallelism_overrides(stage.job, before) is True
        assert {vertex: stage.asked()[vertex] for vertex in before} == before

    async def test_it_never_waits_for_the_change(self, stage: RealizerStage) -> None:
        """The engine has only heard of it when the call returns; whether it happened is seen by later samples."""
        async with asyncio.timeout(PATIENCE_S):
            await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish)

    async def test_what_the_engine_will_not_do_is_refused(self, stage: RealizerStage) -> None:
        """As a permanent error, so that it is remembered and not tried again; the job stays as it is."""
        if not stage.impossible:
            return
        before = dict(stage.asked())
        with pytest.raises(RefusedError):
            await stage.realizer.realize_parallelism_overrides(stage.job, stage.impossible)
        assert stage.asked() == before

    async def test_a_job_that_is_gone_is_not_found(self, stage: RealizerStage) -> None:
        """Nobody waits for it."""
        await stage.end_job()
        with pytest.raises(NotFoundError):
            await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish)

    async def test_an_engine_without_answers_is_a_fault_that_passes(self, stage: RealizerStage) -> None:
        """The same is asked for again in a later cycle."""
        await stage.go_silent()
        with pytest.raises(TransientError):
            await stage.realizer.realize_parallelism_overrides(stage.job, stage.wish)

    async def test_configuration_is_changed_or_refused(self, stage: RealizerStage) -> None:
        """It says whether something was sent, and a realizer that cannot says so; nothing in between."""
        changes = ConfigChanges(overrides={"execution.checkpointing.interval": "30 s"}, removals=frozenset({"gone"}))
        try:
            answer = await stage.realizer.realize_config_overrides(stage.job, changes)
        except RefusedError as refusal:
            assert str(refusal)  # noqa: PT017 - either is right
        else:
            assert isinstance(answer, bool)
