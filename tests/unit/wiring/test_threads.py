"""What blocks in the service, and what does not wait for it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from threading import Event

from headgate.options.service import ClusterOptions, LogOptions, Pipeline, ServiceOptions
from headgate.options.serving import MetricsOptions
from headgate.testing.builders import ORDERS, at
from headgate.wiring import service

CLUSTER = ClusterOptions(name=ORDERS.cluster, url="http://127.0.0.1:1")
MORE_THAN_A_POOL_HAS = 64


async def test_slow_work_on_the_log_delays_neither_saves_nor_effects(tmp_path: Path) -> None:
    """Leases are renewed meanwhile, so what is begun under them must get on: the save, the check, the call."""
    options = ServiceOptions(
        clusters=(CLUSTER,),
        state_store=f"sqlite:///{tmp_path}/headgate.db",
        pipeline=Pipeline.IN_PROCESS,
        log=LogOptions(path=str(tmp_path / "log")),
        metrics=MetricsOptions(enabled=False),
    )
    goes_on = Event()
    async with service(options) as runner:
        assert runner.leases is not None
        await runner.leases.before_cycle(at(0))
        slow = [asyncio.create_task(asyncio.to_thread(goes_on.wait, 60)) for _ in range(MORE_THAN_A_POOL_HAS)]
        try:
            async with asyncio.timeout(10):
                outbox = runner.cycle.outbox
                held = await outbox.open(ORDERS)
                assert await outbox.save(ORDERS, held, replace(held.state, job_wide=4)) != held
                assert await outbox.may_act(ORDERS)
                assert not await outbox.book.read()
                assert await asyncio.get_running_loop().getaddrinfo("localhost", 80)
        finally:
            goes_on.set()
            await asyncio.gather(*slow)
