"""Changes jobs through the resources of Flink's Kubernetes operator, in place where that can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.engines.flink.details import read_details
from headgate.engines.flink.realizer import read_requirements, upper_bounds
from headgate.engines.kubernetes.deployments import Deployments
from headgate.engines.kubernetes.paths import Managed
from headgate.engines.kubernetes.resources import OVERRIDES, FlinkResource, Plural, joined, placed, write_overrides
from headgate.engines.kubernetes.wish import Wish
from headgate.errors import NotFoundError, RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import IN_PLACE
from headgate.ports import JobContext, ScalingRealizer

_MEMORY = "taskmanager.memory.process.size"
"""What the operator takes from a field of its own."""


class FlinkOperatorRealizer:
    """
    Writes what is wished into a job's FlinkDeployment or FlinkSessionJob. Implements `headgate.ports.ScalingRealizer`.

    What the operator accepts without complaint and then answers with a redeploy is refused here. It says that all is
    well before a job runs as it should, so only Flink is believed.
    """

    def __init__(self, clusters: Sequence[Deployments]) -> None:
        """
        Ask nothing yet.

        Args:
            clusters: the deployments of each Kubernetes cluster; whoever made them closes them.
        """
        self._clusters = clusters

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Write the overrides of all vertices, if one of those that are named differs.

        What is written already and was not taken is written again, once the operator has had the time for it.
        Nothing is sent for a job that does not run, unless the intent takes a rescale back: then that may be why.
        Vertices that it does not have, or that are excluded, are ignored.

        Raises:
            ConflictError: somebody else has changed the job or its resource since.
            RefusedError: a redeploy would be needed and is not allowed, a number is not possible, the operator's own
                autoscaler is on, or the operator does not want what is written.
        """
        takes_back = ctx.intent is not None and ctx.intent.takes_back is not None
        if ctx.status is not JobStatus.RUNNING and not takes_back:
            return False
        cluster = self._cluster(ctx)
        wish = await _look(cluster, ctx, overrides)
        if wish.is_written and wish.is_heard:
            return False
        _refuse_others(cluster, wish.resource)
        wish.check()
        if wish.is_written:
            return await _insist(cluster, wish)
        if wish.obstacle and (closed := wish.job.why_no_upgrade(cluster.options.upgrades)):
            message = f"{wish.resource} cannot be rescaled in place, as {wish.obstacle}; {closed}"
            raise RefusedError(message)
        if ctx.intent is not None:
            wish.confirm(ctx.intent)
        await _write(cluster, wish, wish.whole)
        return True

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """
        Write another configuration, where a redeploy is allowed and something of it differs.

        Raises:
            RefusedError: it is not allowed.
            ConflictError: somebody else has changed the resource since.
        """
        cluster = self._cluster(ctx)
        job = await _read(cluster, ctx)
        spec = _configured(job, changes)
        if not spec:
            return False
        if closed := job.why_no_upgrade(cluster.options.upgrades):
            named = ", ".join(sorted({*changes.overrides, *changes.removals}))
            message = f"{job.resource} cannot change its configuration ({named}) in place; {closed}"
            raise RefusedError(message)
        cluster.requests.note(await cluster.api.patch(job.resource, spec), in_place=False)
        return True

    def _cluster(self, ctx: JobContext) -> Deployments:
        for one in self._clusters:
            if one.owns(ctx.key.cluster):
                return one
        message = f"{ctx.key} is on no Kubernetes cluster. Hint: declare it under `kubernetes`"
        raise RefusedError(message)


class KubernetesScalingRealizer:
    """Lets the operator change its jobs, Flink itself those that name it so, and whatever stood before the others."""

    def __init__(
        self, operator: FlinkOperatorRealizer, clusters: Sequence[Deployments], others: ScalingRealizer
    ) -> None:
        """
        Look at each call who is asked.

        Args:
            operator: changes the jobs of all Kubernetes clusters.
            clusters: these, for jobs that go past the operator.
            others: changes the jobs of all other clusters.
        """
        self._operator = operator
        self._clusters = clusters
        self._others = others

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask for these parallelisms; the contract is the port's."""
        return await self._of(ctx).realize_parallelism_overrides(ctx, overrides)

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Change the configuration, if whoever is asked can."""
        return await self._of(ctx).realize_config_overrides(ctx, changes)

    def _of(self, ctx: JobContext) -> ScalingRealizer:
        owner = next((one for one in self._clusters if one.owns(ctx.key.cluster)), None)
        if owner is None:
            return self._others
        if ctx.options.realizer == IN_PLACE:
            return owner.find(ctx.key.cluster).realizer
        return self._operator


async def _read(cluster: Deployments, ctx: JobContext) -> Managed:
    """
    Read the resources of a job anew.

    Raises:
        NotFoundError: it has none (any more).
    """
    listed = cluster.find(ctx.key.cluster)
    own = listed.resource_of(ctx.job_id)
    if own is None:
        message = f"{ctx.key} is no job of a FlinkSessionJob: somebody has submitted it by hand"
        raise NotFoundError(message)
    resource = await cluster.api.read(own)
    is_whole = own.plural is Plural.DEPLOYMENT
    return Managed(resource=resource, cluster=resource if is_whole else await cluster.api.read(listed.resource))


async def _look(cluster: Deployments, ctx: JobContext, overrides: Mapping[VertexId, int]) -> Wish:
    """Hold what is wished against the job as it runs, and against its resources."""
    client = cluster.find(ctx.key.cluster).client
    details = await client.get(f"/jobs/{ctx.job_id}", read_details)
    job = await _read(cluster, ctx)
    obstacle = job.why_not_in_place(adaptive=details.adaptive)
    required = {vertex.id: vertex.parallelism for vertex in details.graph}
    if not obstacle:
        required |= upper_bounds(await client.get(f"/jobs/{ctx.job_id}/resource-requirements", read_requirements))
    excluded = frozenset(ctx.options.vertex_exclude_ids)
    return Wish(
        of={vertex: to for vertex, to in overrides.items() if vertex in required and vertex not in excluded},
        graph=details.graph,
        required=required,
        job=job,
        obstacle=obstacle,
        settled=job.resource.is_settled and not cluster.requests.is_young(job.resource),
        excluded=excluded,
    )


def _refuse_others(cluster: Deployments, resource: FlinkResource) -> None:
    """Refuse where somebody else decides what becomes of what is written."""
    if resource.has_autoscaler:
        message = f"the operator's own autoscaler scales {resource}. Hint: set `job.autoscaler.enabled: false` there"
        raise RefusedError(message)
    cluster.requests.look(resource)
    if mishap := cluster.requests.mishap(resource):
        message = f"{resource}: {mishap}"
        raise RefusedError(message)


async def _insist(cluster: Deployments, wish: Wish) -> bool:
    """Say again what is written and was not taken, once it is sure that nobody is at it."""
    if wish.resource.error:
        message = f"the operator does not do what {wish.resource} wants: {wish.resource.error}"
        raise RefusedError(message)
    if not wish.settled:
        return False
    if wish.obstacle:
        message = f"the operator takes {wish.resource} for done, and its job does not run at what is written there"
        raise RefusedError(message)
    await _write(cluster, wish, wish.again)
    return True


async def _write(cluster: Deployments, wish: Wish, overrides: Mapping[VertexId, int]) -> None:
    configuration = wish.resource.spec.get("flinkConfiguration") or {}
    spec: dict[str, Any] = {"flinkConfiguration": placed(configuration, OVERRIDES, write_overrides(overrides))}
    if wish.obstacle and wish.job.forgets_overrides:
        spec["job"] = {"parallelism": _common(wish, overrides)}
    cluster.requests.note(await cluster.api.patch(wish.resource, spec), in_place=not wish.obstacle)


def _common(wish: Wish, overrides: Mapping[VertexId, int]) -> int:
    """
    Give the one parallelism of all vertices.

    Raises:
        RefusedError: there is none.
    """
    counted = (vertex for vertex in wish.graph if vertex.id in wish.of or not vertex.finished)
    numbers = {overrides.get(vertex.id, vertex.parallelism) for vertex in counted}
    if len(numbers) > 1:
        message = (
            f"{wish.resource}: Flink 2 starts a job without its overrides, so after a redeploy its vertices cannot "
            f"have different numbers ({', '.join(map(str, sorted(numbers)))}). Hint: only in place they can"
        )
        raise RefusedError(message)
    return numbers.pop()


def _configured(job: Managed, changes: ConfigChanges) -> Mapping[str, Any]:
    """Give what of a resource's `spec` must change; empty where all is so already."""
    written, nested = job.resource.configuration, job.resource.spec.get("flinkConfiguration") or {}
    wanted: dict[str, str | None] = {**changes.overrides, **dict.fromkeys(changes.removals)}
    memory = wanted.pop(_MEMORY, None)
    spec: dict[str, Any] = {}
    for key, value in wanted.items():
        if written.get(key) != value:
            spec = joined(spec, {"flinkConfiguration": placed(nested, key, value)})
    resource = (job.cluster.spec.get("taskManager") or {}).get("resource") or {}
    if memory is not None and resource.get("memory") != memory:
        if job.resource is not job.cluster:
            message = f"{job.resource} has no TaskManagers of its own, so their memory cannot change for it"
            raise RefusedError(message)
        spec["taskManager"] = {"resource": {"memory": memory}}
    return spec
