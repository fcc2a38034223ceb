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


@dataclass(slots=True, kw_only=True)
class _Followed:
    """A job that was asked about, and its samples."""

    evaluator: InProcessEvaluator
    """Has what came since the job was asked about, and what the log had before as soon as that is read."""
    reach: timedelta
    """How far back its samples are to count."""
    asked: datetime
    """When it was asked about last."""
    read: bool = False
    """Whether the evaluator has what the log had."""


class EarlyEvaluator:
    """
    A `ports.FleetEvaluator` for some jobs of the log, which follows those that it was asked about.

    `append` and `evaluate` may run at the same time in several threads. `append` waits for no reading of the log: what
    comes meanwhile is kept beside what is read.
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
        self._followed: dict[JobKey, _Followed] = {}
        self._lock = Lock()
        """Held for lookups alone, never over a call to the storage: the collectors of all clusters wait for it."""

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Take in samples that the log has by now, of those jobs that are followed."""
        with self._lock:
            followed = [(self._followed[one.job].evaluator, one) for one in samples if one.job in self._followed]
        for evaluator, sample in followed:
            evaluator.append([sample])

    def evaluate(self, candidates: Sequence[Candidate], now: datetime, /) -> Mapping[JobKey, Answer]:
        """
        Answer every candidate over its own window.

        Raises:
            UnreachableError: the log could not be read.
            PermanentError: a newer Headgate wrote it.
        """
        with self._lock:
            followed = self._follow(candidates, now)
        answers: dict[JobKey, Answer] = {}
        for one, job in zip(candidates, followed, strict=True):
            if not job.read:
                self._read(one, job)
            answers |= job.evaluator.evaluate([one], now)
        return answers

    def _follow(self, candidates: Sequence[Candidate], now: datetime) -> Sequence[_Followed]:
        for one in candidates:
            known, wanted = self._followed.get(one.sample.job), reach(one.options)
            # A job's own options, and ordered ones, may look back further than any that the file names.
            if known is None or known.reach < wanted:
                keep = max(in_force(self._keep), wanted)
                evaluator = InProcessEvaluator(collect_interval=self._collect_interval, keep=keep)
                known = self._followed[one.sample.job] = _Followed(evaluator=evaluator, reach=keep, asked=now)
            known.asked = now
        for job in [job for job, known in self._followed.items() if now - known.asked > _FOLLOWED]:
            del self._followed[job]
        return [self._followed[one.sample.job] for one in candidates]

    def _read(self, one: Candidate, job: _Followed) -> None:
        # What was written before the job was followed is handed on by nobody: it counts at the next question.
        span = one.window_until - job.reach, one.window_until + _FOLLOWED
        vertices, jobs = (self._reader.read(table, *span, job=one.sample.job) for table in ("samples", "jobs"))
        job.evaluator.begin_with(vertices, jobs, cluster=one.sample.job.cluster)
        job.read = True


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
