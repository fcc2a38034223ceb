"""The Kubernetes engine keeps the contracts, in front of a fake API server and of a real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from tests.conformance.kubernetes_stage import KubernetesStage, kubernetes_stage
from tests.services.kubernetes import Kubernetes

from headgate.engines.kubernetes.resources import GROUP, VERSION, Plural
from headgate.engines.kubernetes.scale import ScaleSubresourceRealizer
from headgate.kube.api import KubernetesApi
from headgate.kube.login import Login
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.conformance.failure_history import FailureHistorySuite
from headgate.testing.conformance.job_list import JobListFetcherSuite
from headgate.testing.conformance.metric_collector import MetricCollectorSuite
from headgate.testing.conformance.scaling_realizer import ScalingRealizerSuite
from headgate.testing.fake_kubernetes import FakeKubernetes

SOURCE, MAPPER = VertexId("source"), VertexId("mapper")


class OnFake:
    """With one FlinkDeployment behind a fake API server."""

    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncIterator[KubernetesStage]:
        """Serve it."""
        async with FakeKubernetes() as api:
            read = lambda: api.objects[Plural.DEPLOYMENT, "flink", "orders"]  # noqa: E731 - bound to what is served
            async with kubernetes_stage(api.write_kubeconfig(tmp_path), "flink", read) as stage:
                yield stage


class OnKubernetes:
    """With one FlinkDeployment in a namespace of a real API server."""

    @pytest.fixture
    async def stage(self, flink_kubernetes: Kubernetes) -> AsyncIterator[KubernetesStage]:
        """Create it."""
        namespace = flink_kubernetes.create_namespace()
        read = partial(flink_kubernetes.read, GROUP, VERSION, Plural.DEPLOYMENT, namespace, "orders")
        async with kubernetes_stage(flink_kubernetes.kubeconfig, namespace, read) as stage:
            yield stage


class TestKubernetesJobListFetcher(OnFake, JobListFetcherSuite):
    """From the resources and each JobManager."""


class TestKubernetesMetricCollector(OnFake, MetricCollectorSuite):
    """Over REST."""


class TestKubernetesFailureHistory(OnFake, FailureHistorySuite):
    """Over REST."""


class TestFlinkOperatorRealizer(OnFake, ScalingRealizerSuite):
    """By a patch of the resource."""


class TestJobsOfKubernetes(OnKubernetes, JobListFetcherSuite):
    """The same."""


class TestResourcesOfKubernetes(OnKubernetes, ScalingRealizerSuite):
    """The same."""


class ScaledStage:
    """A resource whose replicas are the subtasks of each vertex but the source, which cannot have more than one."""

    def __init__(self, api: FakeKubernetes, kubeconfig: Path) -> None:
        """Put the realizer in front."""
        place = {
            "group": GROUP,
            "version": VERSION,
            "plural": Plural.DEPLOYMENT,
            "namespace": "flink",
            "name": "orders",
        }
        self.realizer = ScaleSubresourceRealizer({**place, "kubeconfig": str(kubeconfig)})
        self.job = JobContext(
            key=JobKey("k8s", "orders"), job_id="a" * 32, status=JobStatus.RUNNING, options=AutoscalerOptions()
        )
        self.wish: Mapping[VertexId, int] = {MAPPER: 4}
        self.impossible: Mapping[VertexId, int] = {}
        self._api = api

    def asked(self) -> Mapping[VertexId, int]:
        """Give what the replicas are."""
        (one,) = self._api.objects.values()
        return {SOURCE: 1, MAPPER: one["spec"]["taskManager"]["replicas"]}

    def requests(self) -> int:
        """Count the changes of the scale."""
        return len(self._api.bodies())

    async def end_job(self) -> None:
        """Delete the resource."""
        self._api.objects.clear()

    async def go_silent(self) -> None:
        """Let the API give no usable answer."""
        self._api.silent = True


class TestScaleSubresourceRealizer(ScalingRealizerSuite):
    """By one number for the whole job."""

    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncIterator[ScaledStage]:
        """Serve one resource of one replica."""
        async with FakeKubernetes() as api:
            kubeconfig = api.write_kubeconfig(tmp_path)
            made = {"metadata": {"name": "orders"}, "spec": {"taskManager": {"replicas": 1}}}
            client = KubernetesApi(Login(kubeconfig=str(kubeconfig)), subject="the test")
            path = f"/apis/{GROUP}/{VERSION}/namespaces/flink/{Plural.DEPLOYMENT}"
            await client.ask("POST", path, right="create", body=made)
            await client.close()
            yield ScaledStage(api, kubeconfig)
