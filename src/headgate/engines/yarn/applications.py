"""The applications that run, each with the Flink adapters in front of it; those that are over are closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.exceptions import FlinkFailureHistory
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.engines.flink.wishes import SettingsOf
from headgate.engines.yarn.manager import Application, Listing
from headgate.engines.yarn.reach import client_of
from headgate.errors import HeadgateError, NotFoundError
from headgate.options.yarn import YarnOptions
from headgate.ports import EndOffsets, FailureHistory, JobListFetcher, MetricCollector, ScalingRealizer

RealizerOf = Callable[[Mapping[str, FlinkClient]], ScalingRealizer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """One application, as the ports see it."""

    application: Application
    client: FlinkClient
    fetcher: JobListFetcher
    collector: MetricCollector
    history: FailureHistory
    realizer: ScalingRealizer


class Applications:
    """
    The applications of one YARN cluster by the name of the Flink cluster that each is.

    They are `engines.flink.clusters.Clusters`.

    Attributes:
        running: the ports of each.
        failures: those that cannot be asked, and why.
    """

    def __init__(
        self,
        options: YarnOptions,
        settings_of: SettingsOf,
        realizer_of: RealizerOf = ResourceRequirementsRealizer,
        *,
        offsets: EndOffsets | None = None,
    ) -> None:
        """
        Know of none.

        Args:
            options: of the YARN cluster.
            settings_of: gives the options that hold for a job, by its key and its own configuration.
            realizer_of: makes the realizer of an application's jobs.
            offsets: knows where the topics end that jobs read; None: only connectors tell what waits.
        """
        self._offsets = offsets
        self._options = options
        self._settings_of = settings_of
        self._realizer_of = realizer_of
        self.running: dict[str, Ports] = {}
        self.failures: dict[str, str] = {}

    async def follow(self, listing: Listing) -> None:
        """Open those that are new, keep those that were there, close those that are over."""
        before, self.running, self.failures = self.running, {}, {}
        for cluster, application in name_applications(self._options.name, listing.applications):
            known = before.get(cluster)
            if known is not None and known.application == application:
                self.running[cluster] = before.pop(cluster)
                continue
            try:
                self.running[cluster] = self._open(cluster, application, listing.manager)
            except HeadgateError as error:
                self.failures[cluster] = str(error)
        for gone in before.values():
            await gone.client.close()

    def owns(self, cluster: str) -> bool:
        """Tell whether a cluster is, or was, one of these applications."""
        return cluster.startswith(prefix_of(self._options.name))

    def find(self, cluster: str) -> Ports:
        """
        Give an application's ports.

        Raises:
            NotFoundError: it is over.
        """
        if cluster not in self.running:
            message = f"application {cluster} does not run (any more)"
            raise NotFoundError(message)
        return self.running[cluster]

    def known(self, cluster: str) -> Ports | None:
        """Give an application's ports; None of one that is over, and of any other cluster."""
        return self.running.get(cluster)

    async def close(self) -> None:
        """Close the connections to all."""
        for one in self.running.values():
            await one.client.close()

    def _open(self, cluster: str, application: Application, manager: str) -> Ports:
        client = client_of(self._options, cluster, application=application.id, manager=manager, rest=application.rest)
        clients = {cluster: client}
        return Ports(
            application=application,
            client=client,
            fetcher=FlinkJobListFetcher(clients, self._settings_of),
            collector=FlinkMetricCollector(clients, offsets=self._offsets),
            history=FlinkFailureHistory(clients),
            realizer=self._realizer_of(clients),
        )


def name_applications(yarn: str, applications: Iterable[Application]) -> Iterator[tuple[str, Application]]:
    """
    Give each application the name of the cluster that it is, so that it keeps it when it is submitted anew.

    Of several under one name the oldest has it, the others have their ids added. A slash becomes a colon.

    Args:
        yarn: the YARN cluster's name.
        applications: oldest first.
    """
    seen: Counter[str] = Counter()
    for application in applications:
        name = f"{prefix_of(yarn)}{application.name.replace('/', ':')}"
        yield (f"{name} ({application.id})" if seen[name] else name), application
        seen[name] += 1


def prefix_of(yarn: str) -> str:
    """Give what the names of all applications of a YARN cluster begin with."""
    return f"{yarn}:"
