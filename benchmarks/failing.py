"""
What one job in twenty that hangs or fails costs the others: 1,000 jobs of three vertices on one cluster.

The service's own parts, put together by `headgate.wiring`, tick against a fake Flink in a process of its own, first
while all jobs answer, then from when a twentieth of them fails; and once more from a start in that condition, when
nothing is known of any job. Ticks come at the service's own pace. It ends with an error if those that fail make a tick
of the collector longer by more than its time limit, or if a job that answers is not evaluated.

    python -m benchmarks.failing --jobs 1000
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import structlog
import typer

from benchmarks.failing_server import is_failing, name_of
from headgate import wiring
from headgate.cli.run import collect_garbage_rarely
from headgate.control.runner import Runner, tick_of, until_next
from headgate.model.decision import Outcome
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.options.service import ClusterOptions, LogOptions, Pipeline, ServiceOptions
from headgate.testing.fakes import RecordingEvents

RESULTS = Path(__file__).with_name("results") / "failing.json"
VERTICES = 3
WINDOW_TICKS = 5
CLUSTER = "fake"


ALL, FAILING = "all answer", "one in twenty fails"
ALL_AT_FIRST, FAILING_AT_FIRST = "all answer, first tick", "one in twenty fails, first tick"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One tick of the collector and the cycle after it."""

    collect_s: float
    decide_s: float
    evaluated: int
    """Of the jobs that answer."""


Measured = Mapping[str, Sequence[Tick]]


def main(
    jobs: Annotated[int, typer.Option(help="Number of jobs.")] = 1000,
    times: Annotated[int, typer.Option(help="Ticks that are measured in each condition.")] = 4,
    interval_s: Annotated[int, typer.Option(help="Between two ticks, and the time limit of collecting a job.")] = 10,
    pipeline: Annotated[Pipeline, typer.Option(help="Where windows are reduced.")] = Pipeline.IN_PROCESS,
) -> None:
    """Measure, print, keep the raw numbers, and hold them against what was promised."""
    collect_garbage_rarely()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    bench = Bench(jobs, timedelta(seconds=interval_s), pipeline)
    measured = asyncio.run(bench.measure(times))
    raw = {condition: [asdict(tick) for tick in ticks] for condition, ticks in measured.items()}
    limits = {"jobs": jobs, "failing": jobs - bench.answering, "limit_s": bench.limit_s, "pipeline": pipeline.value}
    RESULTS.write_text(json.dumps({**limits, "ticks": raw}, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(raw, indent=1))
    bench.check(measured)


class Bench:
    """A fleet, and what is done with it."""

    def __init__(self, jobs: int, interval: timedelta, pipeline: Pipeline) -> None:
        """Start nothing yet."""
        self._jobs = jobs
        self._interval = interval
        self._pipeline = pipeline
        self._answer = frozenset(JobKey(CLUSTER, name_of(n)) for n in range(jobs) if not is_failing(n))

    @property
    def limit_s(self) -> float:
        """Time limit of collecting one job; the service takes the interval between two ticks for it."""
        return self._interval.total_seconds()

    @property
    def answering(self) -> int:
        """How many jobs never fail."""
        return len(self._answer)

    async def measure(self, times: int) -> Measured:
        """Measure each condition."""
        with server(self._jobs) as (url, pid):
            async with self._service(url) as runner:
                first = await self._ticks(runner, 1)
                await self._ticks(runner, WINDOW_TICKS)
                healthy = await self._ticks(runner, times)
                os.kill(pid, signal.SIGUSR1)
                failing = await self._ticks(runner, times)
            async with self._service(url) as runner:
                met = await self._ticks(runner, 1)
        return {ALL: healthy, FAILING: failing, ALL_AT_FIRST: first, FAILING_AT_FIRST: met}

    def check(self, measured: Measured) -> None:
        """
        Hold what was measured against what was promised.

        Raises:
            SystemExit: it is not kept.
        """
        for condition, usual in ((FAILING, ALL), (FAILING_AT_FIRST, ALL_AT_FIRST)):
            longest = max(tick.collect_s for tick in measured[condition])
            if longest > max(tick.collect_s for tick in measured[usual]) + self.limit_s:
                sys.exit(f"{condition}: collecting took {longest:.1f} s")
        if any(tick.evaluated < self.answering for tick in (*measured[ALL], *measured[FAILING])):
            sys.exit(f"not all of the {self.answering} jobs that answer were evaluated")

    async def _ticks(self, runner: Runner, times: int) -> list[Tick]:
        """Tick at the service's own pace."""
        ticks = []
        for _ in range(times):
            await asyncio.sleep(until_next(datetime.now(UTC), self._interval).total_seconds())
            ticks.append(await self._tick(runner, tick_of(datetime.now(UTC), self._interval)))
            print(ticks[-1], file=sys.stderr)
        return ticks

    async def _tick(self, runner: Runner, at: datetime) -> Tick:
        began = time.perf_counter()
        await runner.observe(at)
        collected = time.perf_counter()
        decisions = await runner.decide(at)
        decided = time.perf_counter()
        evaluated = {one.job for one in decisions if one.outcome is not Outcome.NOT_READY}
        return Tick(collect_s=collected - began, decide_s=decided - collected, evaluated=len(evaluated & self._answer))

    @asynccontextmanager
    async def _service(self, url: str) -> AsyncIterator[Runner]:
        with tempfile.TemporaryDirectory() as directory:
            options = self._options(url, Path(directory))
            async with wiring.service(options, events=RecordingEvents()) as runner:
                yield runner

    def _options(self, url: str, directory: Path) -> ServiceOptions:
        return ServiceOptions(
            clusters=(ClusterOptions(name=CLUSTER, url=url),),
            collect_interval=self._interval,
            pipeline=self._pipeline,
            state_store=f"sqlite:///{directory / 'state.db'}",
            log=LogOptions(path=str(directory / "log")),
            spark_master="local[2]",
            autoscaler=AutoscalerOptions(
                metrics_window=WINDOW_TICKS * self._interval,
                stabilization_interval=timedelta(),
                busy_time_aggregator=BusyTimeAggregator.AVG,
            ),
        )


@contextmanager
def server(jobs: int) -> Iterator[tuple[str, int]]:
    """Run the fake Flink; give its address and the process that signals change."""
    command = [sys.executable, "-m", "benchmarks.failing_server", "--jobs", str(jobs), "--vertices", str(VERTICES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[-1] if process.stdout else "", process.pid
        finally:
            process.terminate()


if __name__ == "__main__":
    typer.run(main)
