"""What keeps samples and decisions, and what evaluates them, keep their contracts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.model.decision import Decision
from headgate.model.samples import JobSample
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS
from headgate.testing.conformance import material
from headgate.testing.conformance.fleet_evaluator import WINDOW, EvaluatorOf, FleetEvaluatorSuite
from headgate.testing.conformance.sinks import DecisionSinkSuite, SampleSinkSuite, Tick

TICK = timedelta(seconds=material.TICK_S)
FROM, UNTIL = material.NOW - timedelta(hours=1), material.NOW + timedelta(hours=1)


class TestSampleLogOfSamples(SampleSinkSuite):
    """Parquet files."""

    @pytest.fixture
    def sink(self, tmp_path: Path) -> SampleLog:
        """Write to a new log."""
        return SampleLog(tmp_path)

    @pytest.fixture
    def kept(self, tmp_path: Path) -> Callable[[], Collection[Tick]]:
        """Read the log."""
        return lambda: [
            (row["job"], datetime.fromtimestamp(row["at_ms"] / 1000, UTC))
            for row in LogReader(tmp_path).read("jobs", FROM, UNTIL).to_pylist()
        ]


class TestSampleLogOfDecisions(DecisionSinkSuite):
    """Parquet files."""

    @pytest.fixture
    def sink(self, tmp_path: Path) -> SampleLog:
        """Write to a new log."""
        return SampleLog(tmp_path)

    @pytest.fixture
    def kept(self, tmp_path: Path) -> Callable[[], Collection[Decision]]:
        """Read the log."""
        return lambda: [
            decision for job in (ORDERS, material.OTHER) for decision in LogReader(tmp_path).decisions(job, FROM, UNTIL)
        ]


class TestInProcessSink(SampleSinkSuite):
    """In memory."""

    @pytest.fixture
    def sink(self) -> InProcessEvaluator:
        """Begin without samples."""
        return InProcessEvaluator(collect_interval=TICK, keep=WINDOW)

    @pytest.fixture
    def kept(self, sink: InProcessEvaluator) -> Callable[[], Collection[Tick]]:
        """Look inside."""

        def look() -> Collection[Tick]:
            _, jobs = sink._kept
            ticks = [datetime.fromtimestamp(at_ms / 1000, UTC) for at_ms in jobs.columns["at_ms"].values.tolist()]
            return list(zip((jobs.names[place] for place in jobs.owner), ticks, strict=True))

        return look


class TestInProcessEvaluator(FleetEvaluatorSuite):
    """With numpy, over samples in memory."""

    @pytest.fixture
    def evaluator_of(self) -> EvaluatorOf:
        """Append the ticks one by one."""

        def over(ticks: Sequence[Sequence[JobSample]]) -> InProcessEvaluator:
            evaluator = InProcessEvaluator(collect_interval=TICK, keep=WINDOW)
            for tick in ticks:
                evaluator.append(tick)
            return evaluator

        return over
