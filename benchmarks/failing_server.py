"""
A fake Flink with many jobs, of which one in twenty fails from when it is told to: SIGUSR1 is the word.

    python -m benchmarks.failing_server --jobs 1000 --vertices 10

prints its address and serves. Of those that fail a quarter each hangs, answers 500, breaks the connection, and talks
nonsense.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.faults import Fault, FaultKind

ONE_IN = 20
KINDS = (FaultKind.HANG, FaultKind.STATUS, FaultKind.RESET, FaultKind.GARBLE)


def is_failing(number: int) -> bool:
    """Tell whether a job is one of those that fail; they are spread evenly over the list."""
    return number % ONE_IN == ONE_IN // 2


def name_of(number: int) -> str:
    """Give a job's name."""
    return f"job-{number:05d}"


def fleet(jobs: int, vertices: int) -> list[FakeJob]:
    """Make the jobs; the ids of those that fail begin with their kind of failure."""
    return [
        chain(job_id=_job_id(number), name=name_of(number), vertices=vertices, rate=400 + number % 200)
        for number in range(jobs)
    ]


def break_jobs(server: FakeFlink) -> None:
    """Let everything go wrong that is asked of the jobs of a kind."""
    for index, kind in enumerate(KINDS):
        server.plant(Fault(kind=kind, path=f"/jobs/f{index}*"))


def _job_id(number: int) -> str:
    kind = number // ONE_IN % len(KINDS)
    return f"f{kind}{number:030x}" if is_failing(number) else f"{number + 1:032x}"


async def _serve(jobs: int, vertices: int) -> None:
    server = FakeFlink(fleet(jobs, vertices), wall_clock=True)
    server.slots = 4 * jobs
    await server.start(0)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, break_jobs, server)
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    while True:
        await asyncio.sleep(10)
        server.requests.clear()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--vertices", type=int, default=10)
    options = parser.parse_args()
    asyncio.run(_serve(options.jobs, options.vertices))
