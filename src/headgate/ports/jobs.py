"""Which jobs there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from headgate.model.identity import JobKey
from headgate.model.samples import JobStatus
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
