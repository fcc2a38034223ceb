"""One standalone cluster seen from outside: its master, and the applications that are looked after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headgate.engines.spark.outside.rest import ListedApplication, MasterState, ask_master, open_master
from headgate.engines.spark.outside.watched import WatchedApplication
from headgate.errors import NotFoundError
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.model.topology import Topology
from headgate.options.live import Live, in_force
from headgate.options.reactive import WorkersOptions
from headgate.options.spark import SparkOptions
from headgate.ports import JobContext, ResourceProvider


class SparkCluster:
    """
    What fetcher, collector, history and realizer of one cluster share.

    Attributes:
        options: as they were at the start.
        provider: adds and removes its workers; None where Headgate may not. Whoever sets it closes it.
    """

    def __init__(self, options: SparkOptions, *, workers: Live[WorkersOptions] | None = None) -> None:
        """
        Ask nothing yet.

        Args:
            options: of the cluster.
            workers: the bounds of their number as they hold now; those of the options unless told otherwise.
        """
        self.options = options
        self.provider: ResourceProvider | None = None
        self._workers = options.workers if workers is None else workers
        self._master = open_master(options)
        self._watched: dict[str, WatchedApplication] = {}
        self._ids: dict[JobKey, str] = {}
        self._worker_cores: tuple[int, ...] = ()

    @property
    def workers(self) -> WorkersOptions:
        """How many there may be."""
        return in_force(self._workers)

    async def state(self) -> MasterState:
        """
        Ask the master.

        Raises:
            HeadgateError: it gave no usable answer.
        """
        state = await ask_master(self._master)
        self._worker_cores = state.worker_cores or self._worker_cores
        return state

    def wanted(self, applications: Iterable[ListedApplication]) -> list[ListedApplication]:
        """Give those that are looked after, and forget those that are gone."""
        found = [one for one in applications if any(fits(one.name, glob) for glob in self.options.applications)]
        for gone in self._watched.keys() - {one.id for one in found}:
            del self._watched[gone]
        return found

    def watch(self, application: str) -> WatchedApplication:
        """Give an application by its id, as it was watched so far."""
        if application not in self._watched:
            self._watched[application] = WatchedApplication(application, self.options.event_log_dir)
        return self._watched[application]

    async def look(self, ctx: JobContext) -> WatchedApplication:
        """
        Give an application as it is at this moment.

        Raises:
            NotFoundError: it has ended.
            TransientError: the master gave no usable answer, or its log cannot be read.
        """
        if (await self.state()).find(ctx.job_id) is None:
            message = f"application {ctx.job_id} does not run (any more) on {self.options.name}"
            raise NotFoundError(message)
        self._ids[ctx.key] = ctx.job_id
        watched = self.watch(ctx.job_id)
        await watched.follow()
        return watched

    def forget(self, job: JobKey) -> None:
        """Drop what was learnt of an application; one that was never seen is no error."""
        self._watched.pop(self._ids.pop(job, ""), None)

    def bounded(self, topology: Topology) -> Topology:
        """Let no vertex want more cores than all workers that there may be have."""
        if self.provider is None or not self._worker_cores:
            return topology
        most = self.workers.most * min(self._worker_cores)
        vertices = tuple(replace(v, max_parallelism=max(min(v.max_parallelism, most), 1)) for v in topology.vertices)
        return replace(topology, vertices=vertices)

    async def close(self) -> None:
        """Close the connections."""
        await self._master.close()
