"""The evaluated metrics of a whole job: its latest values, and what its memory was on average over the window."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headgate.algorithm.columns import Column, Columns
from headgate.algorithm.stats import Floats, Ints
from headgate.model.measures import SUBUNIT, JobMeasure, as_kept
from headgate.model.metrics import JobMetric, JobValue
from headgate.model.samples import JobSample
from headgate.model.windows import AVERAGED, column

METRICS: Mapping[JobMeasure, JobMetric] = {
    measure: JobMetric[measure.name] for measure in JobMeasure if measure.name in JobMetric.__members__
}


def job_wide(latest: JobSample, averages: Mapping[JobMeasure, float]) -> Mapping[JobMetric, JobValue]:
    """
    Give every job-wide metric of which anything is known.

    Pressure and slots are a matter of now and have no average. Source: the reference's `evaluateGlobalMetrics`.

    Args:
        latest: the job's newest sample.
        averages: means over the window; what is unknown is absent.
    """
    # As the log keeps them, so that a decision can be made again from it.
    current = {measure: as_kept(value) for measure, value in latest.values.items()}
    found = {
        metric: JobValue(current=current.get(measure), average=averages.get(measure))
        for measure, metric in METRICS.items()
        if measure in current or measure in averages
    }
    if latest.slots_used is not None:
        found[JobMetric.NUM_TASK_SLOTS_USED] = JobValue(current=float(latest.slots_used))
    return found


def reduce_jobs(samples: Columns, owner: Ints, jobs: int) -> Columns:
    """
    Reduce job-wide samples of a window, in whatever order they come, to one row a job: the columns of `JOB_COLUMNS`.

    Args:
        samples: one column a measure, as in `model.tables.JOBS`.
        owner: number of each row's job, 0 to `jobs` - 1.
        jobs: how many jobs there are.
    """
    columns: dict[str, Column] = {}
    everywhere = np.ones(jobs, dtype=np.bool_)
    for measure in AVERAGED:
        known = samples[measure.value].valid
        total, count = np.zeros((2, jobs), dtype=np.int64)
        np.add.at(total, owner[known], samples[measure.value].values[known])
        np.add.at(count, owner[known], 1)
        columns[column(measure, "sum")] = Column(values=total, valid=count > 0)
        columns[column(measure, "count")] = Column(values=count, valid=everywhere)
    return Columns(columns=columns)


def averages(windows: Columns, owner: Ints, jobs: int) -> Mapping[JobMeasure, Floats]:
    """
    Give the mean of each averaged measure by job, NaN where there is none.

    A job stands in at most one row; a row whose owner is -1 is nobody's.
    """
    return {measure: _mean(windows, measure, owner, jobs) for measure in AVERAGED}


def _mean(windows: Columns, measure: JobMeasure, owner: Ints, jobs: int) -> Floats:
    total, count = (windows[column(measure, name)].values for name in ("sum", "count"))
    mean = np.full(jobs, np.nan)
    known = (count > 0) & (owner >= 0)
    mean[owner[known]] = total[known] / count[known] / SUBUNIT
    return mean
