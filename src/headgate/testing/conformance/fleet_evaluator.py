"""
What every `FleetEvaluator` must do.

Use: subclass `FleetEvaluatorSuite` in a test file and define a fixture `evaluator_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import Candidate, FleetEvaluator
from headgate.testing.conformance import material
from headgate.testing.conformance.travelling import sent

EvaluatorOf = Callable[[Sequence[Sequence[JobSample]]], FleetEvaluator]
"""Makes an evaluator over ticks, each the samples of one instant, the oldest first."""

Answers = Mapping[JobKey, EvaluatedMetrics | NotReady]

WINDOW = timedelta(minutes=5)
OPTIONS = AutoscalerOptions(metrics_window=WINDOW, stabilization_interval=timedelta())


class FleetEvaluatorSuite:
    """The contract of `headgate.ports.FleetEvaluator`, one behaviour a test."""

    @pytest.fixture
    def evaluator_of(self) -> EvaluatorOf:
        """Give what makes an evaluator over ticks; every subclass has its own. Ticks are 10 seconds apart."""
        raise NotImplementedError

    @pytest.fixture
    def evaluator(self, evaluator_of: EvaluatorOf) -> FleetEvaluator:
        """Give an evaluator over five minutes of three jobs under different load."""
        return evaluator_of(FLEET)

    @pytest.fixture
    def together(self, evaluator: FleetEvaluator) -> Answers:
        """Give its answers for all of them."""
        return evaluator.evaluate(CANDIDATES, material.NOW)

    def test_every_candidate_gets_an_answer(self, together: Answers) -> None:
        """Each under its key, and no others."""
        assert together.keys() == {one.sample.job for one in CANDIDATES}
        assert all(isinstance(answer, EvaluatedMetrics) for answer in together.values())

    def test_a_job_without_samples_is_not_ready(self, evaluator: FleetEvaluator, together: Answers) -> None:
        """It gets an answer as well, and takes nothing from the others."""
        unseen = JobKey("prod", "unseen")
        stranger = replace(CANDIDATES[0], sample=replace(CANDIDATES[0].sample, job=unseen))
        answers = dict(evaluator.evaluate([*CANDIDATES, stranger], material.NOW))
        assert isinstance(answers.pop(unseen), NotReady)
        assert answers == together

    def test_the_batch_changes_nothing(self, evaluator: FleetEvaluator, together: Answers) -> None:
        """Alone or among others, in any order, at the first time or the second: the same to the last bit."""
        assert evaluator.evaluate(CANDIDATES[::-1], material.NOW) == together
        first = CANDIDATES[0]
        assert evaluator.evaluate([first], material.NOW) == {first.sample.job: together[first.sample.job]}

    def test_the_order_of_samples_changes_nothing(self, evaluator_of: EvaluatorOf, together: Answers) -> None:
        """The jobs of a tick come in any order."""
        turned = evaluator_of([tick[::-1] for tick in FLEET])
        assert turned.evaluate(CANDIDATES, material.NOW) == together

    def test_what_lies_outside_the_window_does_not_count(
        self, evaluator: FleetEvaluator, evaluator_of: EvaluatorOf
    ) -> None:
        """Neither before its begin nor after now."""
        late, until = material.NOW - timedelta(minutes=3), material.NOW - timedelta(minutes=1)
        narrow = [replace(one, window_from=late) for one in CANDIDATES]
        only = evaluator_of([tick for tick in FLEET if late <= tick[0].at <= until])
        assert evaluator.evaluate(narrow, until) == only.evaluate(narrow, until)

    def test_no_candidates_is_no_error(self, evaluator: FleetEvaluator) -> None:
        """A fleet may be empty."""
        assert not evaluator.evaluate([], material.NOW)

    def test_its_answers_travel_to_another_process(self, together: Answers) -> None:
        """They hold values and nothing else."""
        assert sent(dict(together)) == together


_SERIES = [material.watched(rate=100.0 * number, job=JobKey("prod", f"job-{number}")).samples for number in range(1, 4)]
FLEET: Sequence[Sequence[JobSample]] = list(zip(*_SERIES, strict=True))
CANDIDATES: Sequence[Candidate] = [
    Candidate(sample=sample, options=OPTIONS, window_from=material.NOW - WINDOW) for sample in FLEET[-1]
]
