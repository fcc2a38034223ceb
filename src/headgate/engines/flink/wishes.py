"""What the jobs of a cluster want of Headgate: read from each job's own configuration, now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

from headgate.config import JobSettings
from headgate.config.jobs import ours
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.settings import read_config
from headgate.errors import PermanentError, TransientError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus

SettingsOf = Callable[[JobKey, Mapping[str, str]], JobSettings]
"""From a job, by the name that its owner gave it, and its own configuration to what holds for it."""

Basis = Callable[[], object]
"""Gives what the settings rest on besides the job's own configuration: another object means that they may differ."""

_AGE_S = 300
"""How long an answer is believed at least: a job's configuration changes with a restart of its JobManager only."""

_FAILING = frozenset({JobStatus.STARTING, JobStatus.RESTARTING, JobStatus.FAILED})
"""Flink tells the configuration of one that has failed for good from its archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    own: Mapping[str, str]
    settings: JobSettings
    basis: object
    until_s: float


class Wishes:
    """Remembers the settings of each job id; one that could not be asked yet is advised, not changed."""

    def __init__(
        self,
        client: FlinkClient,
        settings_of: SettingsOf,
        *,
        basis: Basis = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask nothing yet; `clock` gives seconds."""
        self._client = client
        self._settings_of = settings_of
        self._basis = basis
        self._clock = clock
        self._known: dict[str, _Known] = {}

    async def settings(self, key: JobKey, job_id: str, *, status: JobStatus = JobStatus.RUNNING) -> JobSettings:
        """
        Give the settings of a job, asked for once and then every five to ten minutes.

        What is known is put together anew when its basis has changed, without asking.
        Calls that fail or are refused leave what is known. A job of which nothing is known yet is asked again the
        next time, and is not scaled until then: its owner may have switched that off. Only the answer of one that runs
        or has failed for good is kept: otherwise Flink may answer with less, or that there is no such job.
        """
        known = self._known.get(job_id)
        is_running = status is JobStatus.RUNNING
        if known is not None and not (is_running and self._clock() >= known.until_s):
            return self._renewed(key, job_id, known)
        if not is_running:
            return await self._passing(key, job_id, status)
        try:
            own = ours(await self._read(job_id))
        except (TransientError, PermanentError) as error:
            if known:
                return self._renewed(key, job_id, known)
            return _cautious(self._settings_of(key, {}), str(error))
        return self._remember(key, job_id, own, self._clock() + _age_s(job_id))

    async def _passing(self, key: JobKey, job_id: str, status: JobStatus) -> JobSettings:
        """Give what a job wants that fails, maybe since a rescale before this process began: it must be helped."""
        if status in _FAILING:
            with suppress(TransientError, PermanentError):
                own = ours(await self._read(job_id))
                if status is JobStatus.FAILED:
                    return self._remember(key, job_id, own, self._clock() + _age_s(job_id))
                return self._settings_of(key, own)
        return _advised(self._settings_of(key, {}))

    def keep(self, job_ids: Iterable[str]) -> None:
        """Forget all other jobs."""
        listed = set(job_ids)
        self._known = {job_id: known for job_id, known in self._known.items() if job_id in listed}

    def _renewed(self, key: JobKey, job_id: str, known: _Known) -> JobSettings:
        if known.basis is self._basis():
            return known.settings
        return self._remember(key, job_id, known.own, known.until_s)

    def _remember(self, key: JobKey, job_id: str, own: Mapping[str, str], until_s: float) -> JobSettings:
        basis = self._basis()  # first: what changes meanwhile is seen the next time
        settings = self._settings_of(key, own)
        self._known[job_id] = _Known(own=own, settings=settings, basis=basis, until_s=until_s)
        return settings

    async def _read(self, job_id: str) -> Mapping[str, str]:
        """Read what the JobManager of the job was started with, and over it the job's global parameters."""
        started_with, parameters = f"/jobs/{job_id}/jobmanager/config", f"/jobs/{job_id}/config"
        try:
            own = await self._client.get(started_with, read_config)
        except PermanentError:
            # not every version and setup has both; whoever refuses both has not said that there is nothing
            return await self._client.get(parameters, read_parameters)
        try:
            return {**own, **await self._client.get(parameters, read_parameters)}
        except PermanentError:
            return own


def read_parameters(answer: Any) -> Mapping[str, str]:
    """Read the global job parameters of `/jobs/:id/config`; empty when the job has none."""
    parameters = answer.get("execution-config", {}).get("user-config") or {}
    return {key: str(value) for key, value in parameters.items()}


def _cautious(settings: JobSettings, why: str) -> JobSettings:
    warning = f"the job's configuration is not known yet, so it is not scaled: {why}"
    return replace(_advised(settings), warnings=(warning,))


def _advised(settings: JobSettings) -> JobSettings:
    return replace(settings, options=replace(settings.options, scaling_enabled=False))


def _age_s(job_id: str) -> int:
    # spread over as long again, so that the jobs of a large cluster are not all due at the same tick
    return _AGE_S + crc32(job_id.encode()) % _AGE_S
