"""The evaluator without Spark and without a log: samples stay in memory, numpy reduces them. For a few jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock

import numpy as np
import pyarrow as pa

from headgate.algorithm.columns import Table
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.model.tables import SAMPLES
from headgate.pipeline.arrow import arrays
from headgate.pipeline.evaluation import answer
from headgate.pipeline.plan import Plan
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms
from headgate.samplelog.rows import sample_table


class InProcessEvaluator:
    """
    A `ports.FleetEvaluator` that is its own `ports.SampleSink`.

    It stores samples as the log does, in whole thousandths, so its answers are those of Spark over the log. `append`
    and `evaluate` may run at the same time in several threads.
    """

    def __init__(self, *, collect_interval: timedelta, keep: timedelta) -> None:
        """
        Begin without samples.

        Args:
            collect_interval: time between two ticks, from which follows what is stale.
            keep: age up to which samples are kept, at least the longest metric window of any job.
        """
        self._collect_interval = collect_interval
        self._keep = keep
        self._ticks: Mapping[tuple[datetime, str], pa.Table] = {}
        self._lock = Lock()

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Keep the samples of one tick of one cluster, and drop those that have become too old."""
        if not samples:
            return
        at = samples[0].at
        # A new mapping each time: an evaluation that is under way keeps the one that it began with.
        with self._lock:
            young = {key: table for key, table in self._ticks.items() if key[0] >= at - self._keep}
            self._ticks = young | {(at, samples[0].job.cluster): sample_table(samples)}

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """Answer every candidate over its own window."""
        plan = Plan.of(candidates, now=now, collect_interval=self._collect_interval)
        samples = pa.concat_tables([SAMPLES.empty_table(), *self._ticks.values()])
        return answer(plan, reduce_windows(within_window(arrays(samples), plan)))


def within_window(samples: Table, plan: Plan) -> Table:
    """Keep the samples of each job's own window; those of jobs that are not planned are dropped."""
    names, job = np.unique(samples.job, return_inverse=True)
    begins = {name: epoch_ms(candidate.window_from) for name, candidate in plan.jobs.items()}
    end = epoch_ms(plan.now)
    begin = np.array([begins.get(name, end + 1) for name in names.tolist()], dtype=np.int64)[job]
    ticks = samples["at_ms"].values
    return samples.take(np.flatnonzero((ticks >= begin) & (ticks <= end)))
