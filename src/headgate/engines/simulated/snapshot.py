"""What a simulated engine measures of a vertex: its counters at an instant, with the noise of the measurement."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace

from headgate.engines.simulated.settings import Conditions
from headgate.engines.simulated.task import Tally, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The counters of one vertex when the engine last took them."""

    at_s: float
    epoch: int
    parallelism: int
    tally: Tally
    lag: float | None
    """None unless the vertex is a source."""


class Gauge:
    """
    Measures one vertex again and again.

    Noise belongs to what a record costs, not to time: busy and idle time trade places, their sum stays exact, and no
    counter ever falls. Records are counted, not measured: they have none.
    """

    def __init__(self, conditions: Conditions, name: str) -> None:
        """Measure nothing yet."""
        self._noise = conditions.measurement_noise
        self._chance = random.Random(f"{conditions.seed}/{name}/measured")  # noqa: S311 - no secret
        self._epoch = -1
        self._true = Tally()
        self._told = Tally()

    def read(self, task: Task, at_s: float) -> Snapshot:
        """Take the counters."""
        lag = task.lag if task.backlog is not None else None
        if self._noise:
            tally = self._blurred(task)
            lag = None if lag is None else lag * max(0.0, self._chance.gauss(1.0, self._noise))
        else:
            tally = replace(task.tally)
        return Snapshot(at_s=at_s, epoch=task.epoch, parallelism=task.parallelism, tally=tally, lag=lag)

    def _blurred(self, task: Task) -> Tally:
        if task.epoch != self._epoch:
            self._epoch, self._true, self._told = task.epoch, Tally(), Tally()
        factor = max(0.0, self._chance.gauss(1.0, self._noise))
        grown = _difference(task.tally, self._true)
        free_ms = grown.busy_ms + grown.idle_ms
        told = replace(task.tally)
        told.busy_ms = self._told.busy_ms + min(grown.busy_ms * factor, free_ms)
        told.idle_ms = self._told.idle_ms + free_ms - min(grown.busy_ms * factor, free_ms)
        told.hottest_ms = self._told.hottest_ms + min(grown.hottest_ms * factor, grown.run_ms)
        told.coldest_ms = self._told.coldest_ms + min(grown.coldest_ms * factor, grown.run_ms)
        self._true, self._told = replace(task.tally), told
        return replace(told)


def _difference(now: Tally, before: Tally) -> Tally:
    return Tally(**{each.name: getattr(now, each.name) - getattr(before, each.name) for each in fields(Tally)})
