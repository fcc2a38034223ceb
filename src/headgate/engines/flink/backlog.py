"""
What waits before a source, and how surely that is known.

Flink itself says too little of Kafka: a consumer with usual settings fetches so far ahead that it tells of 0 records
while thousands wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.algorithm.offsets import Positions, fullest_share, lags, starts, without_marks
from headgate.engines.flink.kafka_names import Partition
from headgate.engines.flink.outages import OutageMemory
from headgate.model.lag import LagOrigin
from headgate.model.measures import Measure

IDLES_FROM = 0.01
"""Share of its time from which on a subtask idles now and then, so that it has read all there was."""
_WORKS_LITTLE = 0.5
"""Time of subtasks, all together, up to which each must have waited for half of it: no partition waits for its turn."""
_AWAITED = timedelta(seconds=30)
"""How long end offsets that are not told are waited for, before the connector is asked instead."""
_ASKED_EVERY = timedelta(seconds=10)
"""How often it is asked where partitions begin, as long as that may help."""
_LATELY = timedelta(seconds=60)
"""Over how long what came into a partition counts as its work."""

Ends = Mapping[Partition, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idling:
    """How much a source waits for records."""

    measured: bool
    """Whether it counts that at all; a legacy source does not."""
    share: float | None = None
    """
    Of its time since the look before, 0 to 1, by the subtask that has waited least so far; None when there was none.

    That is mostly the one that waits least now, and may be another one for a while.
    """
    working: float | None = None
    """How many subtasks' time was not spent waiting, all together."""

    def is_at_least(self, share: float) -> bool:
        """Tell whether it is known to wait for such a share of its time."""
        return self.share is not None and self.share >= share


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What waits before a source, as far as it is known."""

    origin: LagOrigin | None
    """None where nothing can be told about a source, not even that something is doubtful."""
    values: Mapping[Measure, float] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class BacklogMemory:
    """What is remembered of a source between two looks, across restarts of its job."""

    origin: LagOrigin | None = None
    outage: OutageMemory = field(default_factory=OutageMemory)
    _by_owner: bool | None = None
    """Whether the latest lag was told by the owner of what is read; None before the first one."""
    _asked_at: datetime | None = None
    _committed: dict[Partition, float] = field(default_factory=dict)
    """The offset up to which each partition was read for good when that was told last."""
    _told: list[tuple[datetime, Ends]] = field(default_factory=list)
    """The ends at the looks of the last minute."""

    def knew_ends(self, at: datetime) -> bool:
        """Tell whether the ends were told until lately."""
        return bool(self._told) and at - self._told[-1][0] <= _AWAITED

    def goes_by(self, found: Backlog) -> bool:
        """Note what is gone by from now on, and tell whether its lag is another one than that before."""
        self.origin = found.origin
        if found.origin is None or Measure.LAG not in found.values:
            return False
        before, self._by_owner = self._by_owner, found.origin.of_owner
        return before not in {None, self._by_owner}

    def changed(self, ends: Ends) -> bool:
        """Tell whether the source reads other partitions than at the look before."""
        return bool(self._told) and self._told[-1][1].keys() != ends.keys()

    def begins_at(self, begins: Ends, positions: Positions[Partition], read: float) -> None:
        """Note where partitions were begun of which nothing is told yet, if that can be inferred."""
        self._committed = {**starts(begins, positions, read), **self._committed}

    def may_ask_for_begins(self, at: datetime, ends: Ends, positions: Positions[Partition]) -> bool:
        """Tell whether it is not known of all partitions how far they were read, and was not asked about lately."""
        lacks = any(
            end > 0 and one not in self._committed and positions.next_of(one) is None for one, end in ends.items()
        )
        if not lacks or (self._asked_at is not None and at - self._asked_at < _ASKED_EVERY):
            return False
        self._asked_at = at
        return True

    def by_offsets(
        self, at: datetime, ends: Ends, positions: Positions[Partition], idling: Idling, *, all_told: bool
    ) -> Backlog:
        """
        Give the backlog by where the partitions end.

        Args:
            at: when the source was measured.
            ends: of the partitions that the source reads, at that instant.
            positions: how far it says that it has read them.
            idling: how much it waits for records.
            all_told: whether it reads all the partitions that its topics have.
        """
        known = self._with_remembered(ends, positions, idling)
        self._remember(at, ends)
        waiting, values = lags(ends, known), dict[Measure, float]()
        if idling.is_at_least(IDLES_FROM):
            # Who waits for records has read them all: what is left are the marks of transactions.
            waiting = without_marks(waiting)
        if all_told:
            values[Measure.ARRIVED] = sum(ends.values())
        if len(waiting) < len(ends):
            return Backlog(origin=LagOrigin.UNKNOWN, values=values)
        values[Measure.LAG] = sum(waiting.values())
        earliest = self._told[0][1]
        share = fullest_share({one: waiting[one] + end - earliest.get(one, end) for one, end in ends.items()})
        if share is not None:
            values[Measure.FULLEST_SHARE] = share
        told = all(positions.emitted.get(one, -1) >= 0 for one, end in ends.items() if end > 0)
        return Backlog(origin=LagOrigin.OFFSETS if told else LagOrigin.COMMITTED, values=values)

    def by_connector(self, at: datetime, lag: float | None, idling: Idling, *, fetches_ahead: bool) -> Backlog:
        """
        Give the backlog as the connector tells it, or as it follows from whether the source idles.

        Two ways to know a lag are not mixed: as long as the ends may be told again soon it is not known.

        Args:
            at: when the source was measured.
            lag: what the connector says; None when it says nothing.
            idling: how much the source waits for records.
            fetches_ahead: whether the connector may fetch so far ahead that it does not see what waits.
        """
        if self.knew_ends(at):
            return Backlog(origin=self.origin)
        idles = idling.is_at_least(IDLES_FROM)
        if lag is None:
            never = LagOrigin.UNKNOWN if idling.measured else None
            return Backlog(origin=LagOrigin.IDLENESS if idles else never)
        doubted = fetches_ahead and idling.measured and not idles
        return Backlog(origin=LagOrigin.DOUBTED if doubted else LagOrigin.CONNECTOR, values={Measure.LAG: lag})

    def _remember(self, at: datetime, ends: Ends) -> None:
        """Keep the newest ends, and a few of the last minute."""
        kept = [each for each in self._told if at - each[0] <= _LATELY]
        if len(kept) > 1 and kept[-1][0] - kept[-2][0] < _LATELY / 6:
            kept.pop()
        self._told = [*kept, (at, ends)]

    def _with_remembered(self, ends: Ends, positions: Positions[Partition], idling: Idling) -> Positions[Partition]:
        """Give the positions with what was known before of partitions of which nothing is told just now."""
        self._committed |= {one: offset for one, offset in positions.committed.items() if offset >= 0}
        if self._told and idling.working is not None and idling.working <= _WORKS_LITTLE:
            # Who waits for records had read all there were at the last look.
            before = self._told[-1][1]
            self._committed |= {
                one: before[one]
                for one in ends
                if one in before and one not in self._committed and positions.next_of(one) is None
            }
        # A topic that was deleted and made anew begins anew.
        self._committed = {one: offset for one, offset in self._committed.items() if offset <= ends.get(one, offset)}
        remembered = {one: offset for one, offset in self._committed.items() if positions.next_of(one) is None}
        return Positions(emitted=positions.emitted, committed={**positions.committed, **remembered})
