"""Which collector observes a job: where its cluster's metrics are, unless the job says otherwise."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace

from tests.unit.engines.prometheus.conftest import Scene

from headgate.engines.flink.numbers import instant
from headgate.engines.flink.redeploy.realizer import always
from headgate.model.identity import JobKey
from headgate.options.prometheus import PrometheusOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.plugins.kinds import Kind
from headgate.wiring.engines import open_engines


async def test_a_cluster_is_observed_where_its_metrics_are(scene: Scene) -> None:
    """Through Prometheus where it has one, over REST where not; both stand ready by their names."""
    url = scene.flink.url
    clusters = (
        ClusterOptions(name="lab", url=url, prometheus=PrometheusOptions(url=scene.prometheus_url)),
        ClusterOptions(name="plain", url=url),
    )
    options = ServiceOptions(clusters=clusters)
    scraped = scene.context()
    plain = replace(scraped, key=JobKey("plain", scraped.key.name))
    async with AsyncExitStack() as stack:
        engines = await open_engines(options, lambda: options, stack, still_ours=always)
        at = instant(scene.flink.now_ms)
        assert (await engines.by_default.update_metrics(plain, at)).settings.metric_refresh_s == 10
        assert scene.prometheus.queries == []
        assert (await engines.by_default.update_metrics(scraped, at)).settings.metric_refresh_s == 15
        assert scene.prometheus.queries
        assert engines.provided[Kind.METRIC_COLLECTOR, "prometheus"] is engines.scraped.collector
        rest = engines.provided[Kind.METRIC_COLLECTOR, "flink-rest"]
        assert (await rest.update_metrics(scraped, at)).settings.metric_refresh_s == 10
        engines.by_default.forget(plain.key)
        engines.by_default.forget(scraped.key)
