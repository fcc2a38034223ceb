"""A fake API server, a fake operator that looks when it is told to, and the ports in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from headgate.config.jobs import JobSettings, for_job
from headgate.engines.kubernetes.api import ResourceApi
from headgate.engines.kubernetes.deployments import Deployments
from headgate.engines.kubernetes.jobs import KubernetesJobListFetcher
from headgate.engines.kubernetes.realizer import FlinkOperatorRealizer
from headgate.engines.kubernetes.requests import Requests
from headgate.engines.kubernetes.resources import OVERRIDES, FlinkResource, Plural, read_resource
from headgate.model.identity import VertexId
from headgate.options.kubernetes import KubernetesOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.ports import JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.fake_kubernetes import FakeKubernetes
from headgate.testing.fake_operator import FakeOperator, flink_deployment, flink_session_job

SERVICE = ServiceOptions(clusters=(ClusterOptions(name="other", url="http://127.0.0.1:9"),))


@dataclass(kw_only=True)
class Stage:
    """One namespace with a FlinkDeployment `orders` of three vertices, and a session cluster `shared` with one job."""

    api: FakeKubernetes
    operator: FakeOperator
    orders: FakeFlink
    shared: FakeFlink
    options: KubernetesOptions
    seconds: float = 0.0
    """The clock of the requests."""
    opened: list[Deployments] = field(default_factory=list)

    def look(self, **options: Any) -> None:
        """Begin anew, as another process would, with other options."""
        self.options = replace(self.options, **options)
        deployments = Deployments(self.options, ResourceApi(self.options), Requests(lambda: self.seconds))
        self.opened.append(deployments)
        self.fetcher = KubernetesJobListFetcher(deployments, self.settings_of)
        self.realizer = FlinkOperatorRealizer([deployments])

    @staticmethod
    def settings_of(key: Any, own: Any) -> JobSettings:
        """Read a job's own configuration as the service does."""
        return for_job(SERVICE, key, own)

    async def close(self) -> None:
        """Close the connections."""
        for one in self.opened:
            await one.close()
            await one.api.close()

    async def job(self, name: str = "orders-job") -> JobContext:
        """List the jobs and give one."""
        return next(job for job in (await self.fetcher.fetch()).jobs if job.key.name == name)

    async def ask(self, *numbers: int, job: str = "orders-job") -> bool:
        """Ask for the parallelism of the first vertices of a job."""
        return await self.realizer.realize_parallelism_overrides(await self.job(job), self.wish(*numbers, job=job))

    def wish(self, *numbers: int, job: str = "orders-job") -> dict[VertexId, int]:
        """Name the first vertices of a job."""
        running = self.running(job)
        return {VertexId(vertex.id): number for vertex, number in zip(running.vertices, numbers, strict=False)}

    def running(self, name: str = "orders-job") -> FakeJob:
        """Give a job as it runs now."""
        jobs = (job for flink in (self.orders, self.shared) for job in flink.jobs.values())
        return next(job for job in jobs if job.name == name)

    def parallelism(self, name: str = "orders-job") -> list[int]:
        """Give what each vertex of a job runs at, all that was asked for done."""
        job = self.running(name)
        job.advance_to((self.orders if name == "orders-job" else self.shared).now_ms)
        return [vertex.parallelism for vertex in job.vertices]

    def resource(self, name: str = "orders", plural: Plural = Plural.DEPLOYMENT) -> FlinkResource:
        """Give a resource as it is now."""
        return read_resource(plural, self.api.objects[plural, "flink", name])

    def written(self) -> list[int]:
        """Give the numbers that are written for the vertices of the first job."""
        overrides = self.resource().overrides
        return [overrides[VertexId(vertex.id)] for vertex in self.running().vertices if vertex.id in overrides]

    def changes(self) -> int:
        """Count the changes of resources."""
        return len(self.api.bodies())

    async def edit(self, spec: dict[str, Any] | None = None, /, **configuration: str | None) -> None:
        """Change the deployment, as its owner would, and let the operator look; that is no change of Headgate's."""
        named = {key.replace("__", "-").replace("_", "."): text for key, text in configuration.items()}
        await self.operator.edit(Plural.DEPLOYMENT, "orders", {"flinkConfiguration": named, **(spec or {})})
        await self.operator.look()
        self.api.requests.clear()

    async def write(self, text: str) -> None:
        """Write overrides by hand."""
        await self.operator.edit(Plural.DEPLOYMENT, "orders", {"flinkConfiguration": {OVERRIDES: text}})
        await self.operator.look()
        self.api.requests.clear()

    async def status(self, **status: Any) -> None:
        """Let the operator say something else."""
        present = self.api.objects[Plural.DEPLOYMENT, "flink", "orders"]
        present["status"] = {**present["status"], **status}


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Serve it."""
    async with AsyncExitStack() as stack:
        orders = await stack.enter_async_context(FakeFlink([chain(job_id="a" * 32, name="orders-job", vertices=3)]))
        shared = await stack.enter_async_context(FakeFlink([chain(job_id="b" * 32, name="clicks", vertices=2)]))
        api = await stack.enter_async_context(FakeKubernetes())
        kubeconfig = api.write_kubeconfig(tmp_path)
        flinks = {"orders": orders, "shared": shared}
        operator = FakeOperator(kubeconfig=kubeconfig, namespace="flink", flinks=flinks, idle=True)
        await stack.enter_async_context(operator)
        await operator.create(Plural.DEPLOYMENT, flink_deployment("orders", orders))
        session = flink_deployment("shared", shared)
        del session["spec"]["job"]
        await operator.create(Plural.DEPLOYMENT, session)
        await operator.create(Plural.SESSION_JOB, flink_session_job("clicks", "shared"))
        options = KubernetesOptions(name="k8s", kubeconfig=str(kubeconfig), rest_url="http://127.0.0.1:{port}")
        stage = Stage(api=api, operator=operator, orders=orders, shared=shared, options=options)
        api.requests.clear()
        stage.look()
        yield stage
        await stage.close()
