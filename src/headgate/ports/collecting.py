"""Observing jobs, and keeping what was observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headgate.model.identity import JobKey
from headgate.model.rollback import JobFailures
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.ports.jobs import JobContext


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

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give one aggregate over the TaskManagers a metric."""

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """
        Give signals that the engine does not have, by the name that the operator declared them under.

        One that cannot be had now is absent; what is too old to count is for the reader to tell by its time.
        """

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered between samples; the job is gone."""


class FailureHistory(Protocol):
    """What an engine remembers of a job's failures; asked only while a rescale of the job is under observation."""

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """
        Give the failures since an instant.

        Raises:
            NotFoundError: the job is gone.
            TransientError: the engine gave no usable answer.
        """


class SampleSink(Protocol):
    """Takes the samples of one tick."""

    def append(self, samples: Sequence[JobSample], /) -> None:
        """
        Keep the samples of one tick; a second call for the same tick replaces the first.

        Raises:
            TransientError: the log could not be written; nothing of the tick was kept.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """An external metric that cannot be had now."""

    why: str
    """One sentence without secrets."""


class SignalSource(Protocol):
    """Reads external metrics from one system: Prometheus, an HTTP service, a database, Kafka."""

    async def query(self, ctx: JobContext, signals: Sequence[str], /) -> Mapping[str, Signal | Missing]:
        """
        Read these declared signals for a job, as many as possible in one call.

        One that cannot be had is a `Missing`, or absent. Calls for many jobs come at the same time, and one may be
        cancelled; what was asked for then still counts for the next call.

        Raises:
            TransientError: the system gave no usable answer.
        """
