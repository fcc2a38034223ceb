"""Changes the parallelism of simulated jobs. Implements `headgate.ports.ScalingRealizer`."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.collector import find
from headgate.engines.simulated.failures import FailureKind
from headgate.engines.simulated.job import RunningJob
from headgate.errors import OvertakenError, RefusedError, UnreachableError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext


class SimulatedScalingRealizer:
    """Tells the cluster what is wanted; when the job restarts is the cluster's business."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        """Ask nothing yet."""
        self._cluster = cluster

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Ask for these parallelisms; vertices that the job does not have are ignored.

        Raises:
            RefusedError: the engine will not do it, or a rescale is to be taken back of a job that somebody else has
                asked for something else since.
        """
        job = find(self._cluster, ctx)
        self._refuse(ctx)
        wanted = {str(vertex): parallelism for vertex, parallelism in overrides.items() if vertex in job.tasks}
        for name, parallelism in wanted.items():
            most = job.tasks[name].spec.max_parallelism
            if not 1 <= parallelism <= most:
                message = f"{ctx.key}: {name} cannot run at {parallelism}, only at 1 to {most}"
                raise RefusedError(message)
        _confirm_asked(ctx, job)
        sent = job.require(wanted, self._cluster.now_s)
        if self._cluster.suffers(FailureKind.LOST_ANSWER, ctx.key.name):
            message = f"{ctx.key}: the answer got lost"
            raise UnreachableError(message)
        return sent

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Refuse: a simulated job has no configuration."""
        named = ", ".join(sorted({*changes.overrides, *changes.removals})) or "nothing"
        message = f"{ctx.key}: a simulated job has no configuration to change ({named})"
        raise RefusedError(message)

    def _refuse(self, ctx: JobContext) -> None:
        if self._cluster.suffers(FailureKind.REFUSAL, ctx.key.name):
            message = f"{ctx.key}: the engine will not do it, as the scenario has it"
            raise RefusedError(message)
        if self._cluster.suffers(FailureKind.TIMEOUT, ctx.key.name):
            message = f"{ctx.key}: no answer in time, as the scenario has it"
            raise UnreachableError(message)


def _confirm_asked(ctx: JobContext, job: RunningJob) -> None:
    """Hold what a job is asked for now against the rescale that is to be taken back."""
    intent = ctx.intent
    if intent is None or intent.takes_back is None:
        return
    for vertex, after in intent.after.items():
        before, present = intent.before[vertex], job.required.get(vertex, after)
        if not min(before, after) <= present <= max(before, after):
            message = f"{ctx.key}: somebody else asked for {vertex} at {present}, not {before}: nothing is taken back"
            raise OvertakenError(message)
