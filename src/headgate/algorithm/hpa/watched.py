"""One job over the samples of its metric window: which windows may be decided by, what they read, what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from headgate.algorithm.hpa.gate import spacing, windows
from headgate.algorithm.hpa.groups import groups
from headgate.algorithm.hpa.policy import Policy, Recommendation, recommend
from headgate.algorithm.hpa.readings import Group, Reading, reading
from headgate.algorithm.hpa.series import seconds_between, ticks
from headgate.algorithm.hpa.settings import Settings
from headgate.algorithm.stats import Floats
from headgate.model.identity import VertexId
from headgate.model.samples import JobSample
from headgate.model.topology import Topology


@dataclass(frozen=True)
class Watched:
    """A job and the policy for it; a vertex that has finished has no part in it."""

    topology: Topology
    samples: Sequence[JobSample]
    """Oldest first, one at least."""
    settings: Settings
    policy: Policy

    @property
    def is_past_gate(self) -> bool:
        """Whether the window that ends with the latest sample may be decided by."""
        return bool(self._windows) and self._windows[-1][1] == len(self.samples) - 1

    @cached_property
    def groups(self) -> Mapping[VertexId, Group]:
        """Whose numbers decide for each vertex."""
        return groups(self.topology, self.samples, self.settings.scope)

    @cached_property
    def readings(self) -> Mapping[VertexId, Sequence[Reading]]:
        """What each vertex goes by, a reading a window, oldest first."""
        # Vertices of one group share its readings: these are most of the work.
        read = {id(group): self._read(group) for group in self.groups.values()}
        return {vertex: read[id(group)] for vertex, group in self.groups.items()}

    @cached_property
    def recommendations(self) -> Mapping[VertexId, Recommendation]:
        """What the policy recommends for each vertex."""
        since_s = float(self._at_s[self._windows[0][1]]) - self._patience_s
        return {
            vertex: recommend(readings, self.topology.parallelism[vertex], self.policy, since_s=since_s)
            for vertex, readings in self.readings.items()
        }

    @cached_property
    def _at_s(self) -> Floats:
        return ticks(self.samples)

    @property
    def _patience_s(self) -> float:
        """Two late samples leave no gap in what is known."""
        return 2 * spacing(self._at_s)

    @cached_property
    def _windows(self) -> Sequence[tuple[int, int]]:
        began_s = seconds_between(self.samples[0].at, self.samples[-1].running_since)
        found = windows(self._at_s, self.settings.window.total_seconds(), began_s)
        oldest_s = self._at_s[-1] - self.policy.stabilization.longest_s - self._patience_s
        return [(first, last) for first, last in found if self._at_s[last] >= oldest_s]

    def _read(self, group: Group) -> Sequence[Reading]:
        return [reading(group, self._at_s, first, last) for first, last in self._windows]
