"""The built-in alignment modes behind the port, for whoever composes them; the control loop calls their rule itself."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.algorithm import alignment
from headgate.algorithm.alignment import Span
from headgate.algorithm.micro_batch.waves import fewest_cores
from headgate.model.metrics import ScalingMetric
from headgate.model.topology import ShipStrategy
from headgate.ports import AlignmentQuestion


class Balanced:
    """To the next divisor, or to where the largest share gets smaller at least."""

    mode = alignment.AlignmentMode.BALANCED

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters."""

    def is_applicable(self, question: AlignmentQuestion, /) -> bool:
        """Tell whether subtasks have shares at all."""
        return alignment.is_applicable(question.vertex, keyed=ShipStrategy.HASH in question.inputs)

    def align(self, question: AlignmentQuestion, /) -> int:
        """Give the aligned parallelism nearest above the target."""
        vertex = question.vertex
        span = Span(
            current=vertex.parallelism,
            shares=vertex.partitions or vertex.max_parallelism,
            lower=question.lower,
            most=question.upper,
        )
        return alignment.align(question.target, span, self.mode).parallelism


class EvenlySpread(Balanced):
    """To the next divisor only."""

    mode = alignment.AlignmentMode.EVENLY_SPREAD


class Off(Balanced):
    """Not at all."""

    mode = alignment.AlignmentMode.OFF


class Waves:
    """
    To the fewest cores that run a micro-batch's tasks in as few waves: others would idle.

    Into how many tasks a batch is cut tells `NUM_SOURCE_PARTITIONS`; more cores than that are there for other queries.
    """

    mode = "WAVES"

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters."""

    def is_applicable(self, question: AlignmentQuestion, /) -> bool:
        """Tell whether it is known into how many tasks a batch is cut, and that they are no fewer than the cores."""
        return question.target <= _tasks(question)

    def align(self, question: AlignmentQuestion, /) -> int:
        """Give the aligned parallelism, never above the target."""
        return fewest_cores(_tasks(question), question.target)


def _tasks(question: AlignmentQuestion) -> int:
    told = question.metrics.metrics.get(ScalingMetric.NUM_SOURCE_PARTITIONS, 0.0)
    return question.vertex.partitions or int(told)
