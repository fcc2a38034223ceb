"""One run of the comparison on Spark: one policy under one load on a cluster of its own."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import spark_application
from benchmarks.spark_application import Task
from benchmarks.spark_load import Load
from benchmarks.spark_policies_setting import INTERVAL_S, MOST_ROWS, PARTITIONS, ROW_MS, WORKERS, Policy
from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.errors import PermanentError

_START_LIMIT_S = 300.0
"""From the start of the application until its load begins."""
_LOOK_S = 1.0


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
        task = _task(policy, load, temporary)
        application = cluster.run(Path(spark_application.__file__), task.text(), conf=policy.conf)
        paid = list(_follow(application, cluster, time.time() + _START_LIMIT_S + task.duration_s))
        record = [json.loads(line) for line in task.record.read_text(encoding="utf-8").splitlines()]
        began = next(line["starts_at"] for line in record if "starts_at" in line) + load.lead_s
        if logs is not None:
            (logs / f"{began:.0f}.log").write_text(application.said(), encoding="utf-8")
    return {
        "began": f"{datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M:%S}",
        "busy": [round(before, 1), round(os.getloadavg()[0], 1)],
        "batches": [list(row) for row in _batches(record, began)],
        "cores": [list(row) for row in _cores([*record, *paid], began)],
    }


def _task(policy: Policy, load: Load, directory: str) -> Task:
    return Task(
        source={"profile": load.profile(), "partitions": str(PARTITIONS), "maxRowsPerTrigger": str(MOST_ROWS)},
        row_ms=ROW_MS,
        interval_s=INTERVAL_S,
        duration_s=load.lead_s + load.duration_s + 2 * INTERVAL_S,
        directory=directory,
        begins_with=policy.begins_with,
        attached=None if policy.attached is None else dict(policy.attached),
    )


def _follow(application: Application, cluster: StandaloneCluster, latest: float) -> Iterator[Mapping[str, float]]:
    """Ask the master each second for how many cores it keeps for the application, those of starting executors too."""
    while application.running:
        if time.time() > latest:
            message = f"the application does not end; its last lines:\n{application.last_words()}"
            raise PermanentError(message)
        yield {"at": time.time(), "paid": float(cluster.status()["coresused"])}
        time.sleep(_LOOK_S)
    if application.wait(timedelta()):
        message = f"the application failed; its last lines:\n{application.last_words()}"
        raise PermanentError(message)


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
    seen = sorted((look for look in looks if look.keys() & told.keys()), key=lambda look: look["at"])
    for look in seen:
        told |= {name: look[name] for name in told if name in look}
        now = tuple(int(number) for number in told.values())
        if look["at"] >= began and now != last:
            yield round(max(0.0, look["at"] - began) if last else 0.0, 1), *now
            last = now
