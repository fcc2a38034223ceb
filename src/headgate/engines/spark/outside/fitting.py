"""How many executors of an application a worker has room for. No I/O."""

from __future__ import annotations

from headgate.engines.spark.application import Executors
from headgate.engines.spark.outside.rest import ListedApplication, MasterState, WorkerSize


def executors_a_worker(executors: Executors, state: MasterState, application: ListedApplication, *, whole: bool) -> int:
    """
    Give how many fit on the smallest worker that is alive; 0 where not one does, or there is no worker.

    Args:
        executors: of the application, which are all alike.
        state: of the cluster.
        application: as the master tells of it.
        whole: whether each takes all cores of its worker, as one does that names no number of them.
    """
    rooms = (_room(worker, executors, application, whole=whole) for worker in state.workers)
    return min(rooms, default=0)


def _room(worker: WorkerSize, executors: Executors, application: ListedApplication, *, whole: bool) -> int:
    by_cores = 1 if whole else worker.cores // executors.cores_each
    if not application.executor_mb or worker.mb is None:
        return by_cores
    return min(by_cores, worker.mb // application.executor_mb)
