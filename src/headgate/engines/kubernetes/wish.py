"""What is to be written into a job's resource, from what is wished, what is written, and what Flink has heard of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.engines.kubernetes.paths import Managed
from headgate.engines.kubernetes.resources import FlinkResource
from headgate.errors import ConflictError, OvertakenError, RefusedError
from headgate.model.identity import VertexId
from headgate.model.state import Intent
from headgate.model.topology import Vertex

NOBODY = VertexId(f"{1:032x}")
"""A vertex that no job has: its number is changed where the operator must look at the others again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The parallelism wished for some vertices of a job."""

    of: Mapping[VertexId, int]
    """Without vertices that the job does not have, or that are excluded."""
    graph: tuple[Vertex, ...]
    required: Mapping[VertexId, int]
    """What Flink is asked to run each vertex at."""
    job: Managed
    obstacle: str
    """Why the operator would not change it in place; empty when it would."""
    settled: bool
    """Whether Flink has heard what it will hear of what is written."""
    excluded: frozenset[str]

    @property
    def resource(self) -> FlinkResource:
        """Where it is written."""
        return self.job.resource

    @property
    def is_written(self) -> bool:
        """Whether the resource says it already; where it says nothing, what Flink is asked for counts."""
        return {vertex: self.resource.overrides.get(vertex, self.required[vertex]) for vertex in self.of} == self.of

    @property
    def is_heard(self) -> bool:
        """Whether Flink has been asked for it."""
        return {vertex: self.required[vertex] for vertex in self.of} == self.of

    @property
    def whole(self) -> Mapping[VertexId, int]:
        """
        All that is to be written: every vertex, for one that is left out makes the operator redeploy the job.

        What Flink is asked for is taken for the vertices that do not change, unless it has yet to hear what is written.
        """
        written = self.resource.overrides
        first, then = (written, self.required) if self.settled else (self.required, written)
        known = {**first, **then}
        others = {vertex.id: known[vertex.id] for vertex in self.graph if self._may_be_written(vertex)}
        return {**written, **others, **self.of}

    @property
    def again(self) -> Mapping[VertexId, int]:
        """The same with another number for nobody: the operator sends what it finds missing when the text changes."""
        return {**self.whole, NOBODY: self.resource.overrides.get(NOBODY, 0) % 2 + 1}

    def check(self) -> None:
        """
        Refuse what the operator would take without complaint, and then redeploy the job because Flink does not.

        Raises:
            RefusedError: a number is none that its vertex can have.
        """
        known = {vertex.id: vertex for vertex in self.graph}
        for vertex, number in self.of.items():
            most = known[vertex].max_parallelism
            if not 1 <= number <= most:
                message = f"{known[vertex].name} cannot have {number}: from 1 to its maximum parallelism {most}"
                raise RefusedError(message)

    def confirm(self, intent: Intent) -> None:
        """
        Raise where a vertex is neither where the intent began nor on the way to its end.

        Raises:
            OvertakenError: somebody else asked for something since, and the intent would take a rescale back.
            ConflictError: likewise of any other intent, by how the job runs.
        """
        back = intent.takes_back is not None
        running = {vertex.id: vertex.parallelism for vertex in self.graph}
        # How a job that is sick ran last is no sign of what it was asked for.
        seen = {**self.required, **self.resource.overrides} if back else running
        for vertex, after in intent.after.items():
            before, present = intent.before[vertex], seen.get(vertex, after)
            if not min(before, after) <= present <= max(before, after):
                name = intent.names.get(vertex, vertex)
                message = f"{name} has {present}, not from {before} to {after}: nothing was asked for"
                raise OvertakenError(message) if back else ConflictError(message)

    def _may_be_written(self, vertex: Vertex) -> bool:
        return not vertex.finished and (vertex.id not in self.excluded or vertex.id in self.resource.overrides)
