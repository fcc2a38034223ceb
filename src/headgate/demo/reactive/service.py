"""What the Headgate of the reactive demo is told: where the cluster is and how to start TaskManagers, not the work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headgate.demo.service import places, windows

MOST_WORKERS = 4
"""One more than ever needed: how many are enough is for Headgate to find out."""


def reactive_configuration(
    url: str, directory: Path, *, cluster: Path, jar: Path, dry_run: bool
) -> Mapping[str, object]:
    """
    Return the content of a `headgate.yaml` with which a reactive cluster has as many TaskManagers as its load needs.

    Args:
        url: the cluster's REST address.
        directory: where Headgate keeps what it writes.
        cluster: the directory with Flink's `conf`.
        jar: the application's, which every TaskManager needs on its class path.
        dry_run: whether Headgate may only say what it would do.
    """
    workers = {"provider": "here", "min": 1, "max": MOST_WORKERS, "scale-down.interval": "5 s"}
    return {
        "clusters": [{"name": "demo", "url": url, "workers": workers}],
        "headgate.plugins": {"here": {"class": "local-processes", "directory": str(cluster), "job-jar": str(jar)}},
        "mode": "advise" if dry_run else "act",
        "pipeline": "in-process",
        "collect.interval": "1 s",
        "decide.interval": "3 s",
        "job.autoscaler.execution-mode": "reactive",
        **places(directory),
        **windows(),
    }
