"""
A stand-in for Flink's Kubernetes operator: it does to resources and to fake jobs what the real one was seen to do.

It runs against any Kubernetes API, a real one too. What it does not do: start anything, savepoints, events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from headgate.engines.kubernetes.resources import GROUP, OVERRIDES, VERSION, FlinkResource, Plural, read_resource
from headgate.errors import ConflictError, NotFoundError, TransientError
from headgate.kube.api import KubernetesApi
from headgate.kube.login import Login
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob

_BETWEEN_LOOKS_S = 0.02


def flink_deployment(name: str, flink: FakeFlink, **configuration: str) -> dict[str, Any]:
    """Give a FlinkDeployment in native mode whose job keeps its state, and whose REST address is that of a fake."""
    own = {"jobmanager.scheduler": "adaptive", "rest.port": flink.url.rpartition(":")[2]}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "FlinkDeployment",
        "metadata": {"name": name},
        "spec": {
            "flinkVersion": "v2_0",
            "mode": "native",
            "flinkConfiguration": {**own, **configuration},
            "taskManager": {"resource": {"memory": "1024m", "cpu": 1}},
            "job": {"jarURI": "local:///job.jar", "parallelism": 1, "upgradeMode": "savepoint", "state": "running"},
        },
    }


def flink_session_job(name: str, deployment: str, **configuration: str) -> dict[str, Any]:
    """Give a FlinkSessionJob that keeps its state."""
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "FlinkSessionJob",
        "metadata": {"name": name},
        "spec": {
            "deploymentName": deployment,
            "flinkConfiguration": configuration,
            "job": {"jarURI": "https://jars.example.org/job.jar", "upgradeMode": "savepoint", "state": "running"},
        },
    }


def upgrading(job: str) -> dict[str, Any]:
    """Give the status of a resource that is changed, with the state of its job as far as the operator has got."""
    reconciled = json.dumps({"spec": {"job": {"state": job}}})
    reconciliation = {"state": "UPGRADING", "lastReconciledSpec": reconciled}
    return {"lifecycleState": "UPGRADING", "reconciliationStatus": reconciliation}


@dataclass(kw_only=True)
class FakeOperator:
    """
    It looks after one namespace from its begin as a context manager to its end.

    Attributes:
        kubeconfig: how the API is reached.
        namespace: where it looks.
        flinks: the cluster of each FlinkDeployment by name; a session job runs the job that has its name.
        redeploys: what was redeployed, in order.
        rescales: what was rescaled in place, in order.
        idle: whether it looks away for now.
        released: whether it calls a rescale in place an upgrade until its next look, as its releases do.
    """

    kubeconfig: Path
    namespace: str
    flinks: Mapping[str, FakeFlink]
    redeploys: list[str] = field(default_factory=list)
    rescales: list[str] = field(default_factory=list)
    idle: bool = False
    released: bool = False
    _done: dict[str, FlinkResource] = field(default_factory=dict)
    _task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin, and look once at everything that is there."""
        self._api = KubernetesApi(Login(kubeconfig=str(self.kubeconfig)), subject="the fake operator")
        await self.look()
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_: object) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._api.close()

    async def create(self, plural: Plural, manifest: Mapping[str, Any]) -> None:
        """Create a resource, as its owner would."""
        await self._api.ask("POST", self._place(plural), right=f"create on {plural}", body=manifest)
        await self.look()

    async def edit(self, plural: Plural, name: str, spec: Mapping[str, Any]) -> None:
        """Change a resource, as its owner would."""
        await self._api.ask("PATCH", f"{self._place(plural)}/{name}", right="patch", body={"spec": spec})

    async def look(self) -> None:
        """Look at every resource once, and do what has to be done."""
        for plural in Plural:
            listed = await self._api.ask("GET", self._place(plural), right=f"list on {plural}")
            for found in listed["items"]:
                with suppress(ConflictError, NotFoundError):
                    await self._reconcile(read_resource(plural, found))

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(_BETWEEN_LOOKS_S)
            if not self.idle:
                with suppress(TransientError):
                    await self.look()

    async def _reconcile(self, resource: FlinkResource) -> None:
        done = self._done.get(resource.path)
        if done is not None and done.generation == resource.generation:
            if resource.lifecycle == "UPGRADING":
                await self._tell(resource, self._status(resource))
            return
        self._done[resource.path] = resource
        text = resource.configuration.get(OVERRIDES, "")
        if text and ":" not in text:
            self._done[resource.path] = replace(done or resource, generation=resource.generation)
            await self._tell(resource, {"error": "Could not parse value"})
            return
        rescales = len(self.rescales)
        if done is not None:
            await self._apply(done, resource)
        is_under_way = self.released and len(self.rescales) > rescales
        await self._tell(resource, upgrading("running") if is_under_way else self._status(resource))

    async def _apply(self, before: FlinkResource, after: FlinkResource) -> None:
        if after.has_autoscaler:
            return  # swallowed: everything looks as if it were done
        job = self._job(after)
        if job is None or not self._can_rescale(before, after, job):
            await self._redeploy(after)
            return
        bounds = {vertex.id: (1, vertex.upper_bound or vertex.parallelism) for vertex in job.vertices}
        wanted = {vertex: (1, number) for vertex, number in after.overrides.items() if vertex in bounds}
        if not wanted.items() <= bounds.items():
            job.request(bounds | wanted)
            self.rescales.append(after.name)

    def _can_rescale(self, before: FlinkResource, after: FlinkResource, job: FakeJob) -> bool:
        """Tell whether nothing but overrides differs, none is gone, and Flink takes the numbers."""
        other = {key for key in {*before.configuration, *after.configuration} if key != OVERRIDES}
        same = all(before.configuration.get(key) == after.configuration.get(key) for key in other)
        rest = ("mode", "taskManager", "job")
        same = same and all(before.spec.get(key) == after.spec.get(key) for key in rest)
        most = {vertex.id: vertex.max_parallelism for vertex in job.vertices}
        numbers = all(1 <= number <= most.get(vertex, number) for vertex, number in after.overrides.items())
        text = after.configuration.get(OVERRIDES, "")
        numbers = numbers and len(after.overrides) == len([entry for entry in text.split(",") if entry])
        is_elastic = after.plural is Plural.SESSION_JOB or (
            after.is_native and after.configuration.get("jobmanager.scheduler") == "adaptive"
        )
        return same and numbers and is_elastic and before.overrides.keys() <= after.overrides.keys()

    async def _redeploy(self, resource: FlinkResource) -> None:
        """Start the job anew under another id, at its own parallelism: Flink 2 does not apply the overrides then."""
        self.redeploys.append(resource.name)
        await self._tell(resource, upgrading("suspended"))
        flink, job = self.flinks[resource.deployment], self._job(resource)
        if job is None:
            return
        flink.vanish(job.job_id)
        own = int((resource.spec.get("job") or {}).get("parallelism") or 1)
        vertices = [replace(vertex, parallelism=own, upper_bound=None) for vertex in job.vertices]
        flink.add(replace(job, job_id=f"{len(self.redeploys):032x}", vertices=vertices, submitted_at_ms=0))

    def _job(self, resource: FlinkResource) -> FakeJob | None:
        jobs = self.flinks[resource.deployment].jobs.values()
        if resource.plural is Plural.DEPLOYMENT:
            return None if resource.is_session else next(iter(jobs), None)
        return next((job for job in jobs if job.name == resource.name), None)

    def _status(self, resource: FlinkResource) -> Mapping[str, Any]:
        job = self._job(resource)
        known = {"jobId": job.job_id, "jobName": job.name, "state": "RUNNING"} if job else None
        is_deployment = resource.plural is Plural.DEPLOYMENT
        return {
            "observedGeneration": resource.generation,
            "lifecycleState": "STABLE",
            "error": None,
            "reconciliationStatus": {"state": "DEPLOYED"},
            **({"jobManagerDeploymentStatus": "READY"} if is_deployment else {}),
            **({"jobStatus": known} if known else {}),
        }

    async def _tell(self, resource: FlinkResource, status: Mapping[str, Any]) -> None:
        await self._api.ask("PATCH", f"{resource.path}/status", right="patch on status", body={"status": status})

    def _place(self, plural: Plural) -> str:
        return f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{plural}"
