"""The built-in checkers never condemn a healthy job, whatever was before its rescale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import nan

import hypothesis.strategies as st
from hypothesis import given

from headgate.algorithm import sickness
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.rollback import Aftermath, Evidence, JobFailure, Run, Trial
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import at

RULES = (
    sickness.lack_of_network_memory,
    sickness.memory_pressure,
    sickness.restart_loop,
    sickness.never_running,
    sickness.not_reached,
)
OPTIONS = AutoscalerOptions()
PRESSURE = {
    JobMeasure.GC_PRESSURE: OPTIONS.rollback.gc_pressure,
    JobMeasure.HEAP_MAX_USAGE_RATIO: OPTIONS.rollback.heap_usage,
}
TEXTS = (
    "java.io.IOException: Insufficient number of network buffers: required 17, but only 3 available.",
    "java.lang.OutOfMemoryError: Java heap space",
    "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager with id tm1 is no longer reachable.",
    "java.lang.IllegalStateException: no",
    "",
)

vertices = st.sampled_from([VertexId("a"), VertexId("b"), VertexId("c")])
parallelisms = st.dictionaries(vertices, st.integers(1, 128), min_size=1)
seconds = st.integers(0, 24 * 3600)
values = st.dictionaries(st.sampled_from(list(JobMeasure)), st.floats(0, 1) | st.just(nan) | st.just(float("inf")))
failures = st.lists(st.builds(JobFailure, at=seconds.map(at), text=st.sampled_from(TEXTS) | st.text()), max_size=6)


@st.composite
def aftermaths(draw: st.DrawFn) -> Aftermath:
    """Draw whatever may come after a rescale, possible or not."""
    began, now = sorted((draw(seconds), draw(seconds)))
    trial = Trial(
        decision_id="d1",
        began_at=at(began),
        before=Run(job_id="j1", fingerprint="f", parallelism=draw(parallelisms)),
        after=draw(parallelisms),
        values=draw(values),
        reached_at=draw(st.none() | seconds.map(at)),
    )
    return Aftermath(
        trial=trial,
        now=at(now),
        status=draw(st.sampled_from(JobStatus)),
        down_since=draw(st.none() | seconds.map(at)),
        running=draw(parallelisms),
        failures=tuple(sorted(draw(failures), key=lambda failure: failure.at)),
        values=draw(values),
        given_up=draw(st.booleans()),
    )


def verdicts(aftermath: Aftermath) -> Sequence[Evidence | None]:
    """Ask every rule."""
    return [rule(aftermath, OPTIONS) for rule in RULES]


@given(after=aftermaths())
def test_a_healthy_job_is_never_condemned(after: Aftermath) -> None:
    """It runs as wanted, has not failed since, and is below its thresholds, whatever was before."""
    calm = {m: v for m, v in after.values.items() if not v > PRESSURE.get(m, 2)}
    reached = replace(after.trial, reached_at=after.trial.reached_at or after.now)
    healthy = replace(
        after,
        trial=reached,
        status=JobStatus.RUNNING,
        down_since=None,
        failures=(),
        values=calm,
        running={**after.trial.before.parallelism, **after.trial.after},
    )
    assert verdicts(healthy) == [None] * len(RULES)


@given(after=aftermaths())
def test_a_verdict_is_a_sentence_or_none(after: Aftermath) -> None:
    """Without a line break, and never empty."""
    assert all(said is None or (said.found and "\n" not in str(said)) for said in verdicts(after))


@given(after=aftermaths(), longer=st.integers(0, 7 * 24 * 3600))
def test_what_was_before_the_rescale_does_not_count(after: Aftermath, longer: int) -> None:
    """However often the job had failed, and of whatever."""
    earlier = after.trial.began_at - timedelta(seconds=longer + 1)
    old = tuple(JobFailure(at=earlier, text=text) for text in TEXTS)
    assert verdicts(replace(after, failures=(*old, *after.failures))) == verdicts(after)
