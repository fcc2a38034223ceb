"""
A Flink cluster to try Headgate on: on this machine, with one job that runs too narrow, until Ctrl-C.

The first time, Flink is fetched, and a Java where there is none.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime

from headgate.demo.interruption import Interruption, raised
from headgate.demo.loadjob import ENTRY_CLASS, ConstantProfile, LoadJobSpec, Stage, build_jar
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.progress import to_stderr

RATE_PER_S = 300
PARSE, ENRICH = Stage(name="parse", cost_us=1_000), Stage(name="enrich", cost_us=5_000, keyed=True)
"""One subtask parses 1,000 records a second, and enriches 200 of the 300 that come."""


def main() -> None:
    """Start the cluster and the job, say where they are, and wait to be stopped."""
    runtime = find_runtime(progress=to_stderr)
    jar = build_jar(runtime.java, runtime.home)
    job = LoadJobSpec(
        name="orders", stages=(PARSE, ENRICH), profile=ConstantProfile(per_s=RATE_PER_S), epoch=datetime.now(UTC)
    )
    with LocalCluster(runtime=runtime, task_managers=2, slots=4) as cluster:
        submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=job.arguments(), parallelism=1)
        print(f"the job `orders` runs at {cluster.url}; Ctrl-C ends it", flush=True)  # noqa: T201 -- the answer
        signal.pause()


if __name__ == "__main__":
    with suppress(Interruption), raised():
        main()
    sys.exit()
