"""What a running service tells of its own ticks: each that begins, and that it is to stop."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from itertools import count

from headgate.control.observation import Observer
from headgate.control.runner import Beat, Runner, TickRun
from headgate.ports import JobList
from headgate.testing.builders import at
from headgate.testing.fakes import FakeEngine
from headgate.testing.scenario import Scenario

OFTEN = timedelta(milliseconds=10)


class HangingEngine(FakeEngine):
    """An engine that is asked and does not answer before it may."""

    def __init__(self) -> None:
        """Answer nothing."""
        super().__init__()
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def fetch(self) -> JobList:
        """Wait."""
        self.asked.set()
        await self.may_answer.wait()
        return await super().fetch()


def observer(world: Scenario, engine: FakeEngine, cluster: str) -> Observer:
    """Observe a cluster."""
    return Observer(
        fetcher=engine,
        collector=engine,
        sink=world.log,
        events=world.events,
        time_limit=timedelta(seconds=5),
        cluster=cluster,
    )


async def test_each_loop_is_heard_of_by_its_name_and_a_stop_at_once() -> None:
    """One cluster hangs: its loop began and is not heard of again, the others go on, and the stop waits for it."""
    world, engine, heard = Scenario(), HangingEngine(), Counter[str]()
    stop, stopping, often = asyncio.Event(), asyncio.Event(), asyncio.Event()
    forgotten: list[datetime] = []

    def listen(beat: Beat) -> None:
        heard[beat.loop] += 1
        if min(heard["collecting from lab"], heard["deciding"]) >= 3:
            often.set()

    runner = Runner(
        observers=(observer(world, engine, "prod"), observer(world, FakeEngine(), "lab")),
        cycle=world.cycle(),
        events=world.events,
        collect_interval=OFTEN,
        decide_interval=OFTEN,
        on_begin=listen,
        on_stop=stopping.set,
        forget=forgotten.append,
    )

    async with asyncio.timeout(30):
        running = asyncio.create_task(runner.run(stop))
        await engine.asked.wait()
        await often.wait()
        assert heard["collecting from prod"] == 1
        assert heard["forgetting jobs that are gone"] == len(forgotten) == 1
        stop.set()
        await stopping.wait()
        assert not running.done()
        engine.may_answer.set()
        await running


async def test_a_clock_that_is_set_back_makes_no_tick_take_less_than_no_time() -> None:
    """Sums of seconds only grow, or whoever draws rates of them takes the service for a new one."""
    world, stop, runs = Scenario(), asyncio.Event(), list[TickRun]()
    readings = count()

    def listen(run: TickRun) -> None:
        runs.append(run)
        if len(runs) >= 10:
            stop.set()

    runner = Runner(
        observers=(),
        cycle=world.cycle(),
        events=world.events,
        collect_interval=OFTEN,
        decide_interval=OFTEN,
        clock=lambda: at(-next(readings)),
        on_tick=listen,
    )
    async with asyncio.timeout(30):
        await runner.run(stop)
    assert {(run.took, run.late) for run in runs} == {(timedelta(), timedelta())}
