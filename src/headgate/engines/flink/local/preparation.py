"""Gets everything that a local cluster needs, fetched and recorded at most once."""

from __future__ import annotations

from headgate.engines.flink.local.archives import with_archives
from headgate.engines.flink.local.distribution import flink_home
from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.local.progress import Progress, silently
from headgate.engines.flink.local.runtime import FlinkRuntime


def find_runtime(*, progress: Progress = silently) -> FlinkRuntime:
    """
    Find or fetch a Java and a Flink, and make them start fast.

    Raises:
        PermanentError: one of them is neither there nor can be fetched, or they do not run together.
    """
    runtime = FlinkRuntime(java=find_java(progress=progress), home=flink_home(progress=progress))
    return with_archives(runtime, progress=progress)
