"""The built-in evaluator and alignment modes keep their contracts, and nothing is built in without such a test."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from headgate.pipeline.single import BuiltInMetricEvaluator
from headgate.plugins.alignment import Balanced, EvenlySpread, Off, Waves
from headgate.plugins.hpa import HpaMetricEvaluator
from headgate.plugins.kinds import Kind
from headgate.plugins.micro_batch import MicroBatchEvaluator
from headgate.ports import CollectedMetrics
from headgate.testing.conformance.alignment_mode import AlignmentModeSuite
from headgate.testing.conformance.metric_evaluator import MetricEvaluatorSuite
from headgate.testing.micro_batching import watched_application

ROOT = Path(__file__).parents[2]

APART = {"SavepointRedeployRealizer"}
"""
It goes by the intent that was saved, not by the wishes of a call, and replaces the whole job: the suite asks what it
cannot answer. Its rules stand in tests/unit/engines/flink/redeploy.
"""


class TestBuiltInMetricEvaluator(MetricEvaluatorSuite):
    """The formulas of the fleet, for one job."""

    @pytest.fixture
    def evaluator(self) -> BuiltInMetricEvaluator:
        """Give one without parameters."""
        return BuiltInMetricEvaluator({})


class TestHpaMetricEvaluator(MetricEvaluatorSuite):
    """The policy of the 2021 paper."""

    @pytest.fixture
    def evaluator(self) -> HpaMetricEvaluator:
        """Give one without parameters."""
        return HpaMetricEvaluator({})


class TestMicroBatchEvaluator(MetricEvaluatorSuite):
    """Queries in micro-batches."""

    @pytest.fixture
    def evaluator(self) -> MicroBatchEvaluator:
        """Give one without parameters."""
        return MicroBatchEvaluator({})

    @pytest.fixture
    def collected(self) -> CollectedMetrics:
        """Give a Spark application."""
        return watched_application()


class TestBalanced(AlignmentModeSuite):
    """The mode unless told otherwise."""

    @pytest.fixture
    def mode(self) -> Balanced:
        """Give the mode."""
        return Balanced({})


class TestEvenlySpread(AlignmentModeSuite):
    """Divisors only."""

    @pytest.fixture
    def mode(self) -> EvenlySpread:
        """Give the mode."""
        return EvenlySpread({})


class TestOff(AlignmentModeSuite):
    """No alignment at all."""

    @pytest.fixture
    def mode(self) -> Off:
        """Give the mode."""
        return Off({})


class TestWaves(AlignmentModeSuite):
    """Whole waves of a micro-batch's tasks."""

    @pytest.fixture
    def mode(self) -> Waves:
        """Give the mode."""
        return Waves({})


def built_in() -> Sequence[str]:
    """Name the classes that the project registers as plugins, of whatever kind."""
    groups: Mapping[str, Mapping[str, str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "entry-points"
    ]
    return [target.partition(":")[2] for kind in Kind for target in groups.get(kind, {}).values()]


@pytest.mark.parametrize("plugin", sorted({*built_in()} - APART))
def test_whatever_is_built_in_has_a_suite(plugin: str) -> None:
    """A class of this folder is called after it and subclasses a suite."""
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert re.search(rf"^class Test{plugin}\(.*Suite\):$", tests, re.MULTILINE)
