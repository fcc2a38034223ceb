"""Jobs that leave the batch: their samples read back, and the same numbers as in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.samples import JobSample, Signal
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.evaluators import stands_apart
from headgate.pipeline.evaluation import Question
from headgate.pipeline.in_process import InProcessEvaluator, evaluated_over
from headgate.pipeline.single import BuiltInMetricEvaluator
from headgate.ports import Candidate, CollectedMetrics
from headgate.samplelog.windows import LogWindows
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import at
from headgate.testing.conformance import material
from headgate.testing.conformance.metric_evaluator import MetricEvaluatorSuite

COLLECTED = material.watched()
LATEST = COLLECTED.samples[-1]
OPTIONS = AutoscalerOptions(metrics_window=timedelta(minutes=5), stabilization_interval=timedelta())
CANDIDATE = Candidate(sample=LATEST, options=OPTIONS, window_from=COLLECTED.samples[0].at)
INTERVAL = timedelta(seconds=10)


def in_memory(samples: tuple[JobSample, ...] = COLLECTED.samples) -> InProcessEvaluator:
    """Give the evaluator of the batch, having seen these."""
    seen = InProcessEvaluator(collect_interval=INTERVAL, keep=timedelta(hours=1))
    for sample in samples:
        seen.append([sample])
    return seen


def in_log(folder: Path) -> LogWindows:
    """Give a log in which they are."""
    log = SampleLog(folder)
    for sample in COLLECTED.samples:
        log.append([sample])
    return LogWindows(folder)


def kept(sample: JobSample) -> Mapping[VertexId, Mapping[Measure, float]]:
    """Give what was measured, but for what no formula reads."""
    left_out = {Measure.ACCUMULATED_BACKPRESSURED_TIME}
    return {
        vertex: {measure: value for measure, value in measured.values.items() if measure not in left_out}
        for vertex, measured in sample.vertices.items()
    }


def whole(sample: JobSample) -> JobSample:
    """Give a sample in the log's precision."""
    vertices = {
        vertex: replace(one, values={measure: round(value, 3) for measure, value in one.values.items()})
        for vertex, one in sample.vertices.items()
    }
    return replace(sample, vertices=vertices)


def test_samples_come_back_from_the_log_as_they_were(tmp_path: Path) -> None:
    """All that was measured, of the vertices and of the job, in whole thousandths."""
    read = in_log(tmp_path).samples([CANDIDATE])[LATEST.job]
    assert list(map(whole, read)) == list(map(whole, COLLECTED.samples))


def test_samples_come_back_from_memory(tmp_path: Path) -> None:
    """With what formulas read."""
    remembered = in_memory().samples([CANDIDATE])[LATEST.job]
    assert [one.at for one in remembered] == [one.at for one in COLLECTED.samples]
    assert list(map(kept, remembered)) == list(map(kept, in_log(tmp_path).samples([CANDIDATE])[LATEST.job]))
    assert remembered[0].values == {JobMeasure.HEAP_MAX_USAGE_RATIO: 0.5}


def test_only_the_window_comes_back(tmp_path: Path) -> None:
    """And only the job's: an evaluator of one's own sees no other."""
    narrow = replace(CANDIDATE, sample=replace(LATEST, at=at(270)), window_from=at(250))
    other = material.watched(job=material.OTHER).samples
    for source in (in_log(tmp_path), in_memory()):
        assert [one.at for one in source.samples([narrow])[LATEST.job]] == [at(250), at(260), at(270)]
    SampleLog(tmp_path, shard="1").append([other[-1]])
    assert {one.job for one in in_log(tmp_path).samples([CANDIDATE])[LATEST.job]} == {LATEST.job}


def test_signals_come_back_from_the_log(tmp_path: Path) -> None:
    """They are kept there as everything else is."""
    signal = Signal(value=4.25, measured_at=at(0))
    SampleLog(tmp_path).append([replace(COLLECTED.samples[0], signals={"queue": signal})])
    (first,) = LogWindows(tmp_path).samples([CANDIDATE])[LATEST.job]
    assert first.signals == {"queue": signal}


@pytest.mark.parametrize("where", ["log", "memory"])
def test_apart_the_numbers_are_those_of_the_batch(where: str, tmp_path: Path) -> None:
    """To the last bit: the functions are the same, and nothing is lost on the way back."""
    batch = in_memory()
    source = batch if where == "memory" else in_log(tmp_path)
    samples = source.samples([CANDIDATE])[LATEST.job]
    question = Question(candidates=[CANDIDATE], now=LATEST.at, collect_interval=INTERVAL)
    apart = evaluated_over(samples, question)[LATEST.job]
    assert isinstance(apart, EvaluatedMetrics)
    assert apart == batch.evaluate([CANDIDATE], LATEST.at)[LATEST.job]


def test_the_built_in_evaluator_behind_the_port_gives_the_same() -> None:
    """It may be composed by whoever wants to change little of it."""
    single = BuiltInMetricEvaluator({}).evaluate(OPTIONS, COLLECTED, OPTIONS.restart_time)
    assert single == in_memory().evaluate([CANDIDATE], LATEST.at)[LATEST.job]


def test_who_leaves_the_batch() -> None:
    """Only those with an evaluator of their own, or plugins to theirs."""
    assert not stands_apart(OPTIONS)
    assert not stands_apart(replace(OPTIONS, evaluator="ds2"))
    assert not stands_apart(replace(OPTIONS, custom_executors=("x",), collector="y"))
    assert stands_apart(replace(OPTIONS, evaluator="mine"))
    assert stands_apart(replace(OPTIONS, custom_evaluators=("mine",)))


class TestBuiltInMetricEvaluator(MetricEvaluatorSuite):
    """The built-in one keeps the contract of the port."""

    @pytest.fixture
    def evaluator(self) -> BuiltInMetricEvaluator:
        """Give it."""
        return BuiltInMetricEvaluator({"collect-interval": "10 s"})

    @pytest.fixture
    def collected(self) -> CollectedMetrics:
        """Give what the suite gives."""
        return material.watched()
