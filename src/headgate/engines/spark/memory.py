"""What is remembered of one query between samples: counters, costs, and how its stages are laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import isfinite

from headgate.algorithm.micro_batch.fit import CostFit, QueryCosts, StageCost
from headgate.algorithm.micro_batch.waves import wave_share
from headgate.engines.spark.application import BegunBatch
from headgate.engines.spark.progress import BELOW_LIMIT
from headgate.model.measures import Measure
from headgate.model.micro_batch import MicroBatch

_MS = timedelta(milliseconds=1)
_SETTLED = 3
"""Batches in a row that have another number of stages until that is what the query has."""
_RECENT = 10
_EPOCHS = 2**31
"""They are written as 32 bits: seconds fit until 2038, and are another number all the same after that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMemory:
    """A value: each batch gives a new one. Counters go on across restarts of the query, in another epoch."""

    latest: MicroBatch
    epoch: int = 0
    rows: int = 0
    busy_ms: tuple[float, ...] = ()
    """Task time of each stage."""
    known_stages: int = 0
    """How many the query has; 0 until a batch had rows."""
    unlike: int = 0
    """Batches in a row that had another number of stages."""
    load: float = 0.0
    fit: CostFit = field(default_factory=CostFit)
    costs: QueryCosts | None = None
    """What the fit has learnt; None before the first batch that counts."""
    durations: tuple[timedelta, ...] = ()
    """Of the latest batches that did not warm up, oldest first."""
    predicted: timedelta | None = None
    """How long the latest batch should have taken by what was known before it; None: nothing was."""

    def noting(self, batch: MicroBatch) -> QueryMemory:
        """Take in the batch after the latest one."""
        known = replace(
            self,
            latest=batch,
            epoch=self.epoch + (not _follows(batch, self.latest)),
            rows=self.rows + batch.rows,
            load=_load(batch, self.latest),
            durations=(*self.durations, *_usual(batch))[-_RECENT:],
            predicted=predicted(self.costs, batch) if self.costs else None,
        )
        return _laid_out(known, batch)

    @classmethod
    def begun(cls, batch: MicroBatch) -> QueryMemory:
        """Begin with the first batch that was seen, in an epoch of its own: others were counted before, in the log."""
        epoch = int(batch.started_at.timestamp()) % _EPOCHS
        begun = cls(latest=batch, epoch=epoch, rows=batch.rows, load=_load(batch, None), durations=_usual(batch))
        return _laid_out(begun, batch)

    @property
    def stages(self) -> int:
        """How many vertices the query is."""
        return max(self.known_stages, 1)

    @property
    def period(self) -> timedelta:
        """How far apart new values usually are at most, by the latest batches; a quarter may have been longer."""
        durations = sorted(self.durations) or [self.latest.duration]
        return max(self.latest.interval or timedelta(), durations[3 * len(durations) // 4])

    def measures(self, stage: int) -> Mapping[Measure, float]:
        """Give what is known of a stage; what concerns the whole query stands on its first."""
        known = self.costs.stages if self.costs else ()
        cost = known[stage] if stage < len(known) else None
        own = {Measure.ACCUMULATED_BUSY_TIME: self.busy_ms[stage], Measure.LOAD: self.load, **_of_stage(cost)}
        return own if stage else {**own, **self._of_query()}

    def anticipating(self, begun: BegunBatch) -> QueryMemory:
        """Give what is known once the batch after the latest one was planned: what has come, and what waits."""
        latest, lag = self.latest, begun.lag
        # A batch as large as it may be leaves the source's own word in doubt that nothing waits.
        full = latest.limit is not None and begun.rows >= BELOW_LIMIT * latest.limit
        if lag.rows is not None and not (full and lag.rows == 0):
            latest = replace(latest, lag=lag.rows, lag_origin=lag.origin)
        return replace(self, rows=self.rows + round(begun.rows), latest=latest)

    def _of_query(self) -> Mapping[Measure, float]:
        batch, costs = self.latest, self.costs
        known: dict[Measure, float | None] = {
            Measure.NUM_RECORDS_IN: float(self.rows),
            Measure.LAG: batch.lag,
            Measure.LAG_ORIGIN: float(batch.lag_origin),
            Measure.BATCH_DURATION: batch.duration / _MS,
            Measure.BATCH_INTERVAL: batch.interval / _MS if batch.interval else None,
            Measure.BATCH_LIMIT: None if batch.limit is None else float(batch.limit),
            Measure.BATCH_OVERHEAD: costs.overhead_ms if costs else None,
            Measure.BATCH_OVERHEAD_ERROR: costs.overhead_error_ms if costs else None,
            Measure.BATCH_PLANNING: costs.planning_ms if costs else None,
            Measure.BATCH_ROWS: costs.rows if costs else None,
        }
        return {measure: value for measure, value in known.items() if value is not None}


def _usual(batch: MicroBatch) -> tuple[timedelta, ...]:
    """Give what a batch says about how long the next ones take; one that warms up says nothing."""
    return () if batch.warming else (batch.duration,)


def _laid_out(memory: QueryMemory, batch: MicroBatch) -> QueryMemory:
    """Count a batch's task times to stages, and learn from it where it is like those before it."""
    count, known = len(batch.stages), memory.known_stages
    unlike = memory.unlike + 1 if batch.rows and count not in {0, known} else 0
    is_new = unlike >= (_SETTLED if known else 1)
    after = replace(memory, known_stages=count if is_new else known, unlike=0 if is_new else unlike)
    learns = bool(count) and (count == after.known_stages or not batch.rows)
    fit = memory.fit.noting(batch) if learns else memory.fit
    return replace(
        after,
        busy_ms=_added(memory.busy_ms, batch, after.stages),
        fit=fit,
        costs=fit.costs if learns else memory.costs,
        epoch=memory.epoch + (after.stages != memory.stages),
    )


def predicted(costs: QueryCosts, batch: MicroBatch) -> timedelta | None:
    """Give how long a batch takes by the formula of `QueryCosts`; None where it is not known well enough to tell."""
    if not isfinite(costs.overhead_error_ms) or not all(isfinite(stage.row_error_us) for stage in costs.stages):
        return None
    ms = costs.overhead_ms + sum(
        (stage.overhead_ms + batch.rows * stage.row_us / 1000) * float(wave_share(stage.tasks, batch.cores))
        for stage in costs.stages
    )
    return timedelta(milliseconds=ms)


def is_known(batch: MicroBatch, before: MicroBatch) -> bool:
    """Tell whether a batch was told of before."""
    return batch.started_at <= before.started_at


def _follows(batch: MicroBatch, before: MicroBatch) -> bool:
    """Tell whether the rate between two batches means anything: a restart may skip rows, and reports may be missed."""
    return batch.run_id == before.run_id and batch.batch_id == before.batch_id + 1


def _load(batch: MicroBatch, before: MicroBatch | None) -> float:
    """Give the share of the time between triggers that a batch takes."""
    span = batch.interval or (batch.started_at - before.started_at if before else timedelta())
    return min(1.0, batch.duration / span) if span else 1.0


def _added(busy_ms: tuple[float, ...], batch: MicroBatch, stages: int) -> tuple[float, ...]:
    """Add a batch's task times to those of the same stages; what is beyond the last stage counts to it."""
    sums = [*busy_ms[:stages], *[0.0] * (stages - len(busy_ms))]
    for index, stage in enumerate(batch.stages):
        sums[min(index, stages - 1)] += stage.task_time / _MS
    return tuple(sums)


def _of_stage(cost: StageCost | None) -> Mapping[Measure, float]:
    if cost is None:
        return {}
    return {
        Measure.TASKS: float(cost.tasks),
        Measure.ROW_COST: cost.row_us,
        Measure.ROW_COST_ERROR: cost.row_error_us,
        Measure.TASK_OVERHEAD: cost.overhead_ms,
    }
