"""One job's past, put together from its rows of the log: each decision with all that it depended on."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from headgate.control.observation import Observation
from headgate.model.decision import Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import SUBUNIT, JobMeasure
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import VersionedState
from headgate.model.topology import Topology
from headgate.ports import Circumstances
from headgate.samplelog.circumstances import as_of, read_circumstances
from headgate.samplelog.layout import epoch_ms, instant
from headgate.samplelog.rows import Row, read_decision, read_signals, read_topology
from headgate.samplelog.windows import vertex_sample

Rows = Sequence[Row]

TWICE = "two processes decided for it in this tick"
UNRECORDED = "what it depended on is not in the log"
UNREADABLE = "another version of Headgate kept what it depended on"
NO_SAMPLE = "the sample that it went by is not in the log"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A decision as the log has it; read only when somebody looks into it."""

    row: Row

    @property
    def at(self) -> datetime:
        """When it was made."""
        return instant(self.row["at_ms"])

    @cached_property
    def decision(self) -> Decision:
        """The whole decision."""
        return read_decision(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One decision that was made, and what it depended on beside the window."""

    recorded: Recorded
    circumstances: Circumstances
    seen: Observation

    @property
    def held(self) -> VersionedState:
        """The job's state as the cycle found it."""
        return VersionedState(state=self.circumstances.state, version=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A decision that cannot be made again."""

    recorded: Recorded
    why: str


@dataclass(frozen=True, kw_only=True)
class Past:
    """The rows of one job; each table's in any order."""

    job: JobKey
    decisions: Rows
    circumstances: Rows = ()
    vertices: Rows = ()
    jobs: Rows = ()
    signals: Rows = ()
    samples: Rows = ()
    """Of the ticks that decisions went by, at least."""
    _graphs: dict[int, Topology] = field(default_factory=dict, init=False)

    def moments(self) -> Iterator[Moment | Gap]:
        """Give what was decided, oldest first."""
        for at, rows in sorted(_by_tick(self.decisions).items()):
            recorded = Recorded(row=rows[-1])
            yield Gap(recorded=recorded, why=TWICE) if len(rows) > 1 else self._moment(recorded, at)

    def _moment(self, recorded: Recorded, at: int) -> Moment | Gap:
        try:
            place = bisect_right(self._instants, at)
        except ValueError as error:
            return Gap(recorded=recorded, why=f"{UNREADABLE}: {str(error).splitlines()[0]}")
        if not place:
            return Gap(recorded=recorded, why=UNRECORDED)
        known = as_of(self._circumstances[place - 1], recorded.at)
        sample = self._sample(known)
        if sample is None and known.sampled_at is not None and known.problem is None:
            return Gap(recorded=recorded, why=NO_SAMPLE)
        seen = Observation(ctx=known.ctx, sample=sample, since=known.since, problem=known.problem)
        return Moment(recorded=recorded, circumstances=known, seen=seen)

    def _sample(self, known: Circumstances) -> JobSample | None:
        if known.sampled_at is None:
            return None
        at = epoch_ms(known.sampled_at)
        graph, rows = self._graph(at), self._jobs.get(at)
        if graph is None or not rows:
            return None
        return JobSample(
            job=self.job,
            at=known.sampled_at,
            job_id=rows[-1]["job_id"],
            running_since=instant(rows[-1]["running_since_ms"]),
            topology=graph,
            vertices={VertexId(row["vertex"]): vertex_sample(row) for row in self._samples.get(at, ())},
            settings=known.settings or EngineSettings(),
            slots_total=rows[-1]["slots_total"],
            slots_free=rows[-1]["slots_free"],
            values={each: rows[-1][each] / SUBUNIT for each in JobMeasure if rows[-1][each] is not None},
            signals=read_signals(self._signals.get(at, ())),
        )

    def _graph(self, at: int) -> Topology | None:
        """Give the job's graph as it was first seen, or seen again in a new hour, at or before a tick."""
        place = bisect_right(self._graph_instants, at)
        if not place:
            return None
        seen = self._graph_instants[place - 1]
        if seen not in self._graphs:
            self._graphs[seen] = read_topology(self._vertices[seen])
        return self._graphs[seen]

    @cached_property
    def _circumstances(self) -> Sequence[Circumstances]:
        # Of two processes in one tick, the one that begins says everything.
        rows = sorted(self.circumstances, key=lambda row: (row["at_ms"], sum(v is not None for v in row.values())))
        return tuple(read_circumstances(rows))

    @cached_property
    def _instants(self) -> Sequence[int]:
        return [epoch_ms(each.at) for each in self._circumstances]

    @cached_property
    def _vertices(self) -> Mapping[int, list[Row]]:
        return _by_tick(self.vertices)

    @cached_property
    def _graph_instants(self) -> Sequence[int]:
        return sorted(self._vertices)

    @cached_property
    def _jobs(self) -> Mapping[int, list[Row]]:
        return _by_tick(self.jobs)

    @cached_property
    def _samples(self) -> Mapping[int, list[Row]]:
        return _by_tick(self.samples)

    @cached_property
    def _signals(self) -> Mapping[int, list[Row]]:
        return _by_tick(self.signals)


def _by_tick(rows: Rows) -> Mapping[int, list[Row]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        found[row["at_ms"]].append(row)
    return found
