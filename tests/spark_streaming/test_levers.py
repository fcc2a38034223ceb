"""Executors leave and come while a stateful query runs, and it loses neither a task nor a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.spark_streaming.application import PATIENCE, PROGRAMS

from headgate.engines.spark.local.cluster import StandaloneCluster

ROCKS_DB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}
COPIED = {
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.replicationReattemptInterval": "1s",
}
"""What lies on an executor that leaves is copied first, or in a slow batch its tasks would have to run again."""
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "3",
}


@pytest.mark.long
@pytest.mark.parametrize("conf", [{}, DYNAMIC], ids=["alone", "under dynamic allocation"])
def test_executors_leave_and_come_without_loss(
    three_workers: StandaloneCluster, directory: Path, conf: Mapping[str, str]
) -> None:
    """Three become one and three again; asking twice asks once, and dynamic allocation does not object."""
    application = three_workers.run(PROGRAMS / "levers.py", str(directory), "1000", conf={**ROCKS_DB, **COPIED, **conf})
    assert application.wait(PATIENCE) == 0, application.last_words()

    seen: Mapping[str, Any] = json.loads((directory / "seen.json").read_text(encoding="utf-8"))
    assert [(step["cores"], step["sent"], step["again"]) for step in seen["steps"]] == [
        (1, True, False),
        (3, True, False),
    ]
    assert seen["failed tasks"] == 0
    assert seen["counted"] == seen["rows"]
