"""Which jobs there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.orders import NO_ORDERS, Orders
from headgate.model.rollback import Aftermath
from headgate.model.state import Intent
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """
    One job as its cluster lists it, with the options that hold for it: what every port is told of a job.

    A public value: a job list of your own makes it, `key` to `options` are all it takes, and every other port gets it
    as it was made. It holds no connection and no clock, and may be pickled.
    """

    key: JobKey
    """Cluster and name: what history, state and events are kept under, also when the job is submitted anew."""
    job_id: str
    """The engine's id of this submission; another one under the same key is another run of the same job."""
    status: JobStatus
    options: AutoscalerOptions
    """Whole: defaults, general options, and what is set for this job."""
    faults: tuple[str, ...] = ()
    """What is wrong with the job's own configuration, and what of it is ignored."""
    vertices: Mapping[VertexId, str] = field(default_factory=dict)
    """Names of its vertices in topological order; filled in where a signal source is asked."""
    started_at: datetime | None = None
    """Since when the engine has the job under this id, rescales and failures do not count; None: it does not tell."""
    intent: Intent | None = None
    """The change under way, as it was saved; set only where a realizer is called."""
    aftermath: Aftermath | None = None
    """What came after the last rescale, while it is under observation; set only where a checker is called."""
    orders: Orders = NO_ORDERS
    """What people have ordered for it, those for all jobs included; set once in each cycle."""


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
