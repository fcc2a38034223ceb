"""
What every `ScalingPolicy` must do.

Use: subclass `ScalingPolicySuite` in a test file and define a fixture `policy`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from headgate.model.identity import VertexId
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import ExecutionMode
from headgate.ports import AvailableResources, JobContext, ScalingPolicy
from headgate.testing.builders import context
from headgate.testing.conformance import material
from headgate.testing.conformance.travelling import answered, sent

Question = tuple[JobContext, AvailableResources, Topology, Mapping[VertexId, int]]


class ScalingPolicySuite:
    """The contract of `headgate.ports.ScalingPolicy`, one behaviour a test."""

    @pytest.fixture
    def policy(self) -> ScalingPolicy:
        """Give the policy; every subclass has its own."""
        raise NotImplementedError

    def test_it_gives_parallelisms(self, policy: ScalingPolicy) -> None:
        """Whole numbers of 1 or more, of vertices that the job has, whatever there is; they are held to it again."""
        for question in questions():
            answer = policy.decide(*question)
            assert answer.keys() <= question[2].by_id.keys()
            assert all(parallelism == int(parallelism) >= 1 for parallelism in answer.values())

    def test_it_grows_with_the_slots(self, policy: ScalingPolicy) -> None:
        """With many it uses more than with one, and with more never less."""
        totals = [sum(policy.decide(*question).values()) for question in questions()]
        assert totals == sorted(totals)
        assert totals[-1] > totals[0]

    def test_the_same_question_has_the_same_answer(self, policy: ScalingPolicy) -> None:
        """In whatever order it is asked, as long as nothing outside has changed."""
        forth = [policy.decide(*question) for question in questions()]
        back = [policy.decide(*sent(question)) for question in reversed(list(questions()))]
        assert back == forth[::-1]

    def test_its_answer_travels_to_another_process(self, policy: ScalingPolicy) -> None:
        """Scaling policies run in a worker process."""
        for question in questions():
            answer = policy.decide(*question)
            assert answered(ScalingPolicy, "decide", answer) == answer

    def test_it_does_what_it_did_when_it_has_been_obeyed(self, policy: ScalingPolicy) -> None:
        """Else it would rescale the job for ever."""
        for ctx, resources, topology, configured in questions():
            answer = policy.decide(ctx, resources, topology, configured)
            assert policy.decide(ctx, resources, topology.with_parallelism(answer), configured) == answer


def questions() -> Iterator[Question]:
    """Ask about a plain job, with one slot and with more and more."""
    ctx = context(options=AutoscalerOptions(execution_mode=ExecutionMode.REACTIVE))
    topology = material.topology()
    for slots in (1, 2, 3, 8, 50):
        resources = AvailableResources(slots=slots, total=slots + 2, workers=slots)
        yield ctx, resources, topology, topology.parallelism
