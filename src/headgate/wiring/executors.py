"""Collecting on Spark's executors, where the options want that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from headgate.engines.flink.fleet import Crew
from headgate.engines.flink.remote import run_errands
from headgate.errors import UnreachableError
from headgate.options.service import Place, ServiceOptions
from headgate.wiring.data import DataPath
from headgate.wiring.engines import executors_time_limit


def crew_of(options: ServiceOptions, data: Callable[[], DataPath]) -> Crew | None:
    """Give who collects elsewhere, None where that is done here; where data go is asked at each call."""
    if options.collect_on is Place.SERVICE:
        return None

    def crew(errands: Sequence[bytes], sizes: Sequence[int]) -> Sequence[bytes | str]:
        from headgate.pipeline.executors import Executors  # noqa: PLC0415 - PySpark, where it is used

        limit = executors_time_limit(options)
        return Executors(session=data().running_session, work=run_errands, time_limit=limit).run(errands, sizes)

    return crew


async def start_spark(options: ServiceOptions, data: DataPath) -> None:
    """Start Spark before the first tick, whose samples would else come too late; where that fails, the ticks tell."""
    if options.collect_on is Place.SPARK:
        with suppress(UnreachableError):
            await asyncio.to_thread(data.running_session)
