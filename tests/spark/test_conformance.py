"""The evaluator on Spark keeps the contract of every evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.model.samples import JobSample
from headgate.pipeline.live import SparkEvaluator
from headgate.samplelog.writer import SampleLog
from headgate.testing.conformance import material
from headgate.testing.conformance.fleet_evaluator import EvaluatorOf, FleetEvaluatorSuite

pytestmark = pytest.mark.spark


class TestSparkEvaluator(FleetEvaluatorSuite):
    """Over a samples log."""

    @pytest.fixture
    def evaluator_of(self, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> EvaluatorOf:
        """Write the ticks into a log of its own."""

        def over(ticks: Sequence[Sequence[JobSample]]) -> SparkEvaluator:
            root: Path = tmp_path_factory.mktemp("log")
            log = SampleLog(root)
            for tick in ticks:
                log.append(tick)
            return SparkEvaluator(spark, root, collect_interval=timedelta(seconds=material.TICK_S))

        return over
