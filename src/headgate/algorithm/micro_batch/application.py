"""One application over the samples of its window: what comes to its queries, what they can do, what they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from headgate.algorithm.batch import Tuning
from headgate.algorithm.capacity import Demand, band, needed_capacity
from headgate.algorithm.fleet import tuning
from headgate.algorithm.micro_batch.capacity import Pace, capacity
from headgate.algorithm.micro_batch.learnt import Learnt, learnt, paces
from headgate.algorithm.micro_batch.need import Ends, Need, Wish, need
from headgate.algorithm.micro_batch.queries import Query, queries
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.stats import Bools, Floats, Ints
from headgate.model.samples import JobSample
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True)
class Application:
    """An application whose vertices all run on the same cores."""

    topology: Topology
    samples: Sequence[JobSample]
    """Oldest first, one at least."""
    options: AutoscalerOptions

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """Those that still run."""
        return queries(self.topology, self.samples)

    @property
    def running(self) -> int:
        """Cores that there are."""
        return max(vertex.parallelism for query in self.queries for vertex in query.stages)

    @cached_property
    def learnt(self) -> Learnt:
        """What batches cost; nothing where a query had none to do."""
        return learnt(self.queries, self.samples, self.running)

    @cached_property
    def unknown(self) -> tuple[Query, ...]:
        """Queries that have something to do, and of which nobody can tell yet what it costs."""
        pairs = zip(self.queries, self.learnt.known, strict=True)
        return tuple(query for query, known in pairs if not known and not query.is_idle)

    @cached_property
    def pace(self) -> Pace:
        """At what pace batches come."""
        target = self.options.micro_batch.target_duration
        least_ms = self.learnt.costs.batch_ms - self.learnt.batch_error_ms
        return paces(self.queries, self.samples, np.where(self.learnt.known, least_ms, 0.0), target)

    @cached_property
    def rates(self) -> Floats:
        """
        Give the rows/s that come to each query, NaN where nobody can tell.

        Where batches take so long that the window holds one trigger only, at least as much comes as the latest batch
        got through: it took no more than had come while the one before it ran, and that was shorter.
        """
        come = np.array([query.rate for query in self.queries])
        lasted_ms = np.array([query.batch_s for query in self.queries]) * MILLIS
        overran = np.isnan(come) & (lasted_ms > self.pace.period_ms)
        through = capacity(self.learnt.filled.costs, replace(self.pace, period_ms=lasted_ms), self._here)[:, 0]
        return np.where(overran, through, come)

    @cached_property
    def late(self) -> Floats:
        """Rows of each query that wait longer than for the next batch: those left behind, and what a long one keeps."""
        overrun_s = np.array([query.batch_s for query in self.queries]) - self.pace.period_ms / MILLIS
        left = np.nan_to_num([query.lag for query in self.queries])
        return left + np.nan_to_num(self.rates) * np.maximum(0.0, overrun_s)

    @property
    def backlog(self) -> bool:
        """
        Whether a query is so far behind that the application counts as working off a backlog.

        One that falls ever further behind, whatever the cores, works nothing off.
        """
        rates, ends = np.nan_to_num(self.rates), self.ends
        full = ends.best & (ends.cheap[:, ends.here] < rates)
        return bool((~full & (self.late > self._tuning.backlog_threshold_s * rates)).any())

    @cached_property
    def demand(self) -> Demand:
        """What each query has to do; nothing where nobody can tell."""
        tuned = self._tuning.catch_up_s
        catch_up = np.divide(self.late, tuned, out=np.zeros_like(tuned), where=tuned != 0)
        return Demand(target=np.nan_to_num(self.rates), catch_up=catch_up)

    @cached_property
    def wish(self) -> Wish:
        """What each query should be able to do."""
        backlog = np.full(len(self.queries), self.backlog)
        return Wish(
            needed=needed_capacity(self.demand, self._tuning),
            band=band(self.demand, self._tuning, backlog),
            keeps=np.array([query.is_blind for query in self.queries]),
        )

    @cached_property
    def ends(self) -> Ends:
        """What each query can do."""
        return Ends.of(self.learnt.filled, self.pace, self._candidates, self.running)

    @cached_property
    def unlimited(self) -> Floats:
        """What each query could do on each candidate if its batches took all there is, (q, n)."""
        free = replace(self.pace, limit_rows=np.full_like(self.pace.limit_rows, np.inf))
        return capacity(self.learnt.filled.costs, free, self._candidates)

    @cached_property
    def behind(self) -> Bools:
        """Which queries no number of cores makes fast enough, even at the cheap end."""
        return self.ends.cheap[:, -1] < self.wish.band.scale_up

    @cached_property
    def need(self) -> Need:
        """How many cores are wanted."""
        return need(self.learnt.filled, self.pace, self.ends, self.wish)

    @cached_property
    def _tuning(self) -> Tuning:
        return tuning([(self.options, len(self.queries))])

    @property
    def _here(self) -> Ints:
        return np.array([self.running])

    @property
    def _candidates(self) -> Ints:
        """Whole executors, up to where every task of every query has a core of its own; and what runs now."""
        costs, settings = self.learnt.costs, self.samples[-1].settings
        widest = np.zeros(len(self.queries), dtype=np.int64)
        np.maximum.at(widest, costs.query, costs.tasks)
        each = settings.slots_per_task_manager if settings.slots_per_task_manager_known else 1
        largest = min(vertex.max_parallelism for vertex in self.topology.vertices)
        most = max(min(int(widest.sum()), largest), each)
        return np.union1d(np.arange(each, most + each, each), self._here)
