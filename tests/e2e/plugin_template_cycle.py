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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from headgate.config.loading import load
from headgate.model.decision import Decision
from headgate.options.service import ServiceOptions
from headgate.wiring import service

TICK, TICKS, RATE = timedelta(seconds=10), 31, 340.0


async def decide(options: ServiceOptions, directory: Path, begin: datetime, load: str) -> Decision:
    """Let the job write, the service observe it, and decide."""
    async with service(options) as runner:
        for tick in range(TICKS):
            at = begin + tick * TICK
            write(directory, begin, at, load)
            await runner.observe(at)
        (decision,) = await runner.decide(at)
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
    begin = datetime(2026, 1, weekday, 12, tzinfo=UTC)
    decision = asyncio.run(decide(options, configuration.parent, begin, load_name))
    told: dict[str, Any] = {"reason": decision.reason, "message": decision.message, "targets": dict(decision.targets)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
