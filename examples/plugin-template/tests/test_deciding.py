"""Decision plugin, alignment mode and checker keep Headgate's contracts, and do what they are for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.topology import Vertex
from headgate.ports import JobContext, Unrecoverable
from headgate.testing.builders import context
from headgate.testing.conformance import material
from headgate.testing.conformance.alignment_mode import AlignmentModeSuite, asked
from headgate.testing.conformance.decision_plugin import DecisionPluginSuite
from headgate.testing.conformance.error_checker import UnrecoverableErrorCheckerSuite

from headgate_mill.alignment import PowerOfTwo
from headgate_mill.checker import StandstillChecker
from headgate_mill.freeze import ChangeFreeze


class TestChangeFreeze(DecisionPluginSuite):
    """The contract."""

    @pytest.fixture
    def plugin(self) -> ChangeFreeze:
        """Freeze Thursdays: the suite's decision is made on one."""
        return ChangeFreeze({"days": "Thu"})


class TestPowerOfTwo(AlignmentModeSuite):
    """The contract."""

    @pytest.fixture
    def mode(self) -> PowerOfTwo:
        """Give the mode."""
        return PowerOfTwo({})


class TestStandstillChecker(UnrecoverableErrorCheckerSuite):
    """The contract."""

    @pytest.fixture
    def checker(self) -> StandstillChecker:
        """Let a hundred records be a backlog."""
        return StandstillChecker({"lag": "100"})

    @pytest.fixture
    def broken(self) -> tuple[JobContext, EvaluatedMetrics | None]:
        """Let a source do nothing while 5,000 records wait."""
        healthy = material.healthy()
        still = {ScalingMetric.LAG: 5_000.0, ScalingMetric.LOAD: 0.0}
        source = replace(healthy.vertices[material.SOURCE], metrics=still)
        return context(), replace(healthy, vertices={**healthy.vertices, material.SOURCE: source})

    def test_the_evidence_has_the_numbers(
        self, checker: StandstillChecker, broken: tuple[JobContext, EvaluatedMetrics | None]
    ) -> None:
        """Somebody will ask why the job was taken back."""
        assert checker.check(*broken) == Unrecoverable(evidence="source idles (load 0.00) with 5000 records waiting")


def test_a_freeze_ends() -> None:
    """On other days everything passes."""
    decision, change = material.rescale()
    assert ChangeFreeze({"days": "Sat, Sun"}).decide(context(), decision, change) == change


def test_a_day_that_is_none_is_refused() -> None:
    """With the days that there are."""
    with pytest.raises(ValueError, match=r"Caturday is no day\. Hint: write Mon,"):
        ChangeFreeze({"days": "Sat,Caturday"})


@pytest.mark.parametrize(("target", "upper", "aligned"), [(3, 128, 4), (4, 128, 4), (5, 6, 5), (1, 1, 1)])
def test_powers_of_two_within_the_limits(target: int, upper: int, aligned: int) -> None:
    """Upwards, and where that is too much the target stays."""
    vertex = Vertex(id=VertexId("v"), name="v", parallelism=2, max_parallelism=128)
    assert PowerOfTwo({}).align(asked(vertex, target, 1, upper)) == aligned
