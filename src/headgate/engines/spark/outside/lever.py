"""Adds and removes the executors of an application by adding and removing workers of its cluster."""

from __future__ import annotations

from headgate.engines.spark.application import Executors
from headgate.engines.spark.outside.cluster import SparkCluster, Watched
from headgate.engines.spark.outside.rest import MasterState
from headgate.errors import ConflictError, RefusedError
from headgate.ports import JobContext, ResourceProvider


class WorkersLever:
    """
    An `engines.spark.levers.ExecutorLever` of one application that has its cluster to itself.

    The master gives every worker an executor of such an application, as soon as it is there.
    """

    def __init__(self, cluster: SparkCluster, ctx: JobContext) -> None:
        """Ask nothing yet."""
        self._cluster = cluster
        self._ctx = ctx

    async def executors(self) -> Executors:
        """Tell which executors there are, by the event log."""
        return (await self._cluster.look(self._ctx)).executors

    async def request(self, count: int, /) -> bool:
        """
        Ask the provider for the workers on which so many executors run.

        Raises:
            RefusedError: the cluster has no provider, other applications run on it, the application takes no more than
                it was given, or so many workers may not be had.
            ConflictError: there are workers that the provider does not know (yet, or any more).
        """
        provider = self._provider()
        watched, state = await self._cluster.look(self._ctx), await self._cluster.state()
        self._refuse_company(state)
        _refuse_ceilings(watched, count)
        workers = -(-count // self._executors_a_worker(watched))
        self._refuse_bounds(workers)
        await self._refuse_strangers(provider, state)
        return await provider.request(workers)

    def _executors_a_worker(self, watched: Watched) -> int:
        each = self._cluster.executors_a_worker(watched)
        if not each:
            message = (
                f"not one executor of {watched.id} fits on the smallest worker of {self._cluster.options.name}, if "
                "there is one. Hint: compare spark.executor.cores and spark.executor.memory with what workers offer"
            )
            raise RefusedError(message)
        return each

    def _provider(self) -> ResourceProvider:
        if self._cluster.provider is None:
            name = self._cluster.options.name
            message = f"nobody may change the workers of {name}. Hint: set workers.provider of this Spark cluster"
            raise RefusedError(message)
        return self._cluster.provider

    def _refuse_company(self, state: MasterState) -> None:
        others = sorted(one.name for one in state.applications if one.id != self._ctx.job_id)
        if others:
            message = (
                f"the workers of {self._cluster.options.name} are those of {', '.join(others)} too: a worker more may "
                "be anybody's. Hint: give the application a cluster to itself, or call headgate.attach in it"
            )
            raise RefusedError(message)

    def _refuse_bounds(self, workers: int) -> None:
        bounds = self._cluster.workers
        if not bounds.least <= workers <= bounds.most:
            message = (
                f"{workers} workers are not within workers.min {bounds.least} and workers.max {bounds.most} of "
                f"{self._cluster.options.name}. Hint: change them, or the job's smallest and largest parallelism"
            )
            raise RefusedError(message)

    async def _refuse_strangers(self, provider: ResourceProvider, state: MasterState) -> None:
        ready = (await provider.workers()).ready
        if len(state.workers) > ready:
            message = (
                f"{self._cluster.options.name} has {len(state.workers)} workers, of which the provider has "
                f"{ready}. Hint: unless that passes, end those that were started by others"
            )
            raise ConflictError(message)


def _refuse_ceilings(watched: Watched, count: int) -> None:
    """Refuse where the application itself says how many executors it takes."""
    if watched.setting("spark.dynamicAllocation.enabled") == "true":
        message = f"{watched.id} has dynamic allocation on. Hint: set spark.dynamicAllocation.enabled=false"
        raise RefusedError(message)
    most = watched.setting("spark.cores.max")
    if most.isdecimal() and count * watched.executors.cores_each > int(most):
        message = f"{watched.id} takes no more than {most} cores. Hint: leave spark.cores.max unset"
        raise RefusedError(message)
