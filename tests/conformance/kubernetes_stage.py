"""The fake Flink of the suites as a FlinkDeployment, behind a Kubernetes API that is a fake or a real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.conformance.flink_stage import OPTIONS, FlinkStage, flink_stage

from headgate.config.jobs import JobSettings
from headgate.engines.flink.clusters import ClustersFailureHistory, ClustersMetricCollector
from headgate.engines.kubernetes.api import ResourceApi
from headgate.engines.kubernetes.deployments import Deployments
from headgate.engines.kubernetes.jobs import KubernetesJobListFetcher
from headgate.engines.kubernetes.realizer import FlinkOperatorRealizer
from headgate.engines.kubernetes.resources import FlinkResource, Plural, read_resource
from headgate.model.identity import VertexId
from headgate.options.kubernetes import KubernetesOptions
from headgate.testing.fake_operator import FakeOperator, flink_deployment

Read = Callable[[], Mapping[str, Any]]


class KubernetesStage:
    """The same cluster and jobs; the operator looks away, so that what is asked for takes its time."""

    def __init__(self, flink: FlinkStage, deployments: Deployments, read: Read) -> None:
        """Put the Kubernetes adapters in front."""
        self.fetcher = KubernetesJobListFetcher(deployments, lambda *_: JobSettings(options=OPTIONS))
        self.collector = ClustersMetricCollector(deployments)
        self.history = ClustersFailureHistory(deployments)
        self.realizer = FlinkOperatorRealizer([deployments])
        self.wish, self.impossible = flink.wish, flink.impossible
        self.pass_time, self.start_twin = flink.pass_time, flink.start_twin
        self.end_job, self.go_silent = flink.end_job, flink.go_silent
        self.fail_job, self._flink, self._read = flink.fail_job, flink, read

    @property
    def now(self) -> datetime:
        """Give the JobManager's clock."""
        return self._flink.now

    def asked(self) -> Mapping[VertexId, int]:
        """Give what is written, over what Flink was asked for."""
        return {**self._flink.asked(), **self._seen.overrides}

    def requests(self) -> int:
        """Count the changes of the resource."""
        return self._seen.generation - 1

    async def look(self) -> None:
        """Find the jobs."""
        self.jobs = (await self.fetcher.fetch()).jobs
        self.job = self.jobs[0]

    @property
    def _seen(self) -> FlinkResource:
        return read_resource(Plural.DEPLOYMENT, self._read())


@asynccontextmanager
async def kubernetes_stage(kubeconfig: Path, namespace: str, read: Read) -> AsyncIterator[KubernetesStage]:
    """Serve one deployment with one job; `read` gives the deployment as it is now."""
    async with flink_stage() as flink:
        operator = FakeOperator(kubeconfig=kubeconfig, namespace=namespace, flinks={"orders": flink.server}, idle=True)
        async with operator:
            await operator.create(Plural.DEPLOYMENT, flink_deployment("orders", flink.server))
        options = KubernetesOptions(
            name="k8s", namespaces=(namespace,), kubeconfig=str(kubeconfig), rest_url="http://127.0.0.1:{port}"
        )
        deployments = Deployments(options, ResourceApi(options))
        stage = KubernetesStage(flink, deployments, read)
        await stage.look()
        yield stage
        await deployments.close()
        await deployments.api.close()
