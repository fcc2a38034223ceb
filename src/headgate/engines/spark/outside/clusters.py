"""All Spark clusters seen from outside, as `engines.flink.clusters` tells them from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.collector import SparkFailureHistory, SparkMetricCollector
from headgate.errors import NotFoundError


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkPorts:
    """One cluster, as the ports see it."""

    collector: SparkMetricCollector
    history: SparkFailureHistory


class SparkClusters:
    """
    Implements `headgate.engines.flink.clusters.Clusters`.

    Attributes:
        clusters: all of them; whoever made them closes them.
    """

    def __init__(self, clusters: Sequence[SparkCluster]) -> None:
        """Ask nothing yet."""
        self.clusters = tuple(clusters)
        self._ports = {
            cluster.options.name: SparkPorts(
                collector=SparkMetricCollector(cluster), history=SparkFailureHistory(cluster)
            )
            for cluster in clusters
        }

    def owns(self, cluster: str) -> bool:
        """Tell whether a cluster is one of them."""
        return cluster in self._ports

    def find(self, cluster: str) -> SparkPorts:
        """
        Give the ports of one of them.

        Raises:
            NotFoundError: it is none.
        """
        if cluster not in self._ports:
            message = f"{cluster} is no Spark cluster that Headgate knows"
            raise NotFoundError(message)
        return self._ports[cluster]

    def known(self, cluster: str) -> SparkPorts | None:
        """Give the ports of one of them; None of any other."""
        return self._ports.get(cluster)
