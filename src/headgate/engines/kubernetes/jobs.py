"""Lists the jobs of a Kubernetes cluster's FlinkDeployments and FlinkSessionJobs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.config.jobs import JobSettings, ours
from headgate.engines.flink.jobs import name_jobs
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.engines.flink.wishes import Basis, SettingsOf
from headgate.engines.kubernetes.deployments import Deployment, Deployments
from headgate.engines.kubernetes.resources import FlinkResource
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.ports import JobContext, JobList

_THEIRS = (
    "the operator's own autoscaler scales this job, so it is only advised. "
    "Hint: `job.autoscaler.enabled: false` in its resource turns that off"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    own: Mapping[str, str]
    basis: object
    settings: JobSettings


class KubernetesJobListFetcher:
    """
    Asks Kubernetes which resources there are, and each JobManager for its jobs. Implements `ports.JobListFetcher`.

    What a job wants of Headgate stands in its resource's `flinkConfiguration`.
    """

    def __init__(self, deployments: Deployments, settings_of: SettingsOf, *, basis: Basis = lambda: None) -> None:
        """
        Ask nothing yet.

        Args:
            deployments: follows what runs; collector and realizer look there, too.
            settings_of: gives the options that hold for a job, by its key and its own configuration.
            basis: gives another object whenever these may have changed.
        """
        self._deployments = deployments
        self._settings_of = settings_of
        self._basis = basis
        self._known: dict[JobKey, _Known] = {}

    async def fetch(self) -> JobList:
        """List the jobs of every JobManager that answers; the contract is the port's."""
        await self._deployments.follow(await self._deployments.api.find())
        self._known = {key: known for key, known in self._known.items() if key.cluster in self._deployments.running}
        failing = dict(self._deployments.failures)
        asked = {cluster: one for cluster, one in self._deployments.running.items() if cluster not in failing}
        answers = await asyncio.gather(*(self._jobs(cluster, one) for cluster, one in asked.items()))
        failing |= {cluster: why for cluster, why in zip(asked, answers, strict=True) if isinstance(why, str)}
        jobs = (job for answer in answers if not isinstance(answer, str) for job in answer)
        return JobList(jobs=tuple(jobs), failures=failing)

    async def _jobs(self, cluster: str, one: Deployment) -> Sequence[JobContext] | str:
        try:
            listed = await one.client.get("/jobs/overview", read_jobs)
        except HeadgateError as error:
            return str(error)
        managed = {job.job_id: resource for job in listed if (resource := one.resource_of(job.job_id)) is not None}
        named = name_jobs(cluster, (job for job in listed if job.job_id in managed))
        return [self._context(key, job, managed[job.job_id]) for key, job in named]

    def _context(self, key: JobKey, job: ListedJob, resource: FlinkResource) -> JobContext:
        # by the name alone: the second job of a name is no less bound by what its owner wants
        settings = _restrained(self._settings(JobKey(key.cluster, job.name), resource.settings), resource)
        complaint = f"the operator says: {resource.error}" if resource.error else ""
        mishap = self._deployments.requests.mishap(resource)
        return JobContext(
            key=key,
            job_id=job.job_id,
            status=job.status,
            options=settings.options,
            faults=(*settings.told, *filter(None, (complaint, mishap))),
            started_at=instant(job.started_at_ms),
        )

    def _settings(self, key: JobKey, own: Mapping[str, str]) -> JobSettings:
        """Put the settings of a job together when something of them has changed: that takes milliseconds."""
        own, basis = ours(own), self._basis()
        known = self._known.get(key)
        if known is None or known.basis is not basis or known.own != own:
            known = self._known[key] = _Known(own=own, basis=basis, settings=self._settings_of(key, own))
        return known.settings


def _restrained(settings: JobSettings, resource: FlinkResource) -> JobSettings:
    """Leave a job alone that the operator scales by itself."""
    if not resource.has_autoscaler:
        return settings
    options = replace(settings.options, scaling_enabled=False)
    return replace(settings, options=options, warnings=(*settings.warnings, _THEIRS))
