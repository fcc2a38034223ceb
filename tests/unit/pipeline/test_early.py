"""The evaluator of decisions before their turn: the log's answers, for a few jobs, without reading it again."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from obstore.store import MemoryStore

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.pipeline.early import EarlyEvaluator, FollowedSamples
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import Candidate
from headgate.samplelog.bucket import ObjectPath
from headgate.samplelog.compaction import compact
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, at, chain, sample
from headgate.testing.fakes import RecordingLog
from headgate.testing.recorded import LogEvaluator

TICK, REACH = timedelta(seconds=10), timedelta(minutes=10)
OPTIONS = AutoscalerOptions(
    reaction=Reaction.FAST, metrics_window=timedelta(minutes=1), stabilization_interval=timedelta()
)
RETURNS = JobKey("prod", "returns")
GRAPH = chain({"source": 2, "agg": 3})
STEP = 100


def measured(second: int, job: JobKey = ORDERS) -> JobSample:
    """Build a sample of a job whose load grows from 1000/3 a second to four times that after 100 seconds."""
    factor = 1.0 if job == ORDERS else 7.0
    read = factor * (1000 * min(second, STEP) + 4000 * max(second - STEP, 0)) / 3
    values = {Measure.NUM_RECORDS_IN: read, Measure.NUM_RECORDS_OUT: read / 3, Measure.LOAD: 0.3, Measure.LAG: 0.0}
    seen = VertexSample(measured_at=at(second - 0.3), values=values)
    made = sample(GRAPH, job=job, tick=at(second))
    used = {JobMeasure.HEAP_MEMORY_USED: 1e9 / (second + 1)}
    return replace(made, vertices=dict.fromkeys(made.vertices, seen), values=used)


def ticks(*seconds: int) -> list[list[JobSample]]:
    """Look at both jobs at these seconds."""
    return [[measured(second), measured(second, RETURNS)] for second in seconds]


STORY = ticks(*range(0, 121, 10))


def asked(second: int, job: JobKey = ORDERS, *, fast: bool = True) -> Candidate:
    """Ask about a job as it is asked about at a second."""
    return Candidate(
        sample=measured(second, job),
        options=OPTIONS if fast else replace(OPTIONS, reaction=Reaction.WINDOWED),
        window_from=at(second) - OPTIONS.metrics_window,
        arrivals_from=at(second) - REACH if fast else None,
    )


def log_of(folder: Path, story: Iterable[Sequence[JobSample]]) -> None:
    """Write a log."""
    log = SampleLog(folder)
    for samples in story:
        log.append(samples)


def following(folder: Path) -> EarlyEvaluator:
    """Give the evaluator of a log; it follows nobody yet."""
    return EarlyEvaluator(folder, collect_interval=TICK, keep=REACH)


def by_memory(story: Iterable[Sequence[JobSample]], candidates: Sequence[Candidate], now: datetime) -> object:
    """Give the answers of the evaluator that has seen everything."""
    evaluator = InProcessEvaluator(collect_interval=TICK, keep=REACH)
    for samples in story:
        evaluator.append(samples)
    return dict(evaluator.evaluate(candidates, now))


def by_log(folder: Path, candidates: Sequence[Candidate], now: datetime) -> object:
    """Give the answers of the evaluator that reads all anew."""
    return dict(LogEvaluator(LogReader(folder), TICK).evaluate(candidates, now))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the log of the usual story, once for all."""
    folder = tmp_path_factory.mktemp("written")
    log_of(folder, STORY)
    return folder


@pytest.fixture
def folder(tmp_path: Path, written: Path) -> Path:
    """Give a log of the usual story of one's own."""
    return Path(shutil.copytree(written, tmp_path / "log"))


@pytest.mark.parametrize("fast", [True, False])
def test_its_answers_are_those_of_everybody_else(folder: Path, *, fast: bool) -> None:
    """To the last bit: of a job that goes by its last change, and of one that goes by its window."""
    candidates = [asked(120, fast=fast), asked(120, RETURNS, fast=fast)]

    answers = following(folder).evaluate(candidates, at(121))

    assert all(isinstance(answer, EvaluatedMetrics) for answer in answers.values())
    assert answers == by_memory(STORY, candidates, at(121)) == by_log(folder, candidates, at(121))


def test_it_goes_on_with_what_comes_and_reads_no_more(folder: Path) -> None:
    """What the log has got since is handed to it; that files are gone by then it does not notice."""
    evaluator, story = following(folder), list(STORY)
    evaluator.evaluate([asked(120)], at(120))
    shutil.rmtree(folder)

    for second in (121, 122, 130):
        story += ticks(second)
        evaluator.append(story[-1])
        answers = evaluator.evaluate([asked(second)], at(second))
        assert answers == by_memory(story, [asked(second)], at(second))


def test_it_begins_to_follow_a_job_when_it_is_asked_about_it(folder: Path) -> None:
    """What came before is read from the log then, whether it was handed on or not."""
    evaluator, later = following(folder), ticks(130, 140)
    evaluator.evaluate([asked(120)], at(120))
    sink = FollowedSamples(SampleLog(folder), evaluator)
    for samples in later:
        sink.append(samples)

    candidates = [asked(140), asked(140, RETURNS)]
    assert evaluator.evaluate(candidates, at(141)) == by_memory([*STORY, *later], candidates, at(141))


def test_a_sample_that_comes_while_it_is_asked_is_not_lost(folder: Path) -> None:
    """It does not count for that answer, and does for the next one, though nobody was followed as it came."""
    evaluator, (late,) = following(folder), ticks(130)

    assert evaluator.evaluate([asked(110)], at(110)) == by_memory(STORY[:-1], [asked(110)], at(110))
    evaluator.append(late)

    assert evaluator.evaluate([asked(130)], at(130)) == by_memory([*STORY, late], [asked(130)], at(130))


class SlowBucket(MemoryStore):
    """A bucket that gives objects only when it is let."""

    def __init__(self) -> None:
        """Give none yet."""
        super().__init__()
        self.asked, self.gives = Event(), Event()

    def get(self, path: str, **how: Any) -> Any:
        """Give an object; fails where that takes too long for a test."""
        self.asked.set()
        assert self.gives.wait(timeout=30)
        return super().get(path, **how)


def test_no_collector_waits_while_it_reads_the_log() -> None:
    """A slow bucket holds up whoever asked, nobody else; what comes meanwhile counts, though it is not read again."""
    bucket = SlowBucket()
    root = ObjectPath("memory://log", bucket)
    evaluator, (late,) = EarlyEvaluator(root, collect_interval=TICK, keep=REACH), ticks(130)
    sink = SampleLog(root)
    for samples in STORY:
        sink.append(samples)

    with ThreadPoolExecutor(2) as threads:
        answers = threads.submit(evaluator.evaluate, [asked(120)], at(121))
        assert bucket.asked.wait(timeout=30)
        appended = threads.submit(evaluator.append, late)
        try:
            appended.result(timeout=10)
        finally:
            bucket.gives.set()
        assert answers.result() == by_memory(STORY, [asked(120)], at(121))

    bucket.asked.clear()
    assert evaluator.evaluate([asked(130)], at(131)) == by_memory([*STORY, late], [asked(130)], at(131))
    assert not bucket.asked.is_set()


def test_a_log_that_could_not_be_read_is_read_at_the_next_question(folder: Path) -> None:
    """And with it what came before and after the failure."""
    evaluator, (late,) = following(folder), ticks(130)
    hour = next((folder / "samples").iterdir())
    hidden = hour.rename(folder / "hidden")
    hour.symlink_to(hour)  # a folder that cannot be listed
    with pytest.raises(UnreachableError):
        evaluator.evaluate([asked(120)], at(121))
    evaluator.append(late)
    hour.unlink()
    hidden.rename(hour)

    assert evaluator.evaluate([asked(130)], at(131)) == by_memory([*STORY, late], [asked(130)], at(131))


def test_a_sample_that_comes_twice_counts_once(folder: Path) -> None:
    """The log has it already when it is handed on."""
    evaluator = following(folder)
    before = evaluator.evaluate([asked(120)], at(120))

    evaluator.append(STORY[-1])

    assert evaluator.evaluate([asked(120)], at(120)) == before


def test_who_was_not_asked_about_for_long_is_no_longer_followed(folder: Path) -> None:
    """Nothing piles up; asked about again, it is read again."""
    evaluator = following(folder)
    before = evaluator.evaluate([asked(120)], at(120))
    evaluator.evaluate([asked(120, RETURNS)], at(421))

    assert evaluator._followed.keys() == {RETURNS}
    assert evaluator.evaluate([asked(120)], at(120)) == before


def test_compaction_changes_nothing(folder: Path) -> None:
    """Files that were put together have the same rows."""
    assert compact(folder, at(2 * 3600), closed_for=timedelta())

    assert following(folder).evaluate([asked(120)], at(120)) == by_memory(STORY, [asked(120)], at(120))


def test_a_job_without_samples_is_answered(tmp_path: Path) -> None:
    """As everywhere; nobody asked about is nobody answered."""
    evaluator = following(tmp_path)

    (answer,) = evaluator.evaluate([asked(0)], at(0)).values()

    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.NO_SAMPLES
    assert evaluator.evaluate([], at(0)) == {}


def test_what_could_not_be_kept_is_not_known_either(folder: Path) -> None:
    """A replay would not find it."""
    evaluator = following(folder)
    before = evaluator.evaluate([asked(120)], at(120))
    broken = FollowedSamples(RecordingLog(fault=UnreachableError("disk full")), evaluator)

    with pytest.raises(UnreachableError):
        broken.append([measured(121)])

    assert evaluator.evaluate([asked(120)], at(120)) == before
    (vertices, _) = evaluator._followed[ORDERS].evaluator._kept
    assert int(vertices.columns["at_ms"].values.max()) == int(at(120).timestamp() * 1000)
