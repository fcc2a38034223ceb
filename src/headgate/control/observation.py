"""
Watching: at every tick of the collector one sample of each live job.

Each cluster has an observer of its own, so that one that hangs makes no other late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.algorithm.experience import Expected, expected_rates
from headgate.algorithm.history import aged, growths
from headgate.algorithm.resets import Epochs
from headgate.algorithm.rules import is_fast, reach
from headgate.control import reports
from headgate.control.restarts import Restarts
from headgate.errors import HeadgateError, NotFoundError, UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import Candidate, EventHandler, JobContext, JobListFetcher, MetricCollector, SampleSink

_BATCHES = 2
"""The fewest that a window has to hold."""

AWAY = (NotFoundError, UnreachableError, TimeoutError)
"""What asking a job may come to while a rescale or redeploy of ours stops it: that is no error."""

_RESOLUTION = timedelta(milliseconds=1)
"""Of the times that the log keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is known of a live job: its latest sample, and why there is no newer one."""

    ctx: JobContext
    sample: JobSample | None = None
    """The newest that was ever taken, however old; its `at` tells."""
    since: datetime | None = None
    """Tick at which the key came to mean this job id, None if it always did: samples before it are another job's."""
    problem: NotReady | None = None
    """Why the last tick gave no sample; None when it did."""
    first_at: datetime | None = None
    """Tick of the first sample of the run that goes on, None before there is one."""
    began: datetime | None = None
    """Earliest start of this run by our own clock: after the last sample of the one before; None if none was seen."""

    def with_sample(self, sample: JobSample, at: datetime) -> Observation:
        """
        Return the observation with the sample of a tick. Its run began after the samples of the run before.

        The engine tells the start by its own clock: a tick of the run before may seem to lie in the new one, and a
        window would fill with samples of both. A start after the first sample is another run, as for the reference.
        """
        first_at, began = self.first_at, self.began
        if first_at is None or sample.running_since > first_at:
            began = min(self.sample.at + _RESOLUTION, at) if self.sample else None
            first_at = at
        if began and began > sample.running_since:
            sample = replace(sample, running_since=began)
        return replace(self, sample=sample, problem=None, first_at=first_at, began=began)


class Observer:
    """
    Keeps the latest observation of every live job that its fetcher lists.

    A cluster that does not answer keeps its jobs, marked unreachable: not seen is not gone.
    """

    def __init__(
        self,
        *,
        fetcher: JobListFetcher,
        collector: MetricCollector,
        sink: SampleSink,
        events: EventHandler,
        time_limit: timedelta,
        cluster: str = "",
        applied: Callable[[JobContext], JobContext] = lambda ctx: ctx,
        is_changing: Callable[[JobKey], bool] = lambda _: False,
    ) -> None:
        """
        Remember the ports.

        `time_limit` bounds the collection of one job, `cluster` is whose jobs they are, `applied` gives a job as it is
        to be observed: with the options that people have ordered. `is_changing` tells whether a change of a job is
        under way: that it does not answer meanwhile is no error.
        """
        self.cluster = cluster
        self._applied = applied
        self._is_changing = is_changing
        self._fetcher = fetcher
        self._collector = collector
        self._sink = sink
        self._events = events
        self._time_limit = time_limit.total_seconds()
        self._epochs = Epochs()
        self._failing: set[str] = set()
        self._observing = asyncio.Lock()
        self.latest: Mapping[JobKey, Observation] = {}
        self.failed: Mapping[JobKey, JobContext] = {}
        """Jobs that have ended by a failure, as long as their cluster lists them: a rescale may have been why."""
        self._unanswered: AbstractSet[str] | None = None
        """The clusters that did not answer the last look; None before the first."""

    async def observe(self, at: datetime) -> None:
        """Take one sample of each live job, keep them, and tell of clusters and jobs that came or went."""
        async with self._observing:
            await self._observe(at)

    async def observe_again(self, jobs: Collection[JobKey], at: datetime) -> None:
        """
        Take another sample of some jobs before their turn, and keep it.

        Nothing is done while their turn is under way. A job that is gone is left to its next one.
        """
        if self._observing.locked():
            return
        async with self._observing:
            again = [self._observe_job(self.latest[job].ctx, at) for job in jobs if job in self.latest]
            seen = [one for one in await asyncio.gather(*again) if one]
            await self._keep(_taken(seen), at)
            self.latest = {**self.latest, **{one.ctx.key: one for one in seen}}

    async def _observe(self, at: datetime) -> None:
        listed = await self._fetcher.fetch()
        self._tell_of_clusters(listed.failures, at)
        self._tell_of_options(listed.jobs, at)
        live = {job.key: job for job in listed.jobs if not job.status.is_over}
        over = {job.key: str(job.status) for job in listed.jobs if job.status.is_over}
        failed = {job.key: job for job in listed.jobs if job.status is JobStatus.FAILED}
        seen = await asyncio.gather(*(self._observe_job(ctx, at) for ctx in live.values()))
        unreachable = [
            _unreachable(old, listed.failures[key.cluster])
            for key, old in self.latest.items()
            if key.cluster in listed.failures
        ]
        latest = {one.ctx.key: one for one in (*(one for one in seen if one), *unreachable)}
        self._tell_of_presence(latest.keys(), over, at)
        # Kept before it is known: a decision goes by no sample that its evaluation does not find.
        await self._keep(_taken(seen), at)
        self.latest, self.failed, self._unanswered = latest, failed, listed.failures.keys()

    def misses(self, job: JobKey) -> bool:
        """Tell whether a job is not there, of a cluster of this observer's that has answered its last look."""
        if self._unanswered is None or not {job.cluster, self.cluster}.isdisjoint(self._unanswered):
            return False
        is_mine = f"{job.cluster}:".startswith(f"{self.cluster}:")
        return is_mine and job not in self.latest and job not in self.failed

    async def _observe_job(self, ctx: JobContext, at: datetime) -> Observation | None:
        old = self.latest.get(ctx.key)
        if old and old.ctx.job_id == ctx.job_id:
            return await self._look(replace(old, ctx=ctx), at)
        return await self._look(Observation(ctx=ctx, since=at if old else None), at)

    async def _look(self, seen: Observation, at: datetime) -> Observation | None:
        ctx = seen.ctx
        if ctx.status is not JobStatus.RUNNING:
            problem = NotReady(reason=Reason.JOB_NOT_RUNNING, message=f"the job is {ctx.status}")
            return replace(seen, problem=problem)
        try:
            async with asyncio.timeout(self._time_limit):
                sample = await self._collector.update_metrics(self._applied(ctx), at)
                return seen.with_sample(self._epochs.marked(sample), at)
        except NotFoundError:
            return None
        except (HeadgateError, TimeoutError) as error:
            return self._failed(seen, error, at)
        except Exception as error:  # noqa: BLE001 - one job's failure is that job's event, whatever it is
            return self._failed(seen, error, at)

    def _failed(self, seen: Observation, error: Exception, at: datetime) -> Observation:
        if isinstance(error, TimeoutError):
            error = TimeoutError(f"no sample within {self._time_limit:g} s")
        if not (isinstance(error, AWAY) and self._is_changing(seen.ctx.key)):
            self._events.handle(reports.job_error(seen.ctx.key, error, at, reports.DEFAULT_INTERVAL))
        problem = NotReady(reason=Reason.JOB_UNREACHABLE, message=f"no sample was taken: {error}")
        return replace(seen, problem=problem)

    def _tell_of_presence(self, listed: AbstractSet[JobKey], over: Mapping[JobKey, str], at: datetime) -> None:
        for key in listed - self.latest.keys():
            self._events.handle(reports.job_presence(key, appeared=True, why="is looked after from now on", now=at))
        for key in self.latest.keys() - listed:
            self._collector.forget(key)
            self._epochs.forget(key)
            why = f"is {over[key]}" if key in over else "is no longer listed by its cluster"
            self._events.handle(reports.job_presence(key, appeared=False, why=why, now=at))

    def _tell_of_clusters(self, failures: Mapping[str, str], at: datetime) -> None:
        for cluster in sorted(failures.keys() - self._failing):
            self._events.handle(reports.cluster_health(cluster, failures[cluster], at))
        for cluster in sorted(self._failing - failures.keys()):
            self._events.handle(reports.cluster_health(cluster, None, at))
        self._failing = set(failures)

    def _tell_of_options(self, jobs: Iterable[JobContext], at: datetime) -> None:
        for ctx in jobs:
            if ctx.faults:
                interval = ctx.options.scaling_event_interval
                self._events.handle(reports.options_invalid(ctx.key, ctx.faults, at, interval))

    async def _keep(self, samples: list[JobSample], at: datetime) -> None:
        if not samples:
            return
        try:
            await asyncio.to_thread(self._sink.append, samples)
        except Exception as error:  # noqa: BLE001 - what was seen is known, whether it could be kept or not
            why = str(error) or type(error).__name__
            self._events.handle(reports.fleet_error("samples could not be kept", why, at))


def _taken(seen: Iterable[Observation | None]) -> list[JobSample]:
    return [one.sample for one in seen if one and one.sample and one.problem is None]


def _unreachable(old: Observation, why: str) -> Observation:
    problem = NotReady(reason=Reason.JOB_UNREACHABLE, message=f"its cluster does not answer: {why}")
    return replace(old, problem=problem)


def candidate(seen: Observation, state: JobState, now: datetime, restarts: Restarts | None = None) -> Candidate | None:
    """
    Give the job for evaluation, None if it is not up.

    The restart it reckons with is the one it is known to take.
    """
    sample, options = seen.sample, seen.ctx.options
    if sample is None or seen.problem is not None or not options.enabled:
        return None
    state = aged(state, now, options)
    options = (restarts or Restarts()).expecting(seen.ctx, sample, state.history)
    options = _spanning_batches(options, sample.settings)
    begin = _window_begin(seen, sample, options, now)
    known = growths(state.history, sample.topology.parallelism)
    return Candidate(
        sample=sample,
        options=options,
        window_from=begin,
        arrivals_from=_arrivals_begin(seen, sample, options, now),
        growths=known,
        expected=_expected(sample, options, state, now),
    )


def _expected(
    sample: JobSample, options: AutoscalerOptions, state: JobState, now: datetime
) -> Mapping[VertexId, Expected]:
    """Give what counts beside the samples of a new layout; where a whole window has to be there, they count alone."""
    if not is_fast(options):
        return {}
    return expected_rates(state.history, sample.topology.parallelism, now - sample.running_since)


def _arrivals_begin(seen: Observation, sample: JobSample, options: AutoscalerOptions, now: datetime) -> datetime | None:
    """
    Give from when on the input is looked at, None where the whole window counts.

    What came in before a restart is as true as ever. Micro-batches tell of their input themselves.
    """
    if not is_fast(options) or sample.settings.shared_workers:
        return None
    return max(filter(None, (now - reach(options), seen.since)))


def _window_begin(seen: Observation, sample: JobSample, options: AutoscalerOptions, now: datetime) -> datetime:
    """
    Give where the window begins: no earlier than stabilization ended, nor than the job was another one.

    Where workers come and go while the job runs on, what came in before is as true as ever; not so what the log holds
    of an earlier start of it.
    """
    begin = now - options.metrics_window if seen.since is None else max(now - options.metrics_window, seen.since)
    if sample.settings.shared_workers:
        return max(begin, seen.ctx.started_at or begin)
    return max(begin, sample.running_since + options.stabilization_interval)


def _spanning_batches(options: AutoscalerOptions, settings: EngineSettings) -> AutoscalerOptions:
    """Let the window of micro-batch queries hold several batches, however long they take: each is one sample."""
    if not settings.shared_workers:
        return options
    least = _BATCHES * timedelta(seconds=settings.metric_refresh_s)
    return replace(options, metrics_window=max(options.metrics_window, least))
