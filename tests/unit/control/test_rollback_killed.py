"""Kill Headgate before or after any effect of a rescale and its rollback: each is made once, nothing is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest

from headgate.control.deciding import Answer, PlainDecider
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.rollback import Evidence
from headgate.model.state import JobState
from headgate.ports import JobContext, JobList, Lease
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, chain, context, sample
from headgate.testing.fakes import FakeEngine, RecordingEvents
from headgate.testing.scenario import Scenario

AGG = VertexId("agg")
TICKS = 8
SICK = 4
"""Subtasks with which the job never runs."""


class KilledError(BaseException):
    """The end of the process: nothing catches it."""


@dataclass
class Reaper:
    """Counts the sides of all effects, and kills at one of them."""

    kill_at: int = 0
    met: int = 0

    def meet(self) -> None:
        """Pass, or die."""
        self.met += 1
        if self.met == self.kill_at:
            raise KilledError


@dataclass
class MortalEngine(FakeEngine):
    """An engine that outlives its callers, takes the same twice without harm, and fails a job that is too wide."""

    reaper: Reaper = field(default_factory=Reaper)

    async def fetch(self) -> JobList:
        """List the job as it is."""
        too_wide = self.jobs[ORDERS].topology.parallelism[AGG] >= SICK
        status = JobStatus.RESTARTING if too_wide else JobStatus.RUNNING
        self.contexts[ORDERS] = replace(self.contexts[ORDERS], status=status)
        return await super().fetch()

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Take what is new."""
        self.reaper.meet()
        running = self.jobs[ORDERS].topology.parallelism
        sent = any(running[vertex] != wanted for vertex, wanted in overrides.items())
        if sent:
            await super().realize_parallelism_overrides(ctx, overrides)
        self.reaper.meet()
        return sent


class MortalStore(MemoryStateStore):
    """A store that outlives its callers."""

    reaper: Reaper

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """Save."""
        self.reaper.meet()
        version = super().save(job, state, expected_version, lease=lease)
        self.reaper.meet()
        return version


@dataclass
class MortalEvents(RecordingEvents):
    """Receivers that outlive who tells them."""

    reaper: Reaper = field(default_factory=Reaper)

    def handle(self, event: Event, /) -> None:
        """Keep it."""
        self.reaper.meet()
        super().handle(event)
        self.reaper.meet()


class Doctor(PlainDecider):
    """Condemns a job that is down since its rescale."""

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        if ctx.aftermath is None or ctx.aftermath.status is JobStatus.RUNNING:
            return None
        return Evidence(checker="never-running", found="it does not run")


async def lived_through(kill_at: int) -> tuple[Scenario, Reaper]:
    """Let a job need four times its capacity, and Headgate die at one point; later another process goes on."""
    reaper = Reaper(kill_at)
    store = MortalStore()
    store.reaper = reaper
    engine, events = MortalEngine(reaper=reaper), MortalEvents(reaper=reaper)
    engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    for tick in range(TICKS):
        world = Scenario(engine=engine, store=store, events=events, factors={"agg": 4.0}, decider=Doctor())
        try:
            await world.tick(30 * tick)
        except KilledError:
            continue
    return world, reaper


POINTS = asyncio.run(lived_through(0))[1].met


@pytest.mark.parametrize("point", range(POINTS + 1))
async def test_a_kill_loses_nothing_and_repeats_nothing(point: int) -> None:
    """One rescale, one rollback of it, each told; then the job is left in peace, on its side of the bound."""
    world, _ = await lived_through(point)

    assert world.engine.requests == [{"agg": 4}, {"agg": 1}]
    known = world.store.load(ORDERS).state
    grown, back = known.history
    assert (dict(grown.after), dict(back.after)) == ({"agg": 4}, {"agg": 1})
    assert back.reached_at is not None
    assert [bound.parallelism for bound in known.bounds] == [SICK]
    assert known.rollback
    assert known.rollback.decision_id == grown.decision_id
    assert known.intent is None
    keys = {event.key for event in world.events.told if event.reason is EventReason.ROLLBACK}
    assert len(keys) == 1


def test_there_are_points_enough() -> None:
    """Otherwise the test above would prove less than it says."""
    assert POINTS > 30
