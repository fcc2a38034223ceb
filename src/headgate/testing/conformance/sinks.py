"""
What every `SampleSink` and every `DecisionSink` must do.

Use: subclass `SampleSinkSuite` or `DecisionSinkSuite` in a test file, define a fixture `sink` that gives an empty one,
and a fixture `kept` that tells what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime

import pytest

from headgate.model.decision import Decision
from headgate.model.samples import JobSample
from headgate.ports import DecisionSink, SampleSink
from headgate.testing.builders import ORDERS
from headgate.testing.conformance import material

FIRST, SECOND = material.watched().samples[-2:]
OTHERS = material.watched(job=material.OTHER).samples[-1]

Tick = tuple[str, datetime]
"""A job and an instant at which something of it is kept."""


class SampleSinkSuite:
    """The contract of `headgate.ports.SampleSink`, one behaviour a test."""

    @pytest.fixture
    def sink(self) -> SampleSink:
        """Give an empty sink; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def kept(self, sink: SampleSink) -> Callable[[], Collection[Tick]]:
        """Give what lists the jobs and ticks of which the sink holds samples, each once."""
        raise NotImplementedError

    def test_a_tick_is_kept(self, sink: SampleSink, kept: Callable[[], Collection[Tick]]) -> None:
        """All of its jobs, and the ticks before it."""
        sink.append([FIRST])
        sink.append([SECOND, OTHERS])
        assert sorted(kept()) == sorted([tick_of(FIRST), tick_of(SECOND), tick_of(OTHERS)])

    def test_a_tick_again_replaces_the_first(self, sink: SampleSink, kept: Callable[[], Collection[Tick]]) -> None:
        """A retry, or a restart within the tick: nothing counts twice, and what is not there any more is gone."""
        sink.append([SECOND, OTHERS])
        sink.append([SECOND])
        assert sorted(kept()) == [tick_of(SECOND)]

    def test_a_tick_without_jobs_is_no_error(self, sink: SampleSink, kept: Callable[[], Collection[Tick]]) -> None:
        """A cluster may be empty."""
        sink.append([])
        assert not kept()


class DecisionSinkSuite:
    """The contract of `headgate.ports.DecisionSink`, one behaviour a test."""

    @pytest.fixture
    def sink(self) -> DecisionSink:
        """Give an empty sink; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def kept(self, sink: DecisionSink) -> Callable[[], Collection[Decision]]:
        """Give what lists the decisions that the sink holds, each once."""
        raise NotImplementedError

    def test_every_decision_is_kept_whole(self, sink: DecisionSink, kept: Callable[[], Collection[Decision]]) -> None:
        """Of all jobs of a cycle, each with its trail of steps and the numbers behind it."""
        sink.append_decisions([DECIDED, OF_ANOTHER])
        assert sorted(kept(), key=_job) == sorted([DECIDED, OF_ANOTHER], key=_job)

    def test_a_cycle_again_replaces_the_first(
        self, sink: DecisionSink, kept: Callable[[], Collection[Decision]]
    ) -> None:
        """A second call for the same cycle leaves what it brings, once."""
        sink.append_decisions([DECIDED, OF_ANOTHER])
        sink.append_decisions([replace(DECIDED, message="again")])
        assert [decision.message for decision in kept()] == ["again"]

    def test_a_cycle_without_jobs_is_no_error(
        self, sink: DecisionSink, kept: Callable[[], Collection[Decision]]
    ) -> None:
        """There may be none to decide for."""
        sink.append_decisions([])
        assert not kept()


DECIDED = material.rescale()[0]
OF_ANOTHER = replace(DECIDED, id="d2", job=material.OTHER)


def tick_of(sample: JobSample) -> Tick:
    """Tell what a sample is kept under."""
    return str(sample.job), sample.at


def _job(decision: Decision) -> bool:
    return decision.job == ORDERS
