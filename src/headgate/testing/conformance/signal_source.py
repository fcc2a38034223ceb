"""
What every `SignalSource` must do.

Use: subclass `SignalSourceSuite` in a test file and define a fixture `stage` that gives a source over a running system
in which the signal `present` stands at `value`, `absent` is declared and has no value, and nobody knows `undeclared`;
and a fixture `broken` that gives a source of the same kind over a system that is not there.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import pytest

from headgate.errors import TransientError
from headgate.model.samples import Signal
from headgate.ports import JobContext, Missing, SignalSource
from headgate.testing.builders import context

PRESENT, ABSENT, UNDECLARED = "present", "absent", "undeclared"
_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalStage:
    """A source over a running system, and what it must find there."""

    source: SignalSource
    value: float
    ctx: JobContext
    """A job that the signals are for."""

    @classmethod
    def of(cls, source: SignalSource, value: float) -> SignalStage:
        """Give one whose signals do not depend on the job."""
        return cls(source=source, value=value, ctx=context())


class SignalSourceSuite:
    """The contract of `headgate.ports.SignalSource`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> SignalStage:
        """Give a source over a running system; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def broken(self) -> SignalSource:
        """Give a source over a system that is not there; every subclass has its own."""
        raise NotImplementedError

    async def test_a_declared_signal_is_read(self, stage: SignalStage) -> None:
        """Its value is the system's, finite, at an aware time."""
        found = (await stage.source.query(stage.ctx, [PRESENT]))[PRESENT]
        assert isinstance(found, Signal)
        assert found.value == stage.value
        assert math.isfinite(found.value)
        assert found.measured_at.utcoffset() == timedelta()

    async def test_one_that_cannot_be_had_takes_no_other_with_it(self, stage: SignalStage) -> None:
        """It is missing, with a reason or without a word; the others are there."""
        found = await stage.source.query(stage.ctx, [ABSENT, PRESENT, UNDECLARED])
        assert isinstance(found[PRESENT], Signal)
        assert not isinstance(found.get(ABSENT), Signal)
        assert not isinstance(found.get(UNDECLARED), Signal)

    async def test_nothing_beyond_what_was_asked_for_is_given(self, stage: SignalStage) -> None:
        """Whoever asks for one signal gets that one; asking for none is no error."""
        assert set(await stage.source.query(stage.ctx, [PRESENT])) == {PRESENT}
        assert not await stage.source.query(stage.ctx, [])

    async def test_many_may_ask_at_the_same_time(self, stage: SignalStage) -> None:
        """As the jobs of one tick do."""
        asked = (stage.source.query(stage.ctx, [PRESENT]) for _ in range(_AT_ONCE))
        values = [found[PRESENT] for found in await asyncio.gather(*asked)]
        assert all(isinstance(one, Signal) and one.value == stage.value for one in values)

    async def test_who_is_cancelled_harms_nobody(self, stage: SignalStage) -> None:
        """A job whose time is up gives up; the others, and the next call, get their answers."""
        given_up = asyncio.create_task(_ask(stage))
        stays = asyncio.create_task(_ask(stage))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await stays == stage.value
        assert await _ask(stage) == stage.value

    async def test_a_system_that_is_not_there_is_no_value(self, broken: SignalSource) -> None:
        """It is transient, or each signal is missing with a reason: never a number, and never a bug's exception."""
        found: Mapping[str, Signal | Missing] = {}
        with suppress(TransientError):
            found = await broken.query(context(), [PRESENT])
        assert not isinstance(found.get(PRESENT), Signal)


async def _ask(stage: SignalStage) -> float:
    found = (await stage.source.query(stage.ctx, [PRESENT]))[PRESENT]
    assert isinstance(found, Signal)
    return found.value
