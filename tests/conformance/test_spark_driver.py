"""What looks at Spark from inside of the driver keeps the contracts of collector, job list and failure history."""

from __future__ import annotations

import pytest
from tests.conformance.spark_driver_stage import AttachedStage

from headgate.testing.conformance.failure_history import FailureHistorySuite
from headgate.testing.conformance.job_list import JobListFetcherSuite
from headgate.testing.conformance.metric_collector import MetricCollectorSuite


class OnDriver:
    """In a driver that is not there."""

    @pytest.fixture
    def stage(self) -> AttachedStage:
        """Let it run."""
        return AttachedStage()


class TestAttachedMetricCollector(OnDriver, MetricCollectorSuite):
    """By what queries report."""


class TestAttachedJobListFetcher(OnDriver, JobListFetcherSuite):
    """The one application."""


class TestAttachedFailureHistory(OnDriver, FailureHistorySuite):
    """By the exceptions of queries."""
