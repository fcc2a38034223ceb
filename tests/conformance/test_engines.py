"""The engines that come with Headgate keep the contracts of collector, realizer and job list."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.conformance.flink_stage import FlinkStage, flink_stage
from tests.conformance.prometheus_stage import PrometheusStage, prometheus_stage
from tests.conformance.simulated_stage import SimulatedStage
from tests.conformance.yarn_stage import YarnStage, yarn_stage

from headgate.testing.conformance.failure_history import FailureHistorySuite
from headgate.testing.conformance.job_list import JobListFetcherSuite
from headgate.testing.conformance.metric_collector import MetricCollectorSuite
from headgate.testing.conformance.scaling_realizer import ScalingRealizerSuite


class OnFlink:
    """In front of a fake Flink with two jobs."""

    @pytest.fixture
    async def stage(self) -> AsyncIterator[FlinkStage]:
        """Serve it."""
        async with flink_stage(jobs=2) as stage:
            yield stage


class OnSimulation:
    """In front of a simulated cluster with two jobs."""

    @pytest.fixture
    def stage(self) -> SimulatedStage:
        """Let it run."""
        return SimulatedStage(jobs=2)


class TestFlinkMetricCollector(OnFlink, MetricCollectorSuite):
    """Over REST."""


class TestPrometheusMetricCollector(MetricCollectorSuite):
    """Through a Prometheus that scrapes Flink."""

    @pytest.fixture
    async def stage(self) -> AsyncIterator[PrometheusStage]:
        """Serve both."""
        async with prometheus_stage() as stage:
            yield stage


class TestResourceRequirementsRealizer(OnFlink, ScalingRealizerSuite):
    """In place, with the adaptive scheduler."""


class TestFlinkFailureHistory(OnFlink, FailureHistorySuite):
    """From the exception history."""


class TestFlinkJobListFetcher(JobListFetcherSuite):
    """Over REST."""

    @pytest.fixture
    async def stage(self) -> AsyncIterator[FlinkStage]:
        """Serve one job."""
        async with flink_stage() as stage:
            yield stage


class TestSimulatedMetricCollector(OnSimulation, MetricCollectorSuite):
    """On paper."""


class TestSimulatedScalingRealizer(OnSimulation, ScalingRealizerSuite):
    """On paper."""


class TestSimulatedJobListFetcher(JobListFetcherSuite):
    """On paper."""

    @pytest.fixture
    def stage(self) -> SimulatedStage:
        """Let one job run."""
        return SimulatedStage()


class OnYarn:
    """In front of a fake YARN with one application."""

    @pytest.fixture
    async def stage(self) -> AsyncIterator[YarnStage]:
        """Serve it."""
        async with yarn_stage() as stage:
            yield stage


class TestYarnJobListFetcher(OnYarn, JobListFetcherSuite):
    """Over ResourceManager and proxy."""


class TestYarnMetricCollector(OnYarn, MetricCollectorSuite):
    """Over the proxy."""


class TestYarnFailureHistory(OnYarn, FailureHistorySuite):
    """Over the proxy."""


class TestYarnScalingRealizer(OnYarn, ScalingRealizerSuite):
    """Over the proxy."""
