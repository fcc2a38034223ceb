"""
The evaluator of decisions that are made before their turn: numpy over the log, for the few jobs that are changing.

It gives the answers that Spark would give, to the last bit, without a Spark job for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from headgate.algorithm.rules import reach
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.options.live import Live, in_force
from headgate.pipeline.evaluation import Answer
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import Candidate, SampleSink
from headgate.samplelog.files import Address
from headgate.samplelog.reader import LogReader

_FOLLOWED = timedelta(minutes=5)
"""How long after it was asked about last a job's samples are kept at hand."""


class EarlyEvaluator:
    """
    A `ports.FleetEvaluator` for some jobs of the log, which follows those that it was asked about.

    `append` and `evaluate` may run at the same time in several threads.
    """

    def __init__(self, log: Address, *, collect_interval: Live[timedelta], keep: Live[timedelta]) -> None:
        """
        Follow no job yet.

        Args:
            log: root of the samples log.
            collect_interval: time between two ticks, from which follows what is stale.
            keep: the longest metric window of any job.
        """
        self._reader = LogReader(log)
        self._collect_interval = collect_interval
        self._keep = keep
        self._followed: dict[JobKey, InProcessEvaluator] = {}
        self._asked: dict[JobKey, datetime] = {}
        self._reach: dict[JobKey, timedelta] = {}
        self._lock = Lock()

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Take in samples that the log has by now, of those jobs that are followed."""
        with self._lock:
            for sample in samples:
                if evaluator := self._followed.get(sample.job):
                    evaluator.append([sample])

    def evaluate(self, candidates: Sequence[Candidate], now: datetime, /) -> Mapping[JobKey, Answer]:
        """
        Answer every candidate over its own window.

        Raises:
            UnreachableError: the log could not be read.
            PermanentError: a newer Headgate wrote it.
        """
        with self._lock:
            self._follow(candidates, now)
            evaluators = [self._followed[one.sample.job] for one in candidates]
        answers: dict[JobKey, Answer] = {}
        for one, evaluator in zip(candidates, evaluators, strict=True):
            answers |= evaluator.evaluate([one], now)
        return answers

    def _follow(self, candidates: Sequence[Candidate], now: datetime) -> None:
        self._asked |= {one.sample.job: now for one in candidates}
        for job in [job for job, at in self._asked.items() if now - at > _FOLLOWED]:
            self._asked.pop(job)
            self._followed.pop(job, None)
            self._reach.pop(job, None)
        for one in candidates:
            # A job's own options, and ordered ones, may look back further than any that the file names.
            if one.sample.job not in self._followed or self._reach[one.sample.job] < reach(one.options):
                self._followed[one.sample.job] = self._read(one)
                self._reach[one.sample.job] = reach(one.options)

    def _read(self, one: Candidate) -> InProcessEvaluator:
        # What came since it was asked about is handed on by nobody any more, and counts at the next question.
        keep = max(in_force(self._keep), reach(one.options))
        span = one.window_until - keep, one.window_until + _FOLLOWED
        vertices, jobs = (self._reader.read(table, *span, job=one.sample.job) for table in ("samples", "jobs"))
        evaluator = InProcessEvaluator(collect_interval=self._collect_interval, keep=keep)
        evaluator.begin_with(vertices, jobs)
        return evaluator


@dataclass(frozen=True, slots=True)
class FollowedSamples:
    """A `ports.SampleSink` that hands on to an early evaluator what it has kept."""

    sink: SampleSink
    early: EarlyEvaluator

    def append(self, samples: Sequence[JobSample], /) -> None:
        """
        Keep the samples of one tick.

        Raises:
            TransientError: they could not be kept; nobody was told.
        """
        self.sink.append(samples)
        self.early.append(samples)
