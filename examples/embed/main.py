"""
Headgate inside of a program: three jobs of a home-made engine, looked after for six minutes of its own clock.

    python examples/embed/main.py

No Spark, no Java, no Flink, no files.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from adapters import WorkshopCollector, WorkshopJobList, WorkshopRealizer, instant
from workshop import Line, Workshop

from headgate.control.embedding import EmbeddedAutoscaler
from headgate.model.events import Event

TICK_S, DECIDE_EVERY, TICKS = 10, 3, 36


class Quiet:
    """An event handler that tells nobody: this program prints decisions."""

    def handle(self, event: Event, /) -> None:
        """Drop it."""


async def main() -> None:
    """Let six minutes pass."""
    workshop = Workshop(
        Line(name="chairs", pieces_per_s=200, pieces_per_bench_s=100),
        Line(name="tables", pieces_per_s=70, pieces_per_bench_s=100),
        Line(name="stools", pieces_per_s=50, pieces_per_bench_s=100, benches=6),
    )
    autoscaler = EmbeddedAutoscaler(
        jobs=WorkshopJobList(workshop),
        collector=WorkshopCollector(workshop),
        realizer=WorkshopRealizer(workshop),
        events=Quiet(),
        collect_interval=timedelta(seconds=TICK_S),
        longest_window=timedelta(minutes=2),
    )
    for tick in range(1, TICKS + 1):
        workshop.work(TICK_S)
        await autoscaler.observe(instant(workshop))
        if tick % DECIDE_EVERY == 0:
            for decision in await autoscaler.decide(instant(workshop)):
                sys.stdout.write(f"{decision.at:%H:%M:%S} {decision.job.name}: {decision.reason}: {decision.message}\n")


if __name__ == "__main__":
    asyncio.run(main())
