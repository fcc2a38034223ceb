"""
What holds for every test: skipped tests are listed, and fail the run where everything should be there.

Hypothesis runs without a clock: on a busy machine a slow example is no fault of the code. Where a run judges a change,
it draws the same examples each time; new ones are looked for by whoever sits before it, with `thorough` for longer.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

JUDGES = bool(os.environ.get("HEADGATE_FAIL_ON_SKIP"))

settings.register_profile("headgate", deadline=None, max_examples=50, derandomize=JUDGES)
settings.load_profile("headgate")
pytest.register_assert_rewrite("headgate.testing.conformance")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn skips into a failure when `HEADGATE_FAIL_ON_SKIP` is set: a green run then means that all of it ran."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if skipped and JUDGES and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
