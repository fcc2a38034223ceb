"""Changing, forbidding and recording decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headgate.model.decision import ConfigChanges, Decision
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, VertexMetrics
from headgate.model.rollback import Shortage
from headgate.model.topology import ShipStrategy, Vertex
from headgate.ports.jobs import JobContext


class DecisionSink(Protocol):
    """Takes what a cycle decided, for `explain` and the reports."""

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """
        Keep the decisions of one cycle, all of one `at`; a second call for the same cycle replaces the first.

        Raises:
            TransientError: they could not be written; nothing of the cycle was kept.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a rescale changes: parallelism by vertex, and configuration with it."""

    parallelism: Mapping[VertexId, int]
    """Of the vertices that change."""
    config: ConfigChanges = field(default_factory=ConfigChanges)


class DecisionPlugin(Protocol):
    """
    Changes or forbids a rescale that is about to be made; a chain, ordered by `priority`, the lowest first.

    What it gives is a wish that goes through the same rules as what Headgate decides itself, the job's quota at last.
    """

    priority: int

    def decide(self, ctx: JobContext, decision: Decision, change: Change, /) -> Change | None:
        """Give the change as it should be made; None or one without parallelism and configuration forbids it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentQuestion:
    """What an alignment mode knows of a vertex that is about to change."""

    vertex: Vertex
    target: int
    """Parallelism wanted, within the limits."""
    lower: int
    upper: int
    inputs: tuple[ShipStrategy, ...]
    metrics: VertexMetrics


class AlignmentMode(Protocol):
    """
    Moves a parallelism to one at which subtasks have equal shares.

    Selected by `scaling.parallelism-alignment.mode`.
    """

    def is_applicable(self, question: AlignmentQuestion, /) -> bool:
        """Tell whether the vertex is aligned at all."""

    def align(self, question: AlignmentQuestion, /) -> int:
        """Give the aligned parallelism; it is held to the limits again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrecoverable:
    """A job that will not recover by itself, with the evidence."""

    evidence: str
    """One sentence with the numbers."""
    shortage: Shortage | None = None
    """The memory of which its TaskManagers have too little, where that is it: then more is asked for first."""


class UnrecoverableErrorChecker(Protocol):
    """Says whether a job that was rescaled is beyond recovery (FLINK-37411)."""

    def check(self, ctx: JobContext, evaluated: EvaluatedMetrics | None, /) -> bool | Unrecoverable:
        """Tell whether it is; `evaluated` is None for a job that could not be evaluated."""
