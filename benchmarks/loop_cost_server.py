"""
The fake Flink that loops are measured on, behind a relay that counts what passes: calls, connections, bytes.

    python -m benchmarks.loop_cost_server --jobs 100 --port 8081

prints its address and serves. It prints its counts as a line of JSON at each SIGUSR1, and when it ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from urllib.parse import urlsplit

from benchmarks.relay import Relay
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain

VERTICES = 10
_FORGET_S = 1.0
_CHANGES_S = 60.0
"""For how long a job is looked at closely after its load has changed; then it is the turn of the next ones."""
_CHANGES_BY = 1.15
"""Enough to be seen, and too little to be answered."""


def fleet(jobs: int) -> FakeFlink:
    """Make a server of jobs of ten vertices, all of which are as they should be: nothing is ever to be changed."""
    chains = [
        chain(job_id=f"{number + 1:032x}", name=f"job-{number:05d}", vertices=VERTICES, rate=500 + number % 300)
        for number in range(jobs)
    ]
    server = FakeFlink(chains, wall_clock=True)
    server.slots = 4 * jobs
    return server


async def serve(jobs: int, port: int, changing: int = 0) -> None:
    """Serve until SIGTERM or SIGINT; every minute the load of so many more jobs goes up, to stay."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    async with fleet(jobs) as server:
        address = urlsplit(server.url)
        async with Relay("127.0.0.1", address.port or 0, listen_on=port) as relay:
            counts = _Counts(server, relay)
            loop.add_signal_handler(signal.SIGUSR1, counts.tell)
            for ending in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(ending, stop.set)
            _print(f"http://127.0.0.1:{relay.port}")
            began, level = time.monotonic(), list(server.jobs.values())
            while not stop.is_set():
                counts.count()
                changed = int((time.monotonic() - began) / _CHANGES_S) * changing
                while level and len(server.jobs) - len(level) < changed:
                    level.pop().rate *= _CHANGES_BY
                await _wait(stop)
            counts.tell()


class _Counts:
    """Calls and what passed, since the server began; what was asked is forgotten once it is counted."""

    def __init__(self, server: FakeFlink, relay: Relay) -> None:
        self._server = server
        self._relay = relay
        self._calls = 0
        self._began = time.monotonic()

    def count(self) -> None:
        self._calls += len(self._server.requests)
        self._server.requests.clear()

    def tell(self) -> None:
        self.count()
        seconds = round(time.monotonic() - self._began, 2)
        _print(json.dumps({"seconds": seconds, "calls": self._calls, **asdict(self._relay.passed)}))


async def _wait(stop: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(stop.wait(), _FORGET_S)
    except TimeoutError:
        return


def _print(line: str) -> None:
    with suppress(BrokenPipeError):  # who started it has heard enough
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--changing", type=int, default=0)
    options = parser.parse_args()
    asyncio.run(serve(options.jobs, options.port, options.changing))
