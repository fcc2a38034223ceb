"""
What every `AlignmentMode` must do.

Use: subclass `AlignmentModeSuite` in a test file and define a fixture `mode`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headgate.model.identity import VertexId
from headgate.model.metrics import VertexMetrics
from headgate.model.topology import ShipStrategy, Vertex
from headgate.ports import AlignmentMode, AlignmentQuestion
from headgate.testing.conformance.travelling import sent

_UNKNOWN = VertexMetrics(metrics={}, needed_capacity=None, factor=None, outside=True)


class AlignmentModeSuite:
    """The contract of `headgate.ports.AlignmentMode`, one behaviour a test."""

    @pytest.fixture
    def mode(self) -> AlignmentMode:
        """Give the mode; every subclass has its own."""
        raise NotImplementedError

    def test_it_says_what_it_is_for(self, mode: AlignmentMode) -> None:
        """Yes or no for any vertex, and yes for one at least."""
        answers = [mode.is_applicable(question) for question in questions()]
        assert all(isinstance(answer, bool) for answer in answers)
        assert any(answers)

    def test_it_gives_a_parallelism(self, mode: AlignmentMode) -> None:
        """A whole number of 1 or more; it is held to the limits again."""
        for question in applicable(mode):
            found = mode.align(question)
            assert isinstance(found, int), question
            assert found >= 1, question

    def test_the_same_question_has_the_same_answer(self, mode: AlignmentMode) -> None:
        """In whatever order it is asked."""
        forth = [mode.align(question) for question in applicable(mode)]
        back = [mode.align(sent(question)) for question in reversed(list(applicable(mode)))]
        assert back == forth[::-1]


def applicable(mode: AlignmentMode) -> Iterator[AlignmentQuestion]:
    """Give the questions that the mode is asked."""
    return (question for question in questions() if mode.is_applicable(question))


def questions() -> Iterator[AlignmentQuestion]:
    """Ask about keyed vertices and sources, growing and shrinking, with much room and with none."""
    for key_groups, partitions in ((128, None), (97, None), (1, None), (128, 12), (128, 7)):
        for running in (1, 4):
            vertex = Vertex(
                id=VertexId("v"),
                name="v",
                parallelism=min(running, key_groups),
                max_parallelism=key_groups,
                partitions=partitions,
            )
            for target in (1, 3, 5, 12, 100):
                yield asked(vertex, min(target, vertex.largest), 1, vertex.largest)
                yield asked(vertex, min(target, vertex.largest), min(target, vertex.largest), vertex.largest)


def asked(vertex: Vertex, target: int, lower: int, upper: int) -> AlignmentQuestion:
    """Ask about one vertex of which nothing else is known."""
    inputs = () if vertex.partitions else (ShipStrategy.HASH,)
    return AlignmentQuestion(vertex=vertex, target=target, lower=lower, upper=upper, inputs=inputs, metrics=_UNKNOWN)
