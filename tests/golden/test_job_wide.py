"""Job-wide metrics against the reference's cases, from samples as the log keeps them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from headgate.algorithm.job_wide import METRICS, averages, job_wide, reduce_jobs
from headgate.model.metrics import JobMetric, JobValue
from headgate.model.samples import JobSample
from headgate.pipeline.arrow import columns
from headgate.samplelog.rows import job_table
from headgate.testing.builders import at, chain, sample
from headgate.testing.golden import Case, number

MEASURES = {metric.value: measure for measure, metric in METRICS.items()}


def test_global_evaluation(case: Case) -> None:
    """The latest value of each, and of memory the mean over the window."""
    history = list(_history(case))
    owner = np.zeros(len(history), dtype=np.int64)
    means = averages(reduce_jobs(columns(job_table(history)), owner, 1), np.zeros(1, dtype=np.int64), 1)

    known = {measure: float(values[0]) for measure, values in means.items() if not math.isnan(values[0])}
    found = job_wide(history[-1], known)

    for name, expected in case.expected["metrics"].items():
        value = found.get(JobMetric(name), JobValue())
        assert _number(value.current) == pytest.approx(float(expected["current"]), nan_ok=True), name
        assert _number(value.average) == pytest.approx(float(expected["average"]), nan_ok=True), name


def _history(case: Case) -> Iterator[JobSample]:
    for entry in case.inputs["history"]:
        values = {name: number(value) for name, value in entry["global"].items() if not math.isnan(number(value))}
        used = values.pop("NUM_TASK_SLOTS_USED", None)
        yield replace(
            sample(chain({"source": 1}), tick=at(entry["t_ms"] / 1000)),
            values={MEASURES[name]: value for name, value in values.items()},
            slots_total=None if used is None else int(used),
            slots_free=None if used is None else 0,
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
