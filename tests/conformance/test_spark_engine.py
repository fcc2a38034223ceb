"""What looks at Spark from outside keeps the contracts of collector, realizer, job list and failure history."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.conformance.spark_stage import SparkStage, spark_stage

from headgate.testing.conformance.failure_history import FailureHistorySuite
from headgate.testing.conformance.job_list import JobListFetcherSuite
from headgate.testing.conformance.metric_collector import MetricCollectorSuite
from headgate.testing.conformance.scaling_realizer import ScalingRealizerSuite


class OnSpark:
    """In front of a fake cluster with one application."""

    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncIterator[SparkStage]:
        """Serve it."""
        async with spark_stage(tmp_path) as stage:
            yield stage


class TestSparkMetricCollector(MetricCollectorSuite):
    """By event logs."""

    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncIterator[SparkStage]:
        """Serve two applications."""
        async with spark_stage(tmp_path, jobs=2) as stage:
            yield stage


class TestSparkScalingRealizer(OnSpark, ScalingRealizerSuite):
    """By workers."""


class TestSparkJobListFetcher(OnSpark, JobListFetcherSuite):
    """By the master."""


class TestSparkFailureHistory(OnSpark, FailureHistorySuite):
    """By event logs."""
