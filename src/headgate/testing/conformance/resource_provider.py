"""
What every `ResourceProvider` must do.

Use: subclass `ResourceProviderSuite` in a test file and define a fixture `stage` that gives a `ProviderStage` and ends
all workers afterwards, and a fixture `broken` that gives a provider of the same kind over a system that is not there.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

import pytest

from headgate.errors import RefusedError, TransientError
from headgate.ports import ResourceProvider, Workers

PATIENCE_S = 120.0
"""Longer than any worker takes to come or to go."""

_POLL_S = 0.05


class ProviderStage(Protocol):
    """A provider over a system that has room for three workers, and can lose one."""

    @property
    def provider(self) -> ResourceProvider:
        """The one that is tested; it was asked for nothing yet."""

    def restarted(self) -> ResourceProvider:
        """Give another one with the same parameters, as there is after a restart of Headgate."""

    async def lose_worker(self) -> None:
        """Let one worker die, of those that are ready."""


@pytest.mark.asyncio
class ResourceProviderSuite:
    """The contract of `headgate.ports.ResourceProvider`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> ProviderStage:
        """Give a provider and a running system; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def broken(self) -> ResourceProvider:
        """Give a provider over a system that is not there; every subclass has its own."""
        raise NotImplementedError

    async def test_workers_come(self, stage: ProviderStage) -> None:
        """As many as are asked for, and what was asked for is known before they are there."""
        assert await stage.provider.request(2) is True
        assert (await stage.provider.workers()).wanted == 2  # noqa: PLR2004
        assert (await settled(stage.provider, 2)).wanted == 2  # noqa: PLR2004

    async def test_asking_again_is_no_news(self, stage: ProviderStage) -> None:
        """It is asked in every cycle, while the workers are coming and when they are there."""
        await stage.provider.request(2)
        assert await stage.provider.request(2) is False
        before = await settled(stage.provider, 2)
        assert await stage.provider.request(2) is False
        assert await stage.provider.workers() == before

    async def test_workers_go_and_come_again(self, stage: ProviderStage) -> None:
        """Fewer, then more; each change is news."""
        for count in (3, 1, 2):
            assert await stage.provider.request(count) is True
            await settled(stage.provider, count)

    async def test_all_may_go(self, stage: ProviderStage) -> None:
        """None is a number like any other."""
        await stage.provider.request(1)
        await settled(stage.provider, 1)
        await stage.provider.request(0)
        await settled(stage.provider, 0)

    async def test_each_worker_has_a_name_of_its_own(self, stage: ProviderStage) -> None:
        """Where they have names at all."""
        await stage.provider.request(3)
        names = (await settled(stage.provider, 3)).names
        assert len(names) == len(set(names))
        assert len(names) in {0, 3}

    async def test_a_worker_that_died_is_replaced(self, stage: ProviderStage) -> None:
        """By asking for the same number again; the others stay what they are."""
        await stage.provider.request(2)
        before = set((await settled(stage.provider, 2)).names)
        await stage.lose_worker()
        after = set((await settled(stage.provider, 2)).names)
        assert len(before & after) >= min(1, len(before))

    async def test_closing_leaves_the_workers(self, stage: ProviderStage) -> None:
        """They outlive Headgate, which finds them again and starts none beside them."""
        await stage.provider.request(2)
        before = await settled(stage.provider, 2)
        await stage.provider.close()
        found = stage.restarted()
        assert await found.workers() == before
        assert await found.request(2) is False
        assert await found.workers() == before
        assert await found.request(1) is True
        await settled(found, 1)
        await found.close()

    async def test_fewer_than_none_are_refused(self, stage: ProviderStage) -> None:
        """And change nothing."""
        await stage.provider.request(1)
        with pytest.raises(RefusedError):
            await stage.provider.request(-1)
        assert (await settled(stage.provider, 1)).wanted == 1

    async def test_settings_are_taken_or_refused(self, stage: ProviderStage) -> None:
        """Taking them once is enough; whoever cannot says so, and its workers stay as they are."""
        settings = {"taskmanager.memory.network.min": "96m", "taskmanager.memory.network.max": "96m"}
        await stage.provider.request(1)
        before = await settled(stage.provider, 1)
        try:
            assert await stage.provider.reconfigure(settings) is True
        except RefusedError as refusal:
            assert str(refusal)  # noqa: PT017 - either is right
            assert await stage.provider.workers() == before
        else:
            assert await stage.provider.reconfigure(settings) is False
            await settled(stage.provider, 1)

    async def test_a_system_that_is_not_there_is_a_fault_that_passes(self, broken: ResourceProvider) -> None:
        """Nobody takes it for one without workers."""
        with pytest.raises(TransientError):
            await broken.workers()
        with pytest.raises(TransientError):
            await broken.request(1)
        await broken.close()


async def settled(provider: ResourceProvider, ready: int, *, asking: int | None = None) -> Workers:
    """
    Ask for workers, as each cycle does, until so many are ready.

    Args:
        provider: the one that is asked.
        ready: how many are waited for.
        asking: how many are asked for; by default the same.
    """
    async with asyncio.timeout(PATIENCE_S):
        while (found := await provider.workers()).ready != ready:
            await asyncio.sleep(_POLL_S)
            await provider.request(ready if asking is None else asking)
    return found
