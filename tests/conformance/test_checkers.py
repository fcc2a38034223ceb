"""The built-in checkers keep their contract, each with a rescale that it condemns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.metrics import ScalingMetric
from headgate.model.rollback import Aftermath, JobFailure, Run, Trial
from headgate.plugins.checkers import FallsBehind, MemoryPressure, NetworkMemory, NeverRunning, NotReached, RestartLoop
from headgate.testing.builders import at, context
from headgate.testing.conformance import material
from headgate.testing.conformance.error_checker import Seen, UnrecoverableErrorCheckerSuite

HOUR = at(3600)
GC = JobMeasure.GC_PRESSURE


def sick(before: Mapping[JobMeasure, float] | None = None, /, **changes: Any) -> Seen:
    """Give a job whose `work` was to go from 2 to 4 an hour ago, that was well before, and what came after."""
    trial = Trial(
        decision_id="d1",
        began_at=at(0),
        before=Run(job_id="j1", fingerprint="f", parallelism=material.topology().parallelism),
        after={material.WORK: 4},
        values=before or {},
        reached_at=at(60) if before else None,
    )
    running = material.topology().parallelism
    aftermath = Aftermath(trial=trial, now=HOUR, status=JobStatus.RUNNING, running=running)
    return replace(context(), aftermath=replace(aftermath, **changes)), material.healthy()


def failures(text: str) -> tuple[JobFailure, ...]:
    """Give three of them, just now."""
    return (JobFailure(at=HOUR, text=text),) * 3


class TestNetworkMemory(UnrecoverableErrorCheckerSuite):
    """Of too few network buffers."""

    @pytest.fixture
    def checker(self) -> NetworkMemory:
        """Give the checker."""
        return NetworkMemory({})

    @pytest.fixture
    def broken(self) -> Seen:
        """Fail for want of them."""
        return sick(failures=failures("Insufficient number of network buffers: required 2, but only 0 available"))


class TestMemoryPressure(UnrecoverableErrorCheckerSuite):
    """Of too little heap."""

    @pytest.fixture
    def checker(self) -> MemoryPressure:
        """Give the checker."""
        return MemoryPressure({})

    @pytest.fixture
    def broken(self) -> Seen:
        """Collect garbage most of the time."""
        return sick({GC: 0.1}, values={GC: 0.9})


class TestRestartLoop(UnrecoverableErrorCheckerSuite):
    """Of failures."""

    @pytest.fixture
    def checker(self) -> RestartLoop:
        """Give the checker."""
        return RestartLoop({})

    @pytest.fixture
    def broken(self) -> Seen:
        """Fail for whatever reason."""
        return sick(failures=failures("java.lang.IllegalStateException: no"))


class TestNeverRunning(UnrecoverableErrorCheckerSuite):
    """Of a job that is down."""

    @pytest.fixture
    def checker(self) -> NeverRunning:
        """Give the checker."""
        return NeverRunning({})

    @pytest.fixture
    def broken(self) -> Seen:
        """Be restarting all the time."""
        return sick(status=JobStatus.RESTARTING, down_since=at(1))


class TestNotReached(UnrecoverableErrorCheckerSuite):
    """Of a rescale that does not come."""

    @pytest.fixture
    def checker(self) -> NotReached:
        """Give the checker."""
        return NotReached({})

    @pytest.fixture
    def broken(self) -> Seen:
        """Run on as before."""
        return sick(given_up=True)


class TestFallsBehind(UnrecoverableErrorCheckerSuite):
    """Of a scale-down that was too much."""

    @pytest.fixture
    def checker(self) -> FallsBehind:
        """Give the checker."""
        return FallsBehind({})

    @pytest.fixture
    def broken(self) -> Seen:
        """Be behind with the load of before."""
        seen, evaluated = sick({GC: 0.1})
        assert evaluated
        aftermath, before = seen.aftermath, {**material.topology().parallelism, material.WORK: 8}
        assert aftermath
        demand = {material.WORK: evaluated.vertices[material.WORK].metrics[ScalingMetric.TARGET_DATA_RATE]}
        trial = replace(aftermath.trial, demand=demand, before=replace(aftermath.trial.before, parallelism=before))
        running = {**before, material.WORK: 4}
        return replace(seen, aftermath=replace(aftermath, trial=trial, running=running)), replace(
            evaluated, backlog=True
        )


@pytest.mark.parametrize("checker", [NetworkMemory, MemoryPressure, RestartLoop, NeverRunning, NotReached, FallsBehind])
def test_without_a_rescale_under_observation_nothing_is_sick(checker: type[NetworkMemory | FallsBehind]) -> None:
    """Whatever the job does: there is nothing of ours to take back."""
    assert checker().check(context(status=JobStatus.FAILED), None) is False
