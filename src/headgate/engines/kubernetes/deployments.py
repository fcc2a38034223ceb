"""The FlinkDeployments that run, each with the Flink adapters in front of it; those that are over are closed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.exceptions import FlinkFailureHistory
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.engines.kubernetes.api import Listing, ResourceApi
from headgate.engines.kubernetes.requests import Requests
from headgate.engines.kubernetes.resources import FlinkResource
from headgate.errors import NotFoundError
from headgate.options.kubernetes import KubernetesOptions
from headgate.options.service import ClusterOptions
from headgate.ports import EndOffsets, FailureHistory, MetricCollector, ScalingRealizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One FlinkDeployment, as the ports see it."""

    resource: FlinkResource
    """As it was listed last."""
    session_jobs: Mapping[str, FlinkResource] = field(default_factory=dict)
    """By Flink's job id, where it is a session cluster."""
    url: str
    client: FlinkClient
    collector: MetricCollector
    history: FailureHistory
    realizer: ScalingRealizer
    """Asks Flink itself, past the operator."""

    def resource_of(self, job_id: str) -> FlinkResource | None:
        """Give the resource that a job runs for; None: somebody has submitted it by hand."""
        return self.session_jobs.get(job_id) if self.resource.is_session else self.resource


class Deployments:
    """
    The FlinkDeployments of one Kubernetes cluster by the name of the Flink cluster that each is.

    Attributes:
        options: of the Kubernetes cluster.
        api: where the resources are asked for.
        requests: what was asked of the operator.
        running: the ports of each that has or had a JobManager and is meant to have one.
        failures: those that cannot be asked now, and why.
    """

    def __init__(
        self,
        options: KubernetesOptions,
        api: ResourceApi,
        requests: Requests | None = None,
        *,
        offsets: EndOffsets | None = None,
    ) -> None:
        """Know of none; `offsets` knows where the topics end that jobs read."""
        self.options = options
        self._offsets = offsets
        self.api = api
        self.requests = requests or Requests()
        self.running: dict[str, Deployment] = {}
        self.failures: dict[str, str] = {}

    async def follow(self, listing: Listing) -> None:
        """Open those that are new, keep those that were there, close those that are over."""
        before, self.running, self.failures = self.running, {}, {}
        for resource in (*listing.deployments, *listing.session_jobs):
            self.requests.look(resource)
        for place, why in listing.failures.items():
            self._keep_unseen(before, place, why)
        jobs = _by_cluster(listing.session_jobs)
        for resource in sorted(listing.deployments, key=lambda one: (one.namespace, one.name)):
            self._take(resource, jobs[resource.namespace, resource.name], before)
        kept = {id(one.client) for one in self.running.values()}
        for gone in before.values():
            if id(gone.client) not in kept:
                await gone.client.close()

    def owns(self, cluster: str) -> bool:
        """Tell whether a cluster is, or was, one of these deployments."""
        return cluster.startswith(f"{self.options.name}:")

    def known(self, cluster: str) -> Deployment | None:
        """Give the ports of one that runs; None of any other."""
        return self.running.get(cluster)

    def find(self, cluster: str) -> Deployment:
        """
        Give the ports of one that runs.

        Raises:
            NotFoundError: it does not.
        """
        if cluster not in self.running:
            message = f"deployment {cluster} does not run (any more)"
            raise NotFoundError(message)
        return self.running[cluster]

    async def close(self) -> None:
        """Close the connections to all."""
        for one in self.running.values():
            await one.client.close()

    def _keep_unseen(self, before: Mapping[str, Deployment], place: str, why: str) -> None:
        """Keep what ran last in a place that cannot be looked at: not seen is not gone."""
        nobody = f"{self.options.name}:{place}" if place else self.options.name
        unseen = {name: one for name, one in before.items() if place in {"", one.resource.namespace} or name == nobody}
        self.running |= unseen
        self.failures |= dict.fromkeys(unseen or [nobody], why)

    def _take(
        self, resource: FlinkResource, jobs: Mapping[str, FlinkResource], before: Mapping[str, Deployment]
    ) -> None:
        cluster = f"{self.options.name}:{resource.namespace}.{resource.name}"
        known = before.get(cluster)
        if resource.is_suspended:
            return
        if not resource.is_ready:
            state = resource.status.get("jobManagerDeploymentStatus", "not looked at by its operator yet")
            self.failures[cluster] = f"its JobManager is {state}{f': {resource.error}' if resource.error else ''}"
            self.running |= {cluster: known} if known else {}
            return
        if not _is_port(resource.rest_port):
            self.failures[cluster] = f"its rest.port is no port: {resource.rest_port[:20]!r}"
            return
        url = address_of(self.options, resource)
        one = known if known is not None and known.url == url else self._open(cluster, resource, url)
        self.running[cluster] = replace(one, resource=resource, session_jobs=jobs)

    def _open(self, cluster: str, resource: FlinkResource, url: str) -> Deployment:
        client = FlinkClient(
            ClusterOptions(
                name=cluster,
                url=url,
                ca_file=self.options.ca_file,
                token_file=self.options.token_file,
                request_timeout=self.options.request_timeout,
                max_calls_in_flight=self.options.max_calls_in_flight,
            )
        )
        clients = {cluster: client}
        return Deployment(
            resource=resource,
            url=url,
            client=client,
            collector=FlinkMetricCollector(clients, offsets=self._offsets),
            history=FlinkFailureHistory(clients),
            realizer=ResourceRequirementsRealizer(clients),
        )


def address_of(options: KubernetesOptions, resource: FlinkResource) -> str:
    """Put a JobManager's address together from what the operator of Headgate declared, and names that are checked."""
    return options.rest_url.format(
        deployment=resource.name, namespace=resource.namespace, port=resource.rest_port.strip()
    )


def _is_port(text: str) -> bool:
    """Whoever writes a resource chooses its port, and with that must not choose a host."""
    return text.strip().isascii() and text.strip().isdecimal()


def _by_cluster(session_jobs: Iterable[FlinkResource]) -> Mapping[tuple[str, str], Mapping[str, FlinkResource]]:
    found: dict[tuple[str, str], dict[str, FlinkResource]] = defaultdict(dict)
    for job in session_jobs:
        if job.job_id:
            found[job.namespace, job.deployment][job.job_id] = job
    return found
