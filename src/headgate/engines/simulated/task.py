"""
A running vertex as a fluid: what its subtasks together read, write and do in one step.

Mass is kept exactly: what is read leaves a queue, and what it makes enters the next ones, in the same step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headgate.engines.simulated.backlog import Backlog, backlog_of
from headgate.engines.simulated.graph import SimulatedEdge, SimulatedVertex
from headgate.engines.simulated.load import Arrivals
from headgate.model.topology import ShipStrategy

_WHOLE = 1 - 1e-9
"""Shares of a record that rounding may take are no back-pressure."""


@dataclass(slots=True, kw_only=True, eq=False)
class Channel:
    """The buffers of one edge."""

    edge: SimulatedEdge
    selectivity: float
    queued: float = 0.0
    room: float = 0.0
    """Records that fit in altogether."""
    copies: int = 1
    """How many subtasks each record goes to."""
    at_checkpoint: float = 0.0


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counters since the last start of the vertex; times in ms."""

    records_in: float = 0.0
    records_out: float = 0.0
    busy_ms: float = 0.0
    """Over all subtasks, as the next two."""
    idle_ms: float = 0.0
    backpressured_ms: float = 0.0
    hottest_ms: float = 0.0
    """Of the busiest subtask alone."""
    coldest_ms: float = 0.0
    """Of the idlest subtask alone."""
    run_ms: float = 0.0
    """Time that each subtask has run."""


@dataclass(slots=True, kw_only=True)
class Ledger:
    """What is counted over the whole simulation, restarts or not."""

    arrived: float = 0.0
    read: float = 0.0
    busy_s: float = 0.0
    """Over all subtasks."""
    subtask_s: float = 0.0
    """Time that subtasks ran, over all of them."""


@dataclass(slots=True, kw_only=True, eq=False)
class Task:
    """A vertex at its present parallelism."""

    spec: SimulatedVertex
    inputs: list[Channel] = field(default_factory=list)
    outputs: list[Channel] = field(default_factory=list)
    arrivals: Arrivals | None = None
    """None unless it is a source."""
    backlog: Backlog | None = None
    parallelism: int = 1
    epoch: int = -1
    """How often its counters started from 0, counted from 0."""
    tally: Tally = field(default_factory=Tally)
    ledger: Ledger = field(default_factory=Ledger)
    down_until_s: float = 0.0
    finished: bool = False
    speed: float = 1.0
    """What it manages from its next start on, as a share of what it could."""
    _even: float = 0.0
    _capacity: float = 0.0
    _hottest: float = 1.0
    _coldest: float = 1.0

    def start(self, parallelism: int, step_s: float) -> None:
        """Start anew with so many subtasks; what is queued stays."""
        spec = self.spec
        self.parallelism = parallelism
        self.tally = Tally()
        self.epoch += 1
        self._hottest = spec.hottest_share(parallelism)
        self._coldest = spec.coldest_share(parallelism)
        self._capacity = spec.capacity_per_s(parallelism) * self.speed
        # what is limited from outside waits for the answer: the limit makes its subtasks busy, not idle
        self._even = self._capacity * parallelism * self._hottest
        room = spec.buffer_records or spec.buffer.total_seconds() * self._even
        for channel in self.inputs:
            channel.room = max(room, self._even * step_s)
            channel.copies = parallelism if channel.edge.ship is ShipStrategy.BROADCAST else 1
        if self.backlog is not None:
            self.backlog.spread(parallelism)

    def follow(self, old: Task) -> None:
        """Go on where the same vertex of another submission stood: with what waits for it, and what was counted."""
        self.ledger = old.ledger
        queued = {channel.edge.source: channel.queued for channel in old.inputs}
        for channel in self.inputs:
            channel.queued = queued.get(channel.edge.source, 0.0)
        if self.backlog is not None and old.backlog is not None and self.spec.partitions == old.spec.partitions:
            self.backlog = old.backlog

    def arrive(self, at_s: float, step_s: float) -> None:
        """Let a source's load of one step arrive."""
        if self.arrivals is None or self.backlog is None:
            return
        records = self.arrivals.rate_per_s(at_s + step_s / 2) * step_s
        if self.spec.records is not None:
            records = min(records, self.spec.records - self.ledger.arrived)
        self.ledger.arrived += records
        self.backlog.offer(records)

    def run(self, step_s: float) -> None:
        """Read, write and count for one step; whatever it writes to has run before it."""
        wanted = self._wanted(step_s)
        read = min(wanted, self._room())
        hottest, coldest = self._take(read)
        for channel in self.outputs:
            channel.queued += read * channel.selectivity * channel.copies
        self._count(read, step_s, hottest=hottest, coldest=coldest, blocked=read < wanted * _WHOLE)

    @property
    def queued(self) -> float:
        """What waits in its buffers."""
        return sum(channel.queued for channel in self.inputs)

    @property
    def lag(self) -> float:
        """What waits in front of a source; 0 for every other vertex."""
        return self.backlog.records if self.backlog is not None else 0.0

    def is_drained(self) -> bool:
        """Tell whether a bounded source has read everything, or nothing is left in the buffers of an inner vertex."""
        if self.backlog is None:
            return self.queued < 1e-6  # noqa: PLR2004 - a millionth of a record is rounding
        return self.spec.records is not None and self.ledger.arrived >= self.spec.records * _WHOLE and self.lag < 1

    def _wanted(self, step_s: float) -> float:
        if self.backlog is not None:
            # each subtask has its own partitions and its own limit: the hottest one holds nobody up
            return self.backlog.readable(self._even * step_s / self.parallelism)
        return min(self._capacity * step_s, self.queued)

    def _room(self) -> float:
        rooms = (
            max(0.0, channel.room - channel.queued) / (channel.selectivity * channel.copies)
            for channel in self.outputs
            if channel.selectivity
        )
        return min(rooms, default=float("inf"))

    def _take(self, read: float) -> tuple[float, float]:
        """Take records out of the queues; return how many the busiest and the idlest subtask got."""
        if self.backlog is not None:
            self.backlog.take(read)
            return self.backlog.hottest, self.backlog.coldest
        queued = self.queued
        left = 1 - read / queued if queued > read else 0.0
        for channel in self.inputs:
            channel.queued *= left
        return read * self._hottest, read * self._coldest

    def _count(self, read: float, step_s: float, *, hottest: float, coldest: float, blocked: bool) -> None:
        tally, ledger, subtasks = self.tally, self.ledger, self.parallelism
        whole_ms = 1000 * step_s
        each = self._even * step_s / subtasks
        busy = min(1.0, read / (each * subtasks)) if each else 0.0
        rest_ms = (1 - busy) * whole_ms * subtasks
        tally.records_in += read
        tally.records_out += read * sum(channel.selectivity for channel in self.outputs)
        tally.busy_ms += busy * whole_ms * subtasks
        tally.backpressured_ms += rest_ms if blocked else 0.0
        tally.idle_ms += 0.0 if blocked else rest_ms
        tally.hottest_ms += min(1.0, hottest / each) * whole_ms if each else 0.0
        tally.coldest_ms += min(1.0, coldest / each) * whole_ms if each else 0.0
        tally.run_ms += whole_ms
        ledger.read += read
        ledger.busy_s += busy * step_s * subtasks
        ledger.subtask_s += step_s * subtasks


def task_of(vertex: SimulatedVertex, *, is_source: bool, seed: str) -> Task:
    """Make the task of a vertex, not started yet and connected to nothing."""
    if not is_source:
        return Task(spec=vertex)
    return Task(spec=vertex, arrivals=Arrivals(vertex.load, f"{seed}/{vertex.name}"), backlog=backlog_of(vertex))


def connect(upstream: Task, downstream: Task, edge: SimulatedEdge) -> None:
    """Lay a channel between two tasks."""
    selectivity = upstream.spec.selectivity if edge.selectivity is None else edge.selectivity
    channel = Channel(edge=edge, selectivity=selectivity)
    upstream.outputs.append(channel)
    downstream.inputs.append(channel)
