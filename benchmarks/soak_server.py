"""
The soak's fake Flink: it lets the plan of a seed happen to its jobs, and keeps a ledger of that and of every PUT.

    python -m benchmarks.soak_server --jobs 500 --seed 1 --duration-s 900 --ledger ledger.csv

prints when the soak began, in seconds since 1970, and its address; it ends with SIGTERM, and then writes the ledger.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from benchmarks.soak_plan import Setting, Spell, Step, Trouble, first_level, plan
from benchmarks.soak_truth import CAPACITIES, Entry, What, needed, rate_of, spelled, written
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.faults import Fault, FaultKind

RESCALE_DELAY_S = 1.0
SLOW_S = 1.0
SLOTS_A_JOB = 4 * max(needed(8))
_FORGET_S = 10.0
_KINDS = {Trouble.ERROR: FaultKind.STATUS, Trouble.HANG: FaultKind.HANG, Trouble.RESET: FaultKind.RESET}


def name_of(job: int) -> str:
    """Give a job's name."""
    return f"job-{job:05d}"


@dataclass(slots=True, kw_only=True)
class _Late(Fault):
    """What is asked is done and answered after a while."""


@dataclass(slots=True, kw_only=True)
class _Unanswered(Fault):
    """What is asked is done, and not answered."""


class SoakFlink(FakeFlink):
    """
    The fake Flink with a plan.

    Attributes:
        ledger: what happened.
    """

    def __init__(self, setting: Setting) -> None:
        """Make the jobs, each sized for the load that it begins with."""
        self._numbers = {_job_id(number, 0): number for number in range(setting.jobs)}
        levels = [first_level(setting, number) for number in range(setting.jobs)]
        super().__init__((_job(number, level) for number, level in enumerate(levels)), wall_clock=True)
        self.slots = SLOTS_A_JOB * setting.jobs
        self.began = time.time()
        self.ledger = [Entry(0.0, number, What.LEVEL, str(level)) for number, level in enumerate(levels)]
        self._by_number = {self._numbers[job_id]: job for job_id, job in self.jobs.items()}
        self._planted: dict[int, Fault] = {}

    async def follow(self, happenings: Iterable[Step | Spell]) -> None:
        """Let everything happen when it is due."""
        due = sorted(_moments(happenings), key=lambda moment: moment[0])
        for at_s, happening, begins in due:
            await asyncio.sleep(self.began + at_s - time.time())
            if isinstance(happening, Step):
                self._load(happening)
            elif begins:
                self._trouble(happening)
            else:
                self._calm(happening)

    def _note(self, job: int, what: What, value: str) -> None:
        self.ledger.append(Entry(time.time() - self.began, job, what, value))

    def _load(self, step: Step) -> None:
        job = self._by_number[step.job]
        job.advance_to(self.now_ms)
        job.rate = rate_of(step.level)
        self._note(step.job, What.LEVEL, str(step.level))

    def _trouble(self, spell: Spell) -> None:
        job = self._by_number[spell.job]
        self._note(spell.job, What.TROUBLE, spell.trouble)
        if spell.trouble is Trouble.GONE:
            self.vanish(job.job_id)
            return
        fault = _fault(spell.trouble, f"/jobs/{job.job_id}*")
        self._planted[spell.job] = fault
        self.plant(fault)

    def _calm(self, spell: Spell) -> None:
        if spell.trouble is Trouble.GONE:
            self._return(spell.job)
        else:
            self._faults.remove(self._planted.pop(spell.job))
        self._note(spell.job, What.CALM, spell.trouble)

    def _return(self, number: int) -> None:
        """Submit the job again: as it was asked to be, under a new id."""
        job = self._by_number[number]
        for vertex in job.vertices:
            vertex.parallelism = vertex.upper_bound or vertex.parallelism
        job.submitted_at_ms = 0
        job.job_id = _job_id(number, time.time_ns())
        self._numbers[job.job_id] = number
        self.add(job)

    async def _strike(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        if isinstance(fault, _Late):
            await asyncio.sleep(SLOW_S)
            return await request.match_info.handler(request)
        if isinstance(fault, _Unanswered):
            answer = await request.match_info.handler(request)
            if request.transport is not None:
                request.transport.abort()
            return answer
        return await super()._strike(fault, request)

    async def _require(self, request: web.Request) -> web.Response:
        job = self._job(request)
        before = _asked(job)
        answer = await super()._require(request)
        after = _asked(job)
        self._note(self._numbers[job.job_id], What.RESTATED if after == before else What.EFFECT, spelled(after))
        return answer


def _moments(happenings: Iterable[Step | Spell]) -> Iterable[tuple[float, Step | Spell, bool]]:
    for happening in happenings:
        yield happening.at_s, happening, True
        if isinstance(happening, Spell):
            yield happening.until_s, happening, False


def _fault(trouble: Trouble, path: str) -> Fault:
    if trouble is Trouble.SLOW:
        return _Late(path=path)
    if trouble is Trouble.LOST:
        return _Unanswered(path=path, method="PUT")
    return Fault(path=path, kind=_KINDS[trouble])


def _asked(job: FakeJob) -> tuple[int, ...]:
    return tuple(vertex.upper_bound or vertex.parallelism for vertex in job.vertices)


def _job_id(number: int, nonce: int) -> str:
    return f"{nonce % 16**16:016x}{number:016x}"


def _job(number: int, level: int) -> FakeJob:
    ids = [f"{number:016x}{index:016x}" for index in range(len(CAPACITIES))]
    vertices = [
        FakeVertex(
            id=vertex,
            name="Source: source" if index == 0 else f"stage-{index}",
            parallelism=needed(level)[index],
            capacity=CAPACITIES[index],
            inputs={ids[index - 1]: "HASH"} if index else {},
        )
        for index, vertex in enumerate(ids)
    ]
    return FakeJob(
        job_id=_job_id(number, 0),
        name=name_of(number),
        vertices=vertices,
        rate=rate_of(level),
        rescale_delay_s=RESCALE_DELAY_S,
    )


async def _serve(setting: Setting) -> list[Entry]:
    server, stop = SoakFlink(setting), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with server:
        sys.stdout.write(f"{server.began} {server.url}\n")
        sys.stdout.flush()
        following = asyncio.create_task(server.follow(plan(setting)))
        while not stop.is_set():
            server.requests.clear()
            await _wait(stop, _FORGET_S)
        following.cancel()
    return server.ledger


async def _wait(stop: asyncio.Event, limit_s: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), limit_s)
    except TimeoutError:
        return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option, kind in (("--seed", int), ("--jobs", int), ("--duration-s", float), ("--tick-s", float)):
        parser.add_argument(option, type=kind, required=True)
    parser.add_argument("--ledger", type=Path, required=True)
    given = vars(parser.parse_args())
    path = given.pop("ledger")
    path.write_text(written(asyncio.run(_serve(Setting(**given)))), encoding="utf-8")
