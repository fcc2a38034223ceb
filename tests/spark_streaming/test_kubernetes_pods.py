"""On Kubernetes executors are pods: a real driver asks an API server for them, and no pod ever runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.spark_streaming.application import PATIENCE, PROGRAMS
from tests.spark_streaming.pods import FakePods

from headgate.engines.spark.local.cluster import StandaloneCluster


def test_executors_are_asked_for_as_pods(cluster: StandaloneCluster, directory: Path) -> None:
    """By the same calls as elsewhere: three, each once however often they are asked for."""
    with FakePods() as pods:
        wish = directory / "executors"
        wish.write_text("3", encoding="utf-8")
        application = cluster.run(
            PROGRAMS / "asking.py",
            str(directory),
            conf={
                "spark.master": f"k8s://{pods.url}",
                "spark.executor.instances": "1",
                "spark.kubernetes.container.image": "none",
                "spark.kubernetes.allocation.batch.delay": "1s",
                "spark.kubernetes.executor.apiPollingInterval": "1s",
                "spark.kubernetes.executor.enableApiWatcher": "false",
                "spark.scheduler.maxRegisteredResourcesWaitingTime": "1s",
            },
        )
        await_pods(lambda: len(pods.pods) == 3 or not application.running)
        wish.write_text("0", encoding="utf-8")
        assert application.wait(PATIENCE) == 0, application.last_words()
        assert pods.requests.count("POST pods") == 3, application.last_words()


def await_pods(reached: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.2)
