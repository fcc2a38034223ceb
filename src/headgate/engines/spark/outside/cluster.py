"""One standalone cluster seen from outside: its master, and the applications that are looked after."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from headgate.engines.spark.outside.fitting import executors_a_worker
from headgate.engines.spark.outside.gauged import GaugedApplication
from headgate.engines.spark.outside.rest import ListedApplication, MasterState, ask_master, open_pages
from headgate.engines.spark.outside.watched import WatchedApplication
from headgate.errors import NotFoundError
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.model.topology import Topology
from headgate.options.live import Live, in_force
from headgate.options.reactive import WorkersOptions
from headgate.options.spark import SparkOptions
from headgate.ports import JobContext, ResourceProvider

Watched = WatchedApplication | GaugedApplication
"""By its event log, or without one."""
_READERS = 4
"""Event logs that are read at once; one on a disk that hangs must not hold up what else has threads."""


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
        self._master = open_pages(options, options.master)
        # What opens the master is nothing for a driver, which runs the application's own code.
        stranger = replace(options, headers={}, token_file=None)
        self._driver = open_pages(stranger, options.driver) if options.driver else None
        self._watched: dict[str, Watched] = {}
        self._ids: dict[JobKey, str] = {}
        self._staffed: MasterState | None = None
        """The latest state in which there was a worker."""
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="headgate-event-log")

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
        self._staffed = state if state.workers else self._staffed
        return state

    def wanted(self, applications: Iterable[ListedApplication]) -> list[ListedApplication]:
        """Give those that are looked after, and forget those that are gone."""
        found = [one for one in applications if any(fits(one.name, glob) for glob in self.options.applications)]
        for gone in self._watched.keys() - {one.id for one in found}:
            del self._watched[gone]
        return found

    def watch(self, application: str) -> Watched:
        """Give an application by its id, as it was watched so far."""
        if application not in self._watched:
            self._watched[application] = self._begin(application)
        return self._watched[application]

    def _begin(self, application: str) -> Watched:
        if self.options.event_log_dir is not None:
            return WatchedApplication(application, self.options.event_log_dir, self._readers)
        if self._driver is not None:
            return GaugedApplication(application, self._driver, "")
        return GaugedApplication(application, self._master, f"/proxy/{application}")

    async def look(self, ctx: JobContext) -> Watched:
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

    def executors_a_worker(self, watched: Watched) -> int:
        """Give how many of an application fit on a worker; 0 where none does, or nobody has seen a worker yet."""
        listed = self._staffed.find(watched.id) if self._staffed else None
        if self._staffed is None or listed is None:
            return 0
        whole = not watched.setting("spark.executor.cores")
        return executors_a_worker(watched.executors, self._staffed, listed, whole=whole)

    def bounded(self, topology: Topology, watched: Watched) -> Topology:
        """Let no vertex want more tasks at once than run on all workers that there may be."""
        each = self.executors_a_worker(watched)
        if self.provider is None or not each:
            return topology
        most = self.workers.most * each * watched.executors.slots_each
        vertices = tuple(replace(v, max_parallelism=max(min(v.max_parallelism, most), 1)) for v in topology.vertices)
        return replace(topology, vertices=vertices)

    async def close(self) -> None:
        """Close the connections; a log that is being read is read to its end."""
        self._readers.shutdown(wait=False, cancel_futures=True)
        await self._master.close()
        if self._driver is not None:
            await self._driver.close()
