"""What holds for every test: skipped tests are listed, and fail the run where everything should be there."""

from __future__ import annotations

import os

import pytest

pytest.register_assert_rewrite("headgate.testing.conformance")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn skips into a failure when `HEADGATE_FAIL_ON_SKIP` is set: a green run then means that all of it ran."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if skipped and os.environ.get("HEADGATE_FAIL_ON_SKIP") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
