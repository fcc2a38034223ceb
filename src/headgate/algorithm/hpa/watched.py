"""One job over the samples of its metric window: which windows may be decided by, what they read, what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from headgate.algorithm.hpa.gate import patience, resumed, windows
from headgate.algorithm.hpa.groups import groups
from headgate.algorithm.hpa.policy import Policy, Recommendation, recommend
from headgate.algorithm.hpa.readings import Group, Reading, reading
from headgate.algorithm.hpa.series import Track, track
from headgate.algorithm.hpa.settings import Settings
from headgate.algorithm.series import seconds_between, ticks
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
        return groups(self.topology, self.tracks, self.settings.scope)

    @cached_property
    def tracks(self) -> Mapping[VertexId, Track]:
        """Each vertex through the samples, in topological order."""
        live = [vertex for vertex in self.topology.vertices if not vertex.finished]
        return {vertex.id: track(vertex.id, vertex.parallelism, self.samples) for vertex in live}

    @cached_property
    def own(self) -> Mapping[VertexId, Reading]:
        """What the latest window tells of each vertex by itself, whoever's numbers decide."""
        latest = self._windows[-1]
        alone = {vertex: Group(sources=(own,), members=(own,)) for vertex, own in self.tracks.items()}
        return {vertex: reading(group, self._at_s, *latest) for vertex, group in alone.items()}

    @cached_property
    def readings(self) -> Mapping[VertexId, Sequence[Reading]]:
        """What each vertex goes by, a reading a window, oldest first."""
        # Vertices of one group share its readings: these are most of the work.
        read = {id(group): self._read(group) for group in self.groups.values()}
        return {vertex: read[id(group)] for vertex, group in self.groups.items()}

    @cached_property
    def recommendations(self) -> Mapping[VertexId, Recommendation]:
        """What the policy recommends for each vertex."""
        ends_s = self._at_s[[last for _, last in self._windows]]
        since_s = resumed(ends_s, self._patience_s) - self._patience_s
        return {
            vertex: recommend(readings, self.topology.parallelism[vertex], self.policy, since_s=since_s)
            for vertex, readings in self.readings.items()
        }

    @cached_property
    def _at_s(self) -> Floats:
        return ticks(self.samples)

    @cached_property
    def _patience_s(self) -> float:
        return patience(self._at_s, self._length_s)

    @property
    def _length_s(self) -> float:
        return self.settings.window.total_seconds()

    @cached_property
    def _windows(self) -> Sequence[tuple[int, int]]:
        began_s = seconds_between(self.samples[0].at, self.samples[-1].running_since)
        found = windows(self._at_s, self._length_s, began_s)
        oldest_s = self._at_s[-1] - self.policy.stabilization.longest_s - self._patience_s
        return [(first, last) for first, last in found if self._at_s[last] >= oldest_s]

    def _read(self, group: Group) -> Sequence[Reading]:
        return [reading(group, self._at_s, first, last) for first, last in self._windows]
