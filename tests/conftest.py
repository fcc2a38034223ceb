"""
What holds for every test: skipped tests are listed, and fail the run where everything should be there.

Hypothesis runs without a clock: on a busy machine a slow example is no fault of the code. It draws the same examples
each time; `make test-long` looks for new ones, by the profile `random`.

Tests of one lane run one after another in one process (`--dist loadscope`) and share what is expensive to start.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from headgate.engines.flink.local.java import find_java
from headgate.engines.spark.local.archives import fast_start
from headgate.engines.spark.local.home import find_spark_home, lean_home

JUDGES = bool(os.environ.get("HEADGATE_FAIL_ON_SKIP"))

_LANES = {
    "tests/flink/test_closed_loop.py::test_an_overload_that_hides_in_network_buffers": "Flink, special clusters",
    "tests/flink/test_prometheus.py": "Flink, special clusters",
    "tests/flink/test_reactive.py": "Flink, special clusters",
    "tests/flink/test_redeploy": "Flink, redeploy and rollback",
    "tests/flink/test_rollback.py": "Flink, redeploy and rollback",
    "tests/flink/": "Flink, the lab",
    "tests/spark_streaming/": "Spark applications",
    "tests/spark/": "Spark, the pipeline",
    "tests/e2e/test_commands.py": "what people type",
    "tests/e2e/test_demo.py": "what people type",
    "tests/e2e/test_tutorials.py": "what people type",
    "tests/e2e/": "whole processes",
    "tests/": "services",
}
"""By how a test's path begins; those of a lane take about as long as those of any other."""

settings.register_profile("headgate", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("random", deadline=None, max_examples=500, derandomize=False)
settings.load_profile("headgate")
pytest.register_assert_rewrite("headgate.testing.conformance")


class Lanes(LoadScopeScheduling):  # type: ignore[misc] # it comes without types
    """Gives each process the tests of a lane, one after another."""

    def _split_scope(self, nodeid: str) -> str:
        return next(lane for start, lane in _LANES.items() if nodeid.startswith(start))


def pytest_configure(config: pytest.Config) -> None:
    """Let each Spark that a lane starts, some forty, start fast: on jars whose classes are recorded."""
    if config.getoption("dist", None) == "loadscope":
        python = Path(sys.executable)
        home = lean_home(find_spark_home(python))
        os.environ["SPARK_HOME"] = str(home)
        os.environ["SPARK_SUBMIT_OPTS"] = fast_start(home, java_home=find_java().home, python=python)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Run lanes beside each other where `--dist loadscope` is asked for."""
    return Lanes(config, log) if config.getoption("dist") == "loadscope" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn skips into a failure when `HEADGATE_FAIL_ON_SKIP` is set: a green run then means that all of it ran."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if skipped and JUDGES and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
