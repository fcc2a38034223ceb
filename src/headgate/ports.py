"""
The ports: what Headgate needs of an engine, a store and a listener. Each docstring is the contract.

Values go in, values come out. Errors are those of `headgate.errors`: transient ones are tried again in a later cycle,
permanent ones are reported and the job is left alone. Whatever an implementation raises otherwise is a bug in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from headgate.model.decision import ConfigChanges, Decision
from headgate.model.events import Event
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample, JobStatus
from headgate.model.state import JobState, ScalingRecord, VersionedState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """One job as its cluster lists it, with the options that hold for it."""

    key: JobKey
    job_id: str
    status: JobStatus
    options: AutoscalerOptions
    faults: tuple[str, ...] = ()
    """What is wrong with the job's own configuration, and what of it is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """The jobs of all clusters, and the clusters that did not answer."""

    jobs: tuple[JobContext, ...]
    failures: Mapping[str, str]
    """Cluster name -> why it could not be asked."""


class JobListFetcher(Protocol):
    """Lists the jobs to care for, of any number of clusters."""

    async def fetch(self) -> JobList:
        """
        List the jobs of every cluster that answers; one that does not is a failure in the answer, never an error.

        Two jobs of one cluster that are alive under one name are told apart: all but the oldest get their job id
        in the key.
        """


class MetricCollector(Protocol):
    """Observes one job."""

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """
        Take one sample of the job, labelled with the tick `at`.

        A vertex whose values are those of the sample before (the engine refreshes more slowly than we ask) is left
        out of the sample: an unchanged counter is not a rate of zero. Concurrent calls for different jobs happen,
        for one job they do not.

        Raises:
            NotFoundError: the job is gone.
            TransientError: the engine gave no usable answer.
        """

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """
        Give the graph as it runs at this moment, nothing else: a decision is held against it before it acts.

        Raises:
            NotFoundError: the job is gone.
            TransientError: the engine gave no usable answer.
        """

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give one value a metric of the JobManager."""

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered between samples; the job is gone."""


class ScalingRealizer(Protocol):
    """Makes a decision real."""

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Ask the engine for these parallelisms; vertices not named keep theirs.

        Idempotent, and called again when no answer came or the target was not reached: it sends nothing when the engine
        was already asked for the same. It never waits for the change to happen.

        Returns:
            Whether something was sent.

        Raises:
            RefusedError: the engine will not do it (wrong scheduler, above the maximum).
            NotFoundError: the job is gone.
            TransientError: no usable answer; it is not known whether the change was accepted.
        """

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """
        Change the job's configuration, if the engine can.

        Raises:
            RefusedError: this realizer cannot.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A job to be evaluated: its latest sample and what bounds its window."""

    sample: JobSample
    options: AutoscalerOptions
    window_from: datetime
    """First instant that counts: the window's begin, or the end of stabilization if that is later."""
    growths: Mapping[VertexId, tuple[float, float]] = field(default_factory=dict)
    """Of each vertex whose newest rescale was a growth to what runs: true rate before and as expected, records/s."""


class FleetEvaluator(Protocol):
    """Reduces the windows of many jobs and evaluates them, all in one go."""

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Evaluate every candidate over `[window_from, now]`; each gets an answer.

        Blocking: call it in a thread. The same samples give the same answer in whatever batch, order or file they come.

        Raises:
            TransientError: the log or the Spark cluster could not be used; nothing was evaluated.
        """


class SampleSink(Protocol):
    """Takes the samples of one tick."""

    def append(self, samples: Sequence[JobSample], /) -> None:
        """
        Keep the samples of one tick; a second call for the same tick replaces the first.

        Raises:
            TransientError: the log could not be written; nothing of the tick was kept.
        """


class DecisionSink(Protocol):
    """Takes what a cycle decided, for `explain` and the reports."""

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """
        Keep the decisions of one cycle, all of one `at`; a second call for the same cycle replaces the first.

        Raises:
            TransientError: they could not be written; nothing of the cycle was kept.
        """


class StateStore(Protocol):
    """Keeps what must be remembered of each job."""

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state; an unknown job has the default state with version 0."""

    def save(self, job: JobKey, state: JobState, expected_version: int, /) -> int:
        """
        Replace the job's state if it still has the expected version. Durable when it returns.

        Returns:
            The new version.

        Raises:
            ConflictError: the version is another one; nothing was saved.
            UnreachableError: the store did not answer; it is not known whether it was saved.
        """

    def forget(self, job: JobKey, /) -> None:
        """Remove all that is kept of the job; an unknown one is no error."""

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        """Give the rescales made since then, oldest first."""


class EventHandler(Protocol):
    """Tells somebody."""

    def handle(self, event: Event, /) -> None:
        """
        Deliver one event; the same `key` may come again and must do no harm.

        Raises:
            TransientError: not delivered; it will be offered again.
        """
