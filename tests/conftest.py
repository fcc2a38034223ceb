"""
What holds for every test: skipped tests are listed, and fail the run where everything should be there.

Hypothesis runs without a clock: on a busy machine a slow example is no fault of the code. Its
profile `thorough` looks for longer.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("headgate", deadline=None, max_examples=50)
settings.load_profile("headgate")
pytest.register_assert_rewrite("headgate.testing.conformance")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn skips into a failure when `HEADGATE_FAIL_ON_SKIP` is set: a green run then means that all of it ran."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if skipped and os.environ.get("HEADGATE_FAIL_ON_SKIP") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
