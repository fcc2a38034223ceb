"""Whose collector and realizer is asked for a job."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.control.selection import SelectedCollector, SelectedRealizer
from headgate.errors import PluginError
from headgate.model.identity import VertexId
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.plugins import PluginOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.distributions import write_distribution
from headgate.testing.fakes import FakeEngine

GRAPH = chain({"a": 2})
CODE = """
from headgate.testing.builders import ORDERS, chain, sample
from datetime import UTC, datetime
from headgate.model.identity import JobKey
from headgate.model.samples import Signal

class Own:
    def __init__(self, parameters):
        self.job = JobKey.parse(parameters.get("job", str(ORDERS)))

    async def update_metrics(self, ctx, at):
        return sample(chain({"a": 7}), job=self.job)

    async def query_topology(self, ctx):
        return chain({"a": 7})

    async def query_jm_metrics(self, ctx):
        return {}

    async def query_tm_metrics(self, ctx):
        return {}

    async def query_external_metrics(self, ctx):
        return {"x": Signal(value=float("nan"), measured_at=datetime.now(UTC))}

    def forget(self, job):
        pass

class Realizing:
    def __init__(self, parameters):
        self.asked = []

    async def realize_parallelism_overrides(self, ctx, overrides):
        return len(overrides) > 1

    async def realize_config_overrides(self, ctx, changes):
        return False
"""
POINTS = {"headgate.metric_collectors": {"own": "Own"}, "headgate.scaling_realizers": {"own": "Realizing"}}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PluginHost]:
    """Give a host with plugins of others."""
    write_distribution(tmp_path, "neighbours", POINTS, CODE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    tables = Tables(general={"astray.class": "own", "astray.job": "prod/other"})
    host = PluginHost(Catalog(Registry(), tables), PluginOptions())
    yield host
    host.close()


@pytest.fixture
def engine() -> FakeEngine:
    """Give the cluster of a job."""
    engine = FakeEngine()
    engine.add(context(), sample(GRAPH))
    return engine


async def test_a_job_without_a_collector_of_its_own_has_its_clusters(host: PluginHost, engine: FakeEngine) -> None:
    """Nothing of a plugin is started for it."""
    collector = SelectedCollector(usual=engine, host=host)
    assert await collector.update_metrics(context(), at(10)) == sample(GRAPH)
    assert await collector.query_topology(context()) == GRAPH
    collector.forget(ORDERS)
    assert engine.diary[-1] == f"forget {ORDERS}"
    assert host.workers("neighbours") == ()


async def test_a_jobs_own_collector_takes_the_sample(host: PluginHost, engine: FakeEngine) -> None:
    """Under the tick that was asked for; a signal without a value is none."""
    ctx = context(options=AutoscalerOptions(collector="own"))
    collector = SelectedCollector(usual=engine, host=host)
    taken = await collector.update_metrics(ctx, at(10))
    assert (taken.at, taken.topology.parallelism) == (at(10), {"a": 7})
    assert await collector.query_external_metrics(ctx) == {}
    assert (await collector.query_topology(ctx)).parallelism == {"a": 7}
    collector.forget(ORDERS)
    assert engine.diary == [f"forget {ORDERS}"]


async def test_a_sample_of_another_job_is_nonsense(host: PluginHost, engine: FakeEngine) -> None:
    """It would be decided by."""
    ctx = context(options=AutoscalerOptions(collector="astray"))
    with pytest.raises(
        PluginError, match="plugin astray of neighbours gave what makes no sense: a sample of prod/other"
    ):
        await SelectedCollector(usual=engine, host=host).update_metrics(ctx, at(10))


async def test_a_jobs_own_realizer_is_asked(host: PluginHost, engine: FakeEngine) -> None:
    """And the cluster's is not."""
    realizer = SelectedRealizer(usual=engine, host=host)
    own = context(options=AutoscalerOptions(realizer="own"))
    wanted = {VertexId("a"): 3, VertexId("b"): 1}
    assert await realizer.realize_parallelism_overrides(own, wanted)
    assert engine.requests == []
    assert await realizer.realize_parallelism_overrides(context(), {VertexId("a"): 3})
    assert engine.requests == [{"a": 3}]


async def test_the_built_in_one_by_its_name_is_that_of_the_cluster(engine: FakeEngine) -> None:
    """Wiring has made it."""
    names = {(Kind.METRIC_COLLECTOR, "flink-rest"): engine, (Kind.SCALING_REALIZER, "resource-requirements"): engine}
    host = PluginHost(Catalog(Registry(), Tables()), PluginOptions(), provided=names)
    options = AutoscalerOptions(collector="flink-rest", realizer="resource-requirements")
    ctx = replace(context(), options=options)
    assert await SelectedCollector(usual=engine, host=host).query_topology(ctx) == GRAPH
    assert await SelectedRealizer(usual=engine, host=host).realize_parallelism_overrides(ctx, {VertexId("a"): 3})
    host.close()
