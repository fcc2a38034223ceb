"""One reading of a vertex: the latest scrape of each of its subtasks, and what they have counted together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from headgate.engines.flink.counters import Counters
from headgate.engines.flink.gauges import Aggregate, Gauges, records_read
from headgate.engines.flink.numbers import number
from headgate.engines.prometheus.queries import COUNTERS, COUNTS, GAUGES, Quantity
from headgate.engines.prometheus.scrapes import Attempt, Subtasks


@dataclass(frozen=True)
class SubtaskReading:
    """One subtask at its latest scrape."""

    attempt: Attempt
    at_s: float

    @cached_property
    def values(self) -> Mapping[Quantity, float]:
        """What is known of it."""
        return self.attempt.at(self.at_s)

    @cached_property
    def counters(self) -> Counters:
        """What it has counted; of a source without its own input, which takes all subtasks to tell."""
        return _counters(self.values)

    def restarted_since(self, before: SubtaskReading) -> bool:
        """Tell whether it began to count anew, also where no label tells one attempt from the next."""
        if self.attempt.id != before.attempt.id:
            return True
        since = [_counters(self.attempt.at(at_s)) for at_s in self.attempt.times() if at_s > before.at_s]
        return any(later.fell_since(earlier) for earlier, later in pairwise((before.counters, *since)))


@dataclass(frozen=True)
class VertexReading:
    """All subtasks of a vertex, each at its latest scrape."""

    subtasks: tuple[SubtaskReading, ...]

    @property
    def measured_at_ms(self) -> float:
        """The mean of the scrapes: what all have counted together is linear in it where each is in its own."""
        return 1000 * math.fsum(each.at_s for each in self.subtasks) / len(self.subtasks)

    @property
    def longest_ms(self) -> float:
        """How long the oldest subtask had run; 0 when unknown."""
        return max(each.counters.total_ms or 0.0 for each in self.subtasks)

    @property
    def by_index(self) -> Mapping[int, Counters]:
        """What each subtask has counted."""
        return {index: each.counters for index, each in enumerate(self.subtasks)}

    @cached_property
    def gauges(self) -> Gauges:
        """What it counts as a source, and its gauges where they were asked for."""
        known = {metric: list(self._values(quantity)) for quantity, metric in {**COUNTS, **GAUGES}.items()}
        return {metric: _aggregate(values) for metric, values in known.items() if values}

    @cached_property
    def counters(self) -> Counters:
        """What the subtasks have counted together; unknown where one of them does not tell."""
        known = {quantity: self._sum(quantity) for quantity in COUNTERS}
        return _counters({quantity: value for quantity, value in known.items() if value is not None})

    @cached_property
    def counters_of_source(self) -> Counters:
        """The same with what a source has read, see `engines.flink.gauges.records_read`."""
        own = self.counters
        in_task = math.nan if own.records_in is None else own.records_in
        return Counters(
            records_in=number(records_read(in_task, self.gauges)),
            records_out=own.records_out,
            busy_ms=own.busy_ms,
            idle_ms=own.idle_ms,
            backpressured_ms=own.backpressured_ms,
        )

    def is_news_to(self, before: VertexReading, *, wholly: bool) -> bool:
        """Tell whether a subtask was scraped since; `wholly`: every one, as differences need it."""
        newer = [now.at_s > then.at_s for now, then in zip(self.subtasks, before.subtasks, strict=False)]
        return all(newer) if wholly else any(newer)

    def restarted_since(self, before: VertexReading) -> bool:
        """Tell whether a subtask began to count anew, or to tell its times: while a task starts it does not."""
        if len(self.subtasks) != len(before.subtasks):
            return True
        if (self.counters.total_ms is None) != (before.counters.total_ms is None):
            return True
        return any(now.restarted_since(then) for now, then in zip(self.subtasks, before.subtasks, strict=True))

    def _sum(self, quantity: Quantity) -> float | None:
        values = list(self._values(quantity))
        return sum(values) if len(values) == len(self.subtasks) else None

    def _values(self, quantity: Quantity) -> Iterable[float]:
        return (each.values[quantity] for each in self.subtasks if quantity in each.values)


def read_vertex(subtasks: Subtasks, parallelism: int) -> VertexReading | None:
    """
    Take the latest attempt of each subtask.

    Returns:
        None while a subtask was not scraped, or while subtasks are there that do not run any more: what is scraped
        and what Flink says are of different runs.
    """
    latest = {index: found for index, each in subtasks.items() if (found := _latest(each)) is not None}
    if any(index not in latest for index in range(parallelism)):
        return None
    running = tuple(latest.pop(index) for index in range(parallelism))
    oldest_s = min(each.at_s for each in running)
    if any(each.at_s >= oldest_s for each in latest.values()):
        return None
    return VertexReading(running)


def _latest(attempts: Mapping[str, Attempt]) -> SubtaskReading | None:
    scraped = [(times[-1], attempt.number, attempt) for attempt in attempts.values() if (times := attempt.times())]
    if not scraped:
        return None
    at_s, _, attempt = max(scraped, key=lambda each: each[:2])
    return SubtaskReading(attempt, at_s)


def _counters(values: Mapping[Quantity, float]) -> Counters:
    return Counters(
        records_in=values.get(Quantity.RECORDS_IN),
        records_out=values.get(Quantity.RECORDS_OUT),
        busy_ms=values.get(Quantity.BUSY_MS),
        idle_ms=values.get(Quantity.IDLE_MS),
        backpressured_ms=values.get(Quantity.BACKPRESSURED_MS),
    )


def _aggregate(values: list[float]) -> Aggregate:
    total = math.fsum(values)
    return Aggregate(min=min(values), max=max(values), avg=total / len(values), sum=total)
