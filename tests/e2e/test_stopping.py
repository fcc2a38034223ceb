"""A real service whose engine hangs is told to stop: it says so where probes ask, and ends."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path

from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.process import HeadgateProcess

PATIENCE = timedelta(minutes=2)


def complaints(port: int) -> set[str] | None:
    """Give the checks of `/readyz` that fail; None while nobody listens."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        try:
            connection.request("GET", "/readyz")
            told = json.loads(connection.getresponse().read())
        except OSError:
            return None
    return {check["name"] for check in told["checks"] if not check["ok"]}


async def test_a_stop_is_told_and_cut_short_by_a_second_one(tmp_path: Path) -> None:
    """Ready, then told to stop in the middle of a request that is never answered: it waits, unless told twice."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    async with FakeFlink([chain(job_id="a" * 32, name="orders", vertices=2)], wall_clock=True) as flink:
        options = {
            "clusters": [{"name": "lab", "url": flink.url, "request-timeout": "1 h"}],
            "pipeline": "in-process",
            "collect.interval": "500 ms",
            "decide.interval": "500 ms",
            "metrics.address": f":{port}",
            "stop.time-limit": "1 h",
        }
        with HeadgateProcess(options, tmp_path) as service:

            async def until(reached: Callable[[], bool]) -> None:
                await asyncio.to_thread(service.until, reached, limit=PATIENCE)

            await until(lambda: complaints(port) == set())
            flink.plant(Fault(kind=FaultKind.HANG))
            asked = len(flink.requests)
            await until(lambda: len(flink.requests) > asked)
            async with asyncio.TaskGroup() as tasks:
                first = tasks.create_task(asyncio.to_thread(service.stop))
                await until(lambda: "staying" in (complaints(port) or ()))
                second = tasks.create_task(asyncio.to_thread(service.stop))
            assert {first.result(), second.result()} == {128 + signal.SIGTERM}
        assert "told twice to stop" in service.said
