"""The clusters that are scraped, as `engines.flink.clusters` tells them from all others."""

from __future__ import annotations

from collections.abc import Collection

from headgate.engines.prometheus.collector import PrometheusMetricCollector
from headgate.ports import FailureHistory


class ScrapedClusters:
    """Clusters that share one collector. Implements `headgate.engines.flink.clusters.Clusters`."""

    def __init__(self, names: Collection[str], collector: PrometheusMetricCollector, history: FailureHistory) -> None:
        """
        Keep them.

        Args:
            names: of the clusters.
            collector: observes their jobs.
            history: knows of their failures, as Prometheus does not.
        """
        self._names = frozenset(names)
        self.collector = collector
        self.history = history

    def owns(self, cluster: str) -> bool:
        """Tell whether a cluster is one of them."""
        return cluster in self._names

    def find(self, cluster: str) -> ScrapedClusters:  # noqa: ARG002 - all have the same ports
        """Give the ports of one of them."""
        return self

    def known(self, cluster: str) -> ScrapedClusters | None:
        """Give the ports of one of them; None of any other."""
        return self if self.owns(cluster) else None
