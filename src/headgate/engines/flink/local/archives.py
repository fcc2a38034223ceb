"""Records the classes that a cluster loads, once for each Java and Flink: later starts take half of the time."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.distribution import flink_version
from headgate.engines.flink.local.java import release_of
from headgate.engines.flink.local.progress import Progress, silently
from headgate.engines.flink.local.runtime import ClassArchives, FlinkRuntime

_WRITING_LIMIT = timedelta(seconds=30)


def with_archives(runtime: FlinkRuntime, *, progress: Progress = silently) -> FlinkRuntime:
    """
    Return the runtime with class archives; the first time, start and stop a cluster to record them (15 s).

    A Java that cannot record them, or no longer matches what was recorded, starts as slowly as without.
    """

    def fill(directory: Path) -> None:
        progress("recording class archives")
        recording = replace(runtime, archives=ClassArchives(directory=directory, recording=True))
        with LocalCluster(runtime=recording, task_managers=1) as cluster:
            cluster.close(patience=_WRITING_LIMIT)

    entry = cached(f"flink-{flink_version(runtime.home)}-classes-{_fingerprint(runtime)}", fill)
    return replace(runtime, archives=ClassArchives(directory=entry))


def _fingerprint(runtime: FlinkRuntime) -> str:
    text = release_of(runtime.java.home) or runtime.java.origin
    return hashlib.sha256(f"{runtime.java.home} {runtime.home} {text}".encode()).hexdigest()[:12]
