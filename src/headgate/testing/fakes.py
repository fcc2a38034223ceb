"""Fakes of the ports, kept beside them and shipped: they remember what was asked of them, in one shared diary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from headgate.errors import HeadgateError, NotFoundError
from headgate.model.decision import ConfigChanges, Decision
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.ports import Candidate, JobContext, JobList

Diary = list[str]
"""What was asked of the fakes, in order; give one to several of them to see their calls interleaved."""


@dataclass
class FakeEngine:
    """A job list, a collector and a realizer over jobs that exist only in memory."""

    jobs: dict[JobKey, JobSample] = field(default_factory=dict)
    contexts: dict[JobKey, JobContext] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    faults: dict[JobKey, HeadgateError] = field(default_factory=dict)
    """Raised by every call for the job."""
    realize_faults: list[HeadgateError] = field(default_factory=list)
    """Raised by the next requests, one each."""
    obeys: bool = True
    """Whether a request changes the running parallelism at once."""
    requests: list[Mapping[VertexId, int]] = field(default_factory=list)
    diary: Diary = field(default_factory=list)

    def add(self, ctx: JobContext, sample: JobSample) -> None:
        """Let the job run."""
        self.contexts[ctx.key] = ctx
        self.jobs[ctx.key] = sample

    def remove(self, job: JobKey) -> None:
        """Let the job vanish."""
        del self.contexts[job], self.jobs[job]

    async def fetch(self) -> JobList:
        """List the jobs of the clusters that answer."""
        jobs = tuple(ctx for key, ctx in self.contexts.items() if key.cluster not in self.failures)
        return JobList(jobs=jobs, failures=dict(self.failures))

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Give the job's sample as it was added."""
        self.diary.append(f"collect {ctx.key}")
        return self._find(ctx)

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        self.diary.append(f"look at {ctx.key}")
        return self._find(ctx).topology

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give nothing."""
        return {}

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give nothing."""
        return {}

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give nothing."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Note it."""
        self.diary.append(f"forget {job}")

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Note the request and obey, or raise the next planted fault."""
        self.diary.append(f"request {ctx.key}")
        if self.realize_faults:
            raise self.realize_faults.pop(0)
        running = self._find(ctx)
        self.requests.append(dict(overrides))
        if self.obeys:
            self.jobs[ctx.key] = _replaced(running, overrides)
        return True

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Change nothing."""
        return False

    def _find(self, ctx: JobContext) -> JobSample:
        if ctx.key in self.faults:
            raise self.faults[ctx.key]
        if ctx.key not in self.jobs:
            message = f"job {ctx.key} is gone"
            raise NotFoundError(message)
        return self.jobs[ctx.key]


@dataclass
class FakeEvaluator:
    """Answers from a function of the candidate."""

    answer: Callable[[Candidate], EvaluatedMetrics | NotReady]
    fault: HeadgateError | None = None

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """Answer for every candidate, or raise the planted fault."""
        if self.fault:
            raise self.fault
        return {candidate.sample.job: self.answer(candidate) for candidate in candidates}


@dataclass
class RecordingEvents:
    """An event handler that keeps what it was told."""

    told: list[Event] = field(default_factory=list)
    fault: HeadgateError | None = None
    diary: Diary = field(default_factory=list)

    def handle(self, event: Event, /) -> None:
        """Keep the event, or raise the planted fault."""
        if self.fault:
            raise self.fault
        self.diary.append(f"tell {event.reason}")
        self.told.append(event)

    @property
    def reasons(self) -> list[EventReason]:
        """What the events were about, in order."""
        return [event.reason for event in self.told]


@dataclass
class RecordingLog:
    """A sink of samples and decisions that keeps them in memory."""

    samples: list[JobSample] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    fault: Exception | None = None

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Keep the samples, or raise the planted fault."""
        if self.fault:
            raise self.fault
        self.samples.extend(samples)

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """Keep the decisions, or raise the planted fault."""
        if self.fault:
            raise self.fault
        self.decisions.extend(decisions)


def _replaced(sample: JobSample, parallelism: Mapping[VertexId, int]) -> JobSample:
    return replace(sample, topology=sample.topology.with_parallelism(parallelism))
