"""
What every `UnrecoverableErrorChecker` must do.

Use: subclass `UnrecoverableErrorCheckerSuite` in a test file and define the fixtures `checker` and `broken`.
"""

from __future__ import annotations

import pytest

from headgate.model.measures import JobStatus
from headgate.model.metrics import EvaluatedMetrics
from headgate.ports import JobContext, Unrecoverable, UnrecoverableErrorChecker
from headgate.testing.builders import context
from headgate.testing.conformance import material
from headgate.testing.conformance.travelling import answered, sent

Seen = tuple[JobContext, EvaluatedMetrics | None]


class UnrecoverableErrorCheckerSuite:
    """The contract of `headgate.ports.UnrecoverableErrorChecker`, one behaviour a test."""

    @pytest.fixture
    def checker(self) -> UnrecoverableErrorChecker:
        """Give the checker; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def broken(self) -> Seen:
        """Give a job that is beyond recovery by what the checker looks at."""
        raise NotImplementedError

    def test_a_job_beyond_recovery_is_told(self, checker: UnrecoverableErrorChecker, broken: Seen) -> None:
        """As yes, or with the evidence in words."""
        said = checker.check(*broken)
        assert said is True or (isinstance(said, Unrecoverable) and said.evidence)

    def test_a_healthy_job_is_left_alone(self, checker: UnrecoverableErrorChecker) -> None:
        """It runs and is balanced: a rollback would be an outage for nothing."""
        assert checker.check(context(), material.healthy()) is False

    @pytest.mark.parametrize("status", list(JobStatus))
    def test_a_job_without_metrics_is_no_error(self, checker: UnrecoverableErrorChecker, status: JobStatus) -> None:
        """Nothing could be evaluated, in whatever state the job is."""
        assert isinstance(checker.check(context(status=status), None), bool | Unrecoverable)

    def test_the_same_job_has_the_same_answer(self, checker: UnrecoverableErrorChecker, broken: Seen) -> None:
        """Also after it has looked at another one."""
        first = checker.check(*broken)
        checker.check(context(material.OTHER), material.healthy())
        assert checker.check(*sent(broken)) == first

    def test_its_answer_travels_to_another_process(self, checker: UnrecoverableErrorChecker, broken: Seen) -> None:
        """Checkers run in a worker process."""
        said = checker.check(*broken)
        assert answered(UnrecoverableErrorChecker, "check", said) == said
