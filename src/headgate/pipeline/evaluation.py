"""
From reduced windows to an answer for each job, as a pure function.

The in-process evaluator calls it as it is, Spark inside `mapInArrow` over whole jobs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter

from headgate.algorithm.columns import Table
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.readiness import Pace, Span, coverage, readiness
from headgate.algorithm.readout import metrics_by_job, spans_by_job
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import EngineSettings
from headgate.pipeline.arrow import ANSWERS, WINDOWS, arrays
from headgate.pipeline.plan import Plan
from headgate.ports import Candidate

Answer = EvaluatedMetrics | NotReady

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


def answer(plan: Plan, windows: Table) -> Mapping[JobKey, Answer]:
    """
    Answer every job of the plan.

    Args:
        plan: the jobs that are asked about.
        windows: the columns of `model.windows` for these jobs, the epochs of a vertex in order.
    """
    spans = spans_by_job(windows)
    asked = [_asked(plan, job, spans.get(name, {})) for name, job in plan.jobs.items()]
    ready = [job for job in asked if isinstance(job, FleetJob)]
    batch = assemble(ready, windows)
    evaluated = metrics_by_job(ready, batch, evaluate(batch))
    keyed = zip(plan.keys.values(), asked, strict=True)
    return {key: evaluated[key] if isinstance(job, FleetJob) else job for key, job in keyed}


def evaluate_batches(batches: Iterable[pa.RecordBatch], plan: Plan) -> Iterator[pa.RecordBatch]:
    """
    Answer the jobs of Arrow batches of windows, sorted by job, vertex and epoch, however they are cut.

    Yields:
        Rows of `ANSWERS`. A job without any window does not occur in the batches, so it has no row.
    """
    for windows in whole_jobs(batches):
        answers = answer(plan.only(windows["job"].unique().to_pylist()), arrays(windows))
        rows = [{"job": str(key), "answer": _written(given)} for key, given in answers.items()]
        yield pa.RecordBatch.from_pylist(rows, schema=ANSWERS)


def whole_jobs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut a stream of rows sorted by job anew, between jobs: the last job of a batch may go on in the next one."""
    held = WINDOWS.empty_table()
    for batch in batches:
        rows = pa.concat_tables([held, pa.Table.from_batches([batch]).cast(WINDOWS)])
        begin = _begin_of_last_job(rows)
        if begin:
            yield rows.slice(0, begin)
        held = rows.slice(begin)
    if held.num_rows:
        yield held


def read_answers(rows: pa.Table) -> Mapping[str, Answer]:
    """Read the rows of `ANSWERS` back, by the text form of the job's key."""
    pairs = zip(rows["job"].to_pylist(), rows["answer"].to_pylist(), strict=True)
    return {job: _ANSWER.validate_json(text) for job, text in pairs}


def no_windows() -> Table:
    """Give windows without a row, for jobs of which the log holds nothing."""
    return arrays(WINDOWS.empty_table())


def _asked(plan: Plan, job: Candidate, spans: Mapping[VertexId, Span]) -> FleetJob | NotReady:
    """Give the job as the evaluation wants it, or say why it cannot be evaluated yet."""
    pace = _pace(plan.collect_interval, job.sample.settings)
    return readiness(job.sample, job.options, spans=spans, pace=pace, now=plan.now) or FleetJob(
        key=job.sample.job,
        topology=job.sample.topology,
        options=job.options,
        coverage=coverage(spans, job.options.metrics_window, plan.now),
        samples=min((span.samples for span in spans.values()), default=0),
        growths=job.growths,
    )


def _pace(collect_interval: timedelta, settings: EngineSettings) -> Pace:
    """
    Two late samples are no news, a third one is.

    Two cadences that are alike drift past each other: a tick that comes just before the engine's refresh finds nothing
    new, so samples may be as far apart as both intervals together without anything missing.
    """
    refresh = timedelta(seconds=settings.metric_refresh_s)
    usual = max(collect_interval, refresh)
    return Pace(sample_every=collect_interval + refresh, stale_after=3 * usual, tolerance=2 * usual)


def _begin_of_last_job(rows: pa.Table) -> int:
    if not rows.num_rows:
        return 0
    jobs = np.array(rows["job"].to_pylist())
    return int(np.searchsorted(jobs == jobs[-1], v=True))


def _written(given: Answer) -> str:
    # Not `dump_json`: it writes an infinite rate as null, which would not come back.
    return json.dumps(_ANSWER.dump_python(given, mode="json"))
