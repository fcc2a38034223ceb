"""Observes applications from outside."""

from __future__ import annotations


class SparkMetricCollector:
    """A `ports.MetricCollector` over event logs and the REST API."""
