"""
Looks after a job of the template's engine for five minutes of its clock, then decides once.

    python plugin_template_cycle.py CONFIGURATION WEEKDAY LOAD

is a process of its own: who lists, observes, evaluates, decides, acts, keeps and tells follows from the configuration
and from what is installed. WEEKDAY is a day of the first week of 2026, 1 is a Thursday; LOAD is `busy` or `stuck`.
Prints the decision as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from headgate.config import for_job
from headgate.config.loading import load
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import PluginDecider
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.selection import SelectedCollector, SelectedRealizer
from headgate.model.decision import Decision
from headgate.options.service import Mode, ServiceOptions
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.selected import SelectedEvaluator
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry
from headgate.ports import JobList, JobListFetcher
from headgate.testing.fakes import FakeEngine, RecordingLog

TICK, TICKS, RATE = timedelta(seconds=10), 31, 340.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A job list whose jobs have the options that the operator gave them."""

    inner: JobListFetcher
    options: ServiceOptions

    async def fetch(self) -> JobList:
        """Lay the options over the list."""
        listed = await self.inner.fetch()
        jobs = (replace(job, options=for_job(self.options, job.key).options) for job in listed.jobs)
        return replace(listed, jobs=tuple(jobs))


class Loop:
    """Observer and cycle, wherever options may name a plugin by way of the host."""

    def __init__(self, options: ServiceOptions, host: PluginHost) -> None:
        """Put them together; the engine that is nobody's has no jobs."""
        events = host.ready(Kind.EVENT_HANDLER, "our-event-handler").port
        outbox = Outbox(store=host.ready(Kind.STATE_STORE, "our-state-store").port, events=events)
        memory = InProcessEvaluator(collect_interval=TICK, keep=timedelta(minutes=5))
        usual = FakeEngine()
        collector = SelectedCollector(usual=usual, host=host)
        realizer = SelectedRealizer(usual=usual, host=host)
        evaluator = SelectedEvaluator(fleet=memory, windows=memory, host=host, events=events, collect_interval=TICK)
        self.observer = Observer(
            fetcher=Listed(inner=host.ready(Kind.JOB_LIST, "our-job-list").port, options=options),
            collector=collector,
            sink=memory,
            events=events,
            time_limit=TICK,
        )
        self.cycle = Cycle(
            mode=Mode.ACT,
            evaluator=evaluator,
            actuator=Actuator(collector=collector, realizer=realizer, outbox=outbox, events=events),
            outbox=outbox,
            events=events,
            decisions=RecordingLog(),
            decider=PluginDecider(host=host, events=events),
        )

    async def decide(self, directory: Path, begin: datetime, load: str) -> Decision:
        """Let the job write, observe it, and decide."""
        for tick in range(TICKS):
            at = begin + tick * TICK
            write(directory, begin, at, load)
            await self.observer.observe(at)
        (decision,) = await self.cycle.run(self.observer.latest, at)
        return decision


def write(directory: Path, begin: datetime, at: datetime, load: str) -> None:
    """Write what the job does: 340 records/s, or nothing at all while much is waiting."""
    seconds = (at - begin).total_seconds() if load == "busy" else 0.0
    done, busy_ms = RATE * seconds, 600.0 * seconds
    fetch = {"name": "fetch", "parallelism": 1, "most": 16, "lag": 0 if load == "busy" else 5000}
    grind = {"name": "grind", "parallelism": 2, "most": 16, "inputs": ["fetch"], "keyed": True}
    counted = {"records_in": done, "records_out": done, "busy_ms": busy_ms}
    status = {
        "job_id": "run-1",
        "state": "RUNNING",
        "started_at": (begin - timedelta(hours=1)).timestamp(),
        "written_at": at.timestamp(),
        "stages": [fetch | counted, grind | counted],
    }
    (directory / "flour.status.json").write_text(json.dumps(status))


def main(configuration: Path, weekday: int, load_name: str) -> None:
    """Decide once, and print it."""
    options = load(configuration, {}, {}).options
    host = PluginHost(Catalog(Registry(), Tables.of(options)), options.plugins)
    with closing(host):
        begin = datetime(2026, 1, weekday, 12, tzinfo=UTC)
        decision = asyncio.run(Loop(options, host).decide(configuration.parent, begin, load_name))
    told: dict[str, Any] = {"reason": decision.reason, "message": decision.message, "targets": dict(decision.targets)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
