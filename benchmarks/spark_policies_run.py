"""One run of the comparison on Spark: one policy under one load on a cluster of its own."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import spark_application
from benchmarks.spark_application import Task
from benchmarks.spark_load import Load
from benchmarks.spark_policies_figures import INTERVAL_S
from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.errors import PermanentError

PARTITIONS = 12
WORKERS = 6
ROW_MS = 4.0
MOST_ROWS = 2500
"""Of a batch: more than the highest load brings in two seconds, so that a backlog can drain."""
_START_UP_S = 40.0
"""From the start of the application until the load leads in."""
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides about the executors, as the application is told."""

    conf: Mapping[str, str] = field(default_factory=dict)
    """Of Spark."""
    begins_with: int | None = None
    attached: Mapping[str, str] | None = None
    """Headgate's options; None: without it."""


def static(cores: int) -> Policy:
    """Keep as many executors as somebody set."""
    return Policy(conf={"spark.cores.max": str(cores)})


def dynamic_allocation(begins_with: int) -> Policy:
    """Let Spark decide by its own dynamic allocation, from one executor to all."""
    dynamic = "spark.dynamicAllocation"
    conf = {
        f"{dynamic}.enabled": "true",
        f"{dynamic}.shuffleTracking.enabled": "true",
        f"{dynamic}.minExecutors": "1",
        f"{dynamic}.initialExecutors": str(begins_with),
        f"{dynamic}.maxExecutors": str(WORKERS),
    }
    return Policy(conf=conf)


def headgate(begins_with: int) -> Policy:
    """Attach Headgate."""
    options = {"job.autoscaler.vertex.max-parallelism": str(WORKERS)}
    return Policy(begins_with=begins_with, attached=options)


def measured(policy: Policy, load: Load, logs: Path | None = None) -> Mapping[str, object]:
    """
    Run it, and give what was seen.

    Args:
        policy: decides about the executors.
        load: begins its lead when the application has had time to start.
        logs: an existing directory that keeps what the application said; by default nothing does.

    Raises:
        PermanentError: the application failed; the text ends with its last lines.
    """
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary, StandaloneCluster(workers=WORKERS) as cluster:
        place = Path(temporary)
        began = round(time.time() + _START_UP_S) + load.lead_s
        task = _task(policy, load, place, began)
        application = cluster.run(Path(spark_application.__file__), task.text(), conf=policy.conf)
        paid = list(_follow(application, cluster, ends_at=began + load.duration_s))
        record = [json.loads(line) for line in task.record.read_text(encoding="utf-8").splitlines()]
        if logs is not None:
            (logs / f"{application.output.stem}-{began}.log").write_text(application.said(), encoding="utf-8")
    return {
        "began": f"{datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M:%S}",
        "busy": [round(before, 1), round(os.getloadavg()[0], 1)],
        "batches": [list(row) for row in _batches(record, began)],
        "cores": [list(row) for row in _cores([*record, *paid], began)],
    }


def _task(policy: Policy, load: Load, place: Path, began: float) -> Task:
    leads_at = datetime.fromtimestamp(began - load.lead_s, UTC)
    source = {
        "profile": load.profile(),
        "start": leads_at.isoformat(),
        "partitions": str(PARTITIONS),
        "maxRowsPerTrigger": str(MOST_ROWS),
    }
    return Task(
        source=source,
        row_ms=ROW_MS,
        interval_s=INTERVAL_S,
        ends_at=began + load.duration_s + INTERVAL_S,
        directory=str(place),
        begins_with=policy.begins_with,
        attached=None if policy.attached is None else dict(policy.attached),
    )


def _follow(application: Application, cluster: StandaloneCluster, *, ends_at: float) -> Iterator[Mapping[str, float]]:
    """Ask the master each second for how many cores it keeps for the application, those of starting executors too."""
    while (now := time.time()) < ends_at:
        if not application.running:
            message = f"the application ended too early; its last lines:\n{application.last_words()}"
            raise PermanentError(message)
        yield {"at": now, "paid": float(cluster.status()["coresused"])}
        time.sleep(_LOOK_S)


def _batches(record: Sequence[Mapping[str, Any]], began: float) -> Iterator[tuple[float, ...]]:
    """Give the batches as `Batch` has them."""
    batches = [line for line in record if "rows" in line]
    positions = itertools.accumulate(batch["rows"] for batch in batches)
    for batch, position in zip(batches, positions, strict=True):
        yield round(batch["at"] - began, 2), batch["took_s"], batch["rows"], position


def _cores(looks: Sequence[Mapping[str, Any]], began: float) -> Iterator[tuple[float, ...]]:
    """Give what changed as `Cores` has it, first what held when the load began."""
    told: dict[str, float] = {"paid": 0, "cores": 0, "failed": 0}
    last: tuple[int, ...] = ()
    seen = sorted((look for look in looks if "rows" not in look), key=lambda look: look["at"])
    for look in seen:
        told |= {name: look[name] for name in told if name in look}
        now = tuple(int(number) for number in told.values())
        if look["at"] >= began and now != last:
            yield round(max(0.0, look["at"] - began) if last else 0.0, 1), *now
            last = now
