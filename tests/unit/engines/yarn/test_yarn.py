"""Flink applications on YARN: they come and go, and each is a cluster of its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.simulated_stage import SimulatedStage

from headgate.config.jobs import JobSettings
from headgate.config.loading import load
from headgate.control.embedding import EmbeddedAutoscaler
from headgate.engines.flink.clusters import ClustersMetricCollector
from headgate.engines.yarn.applications import Applications
from headgate.engines.yarn.jobs import YarnJobListFetcher
from headgate.engines.yarn.manager import ResourceManagers, read_applications
from headgate.engines.yarn.realizer import YarnScalingRealizer
from headgate.errors import ConfigError, NotFoundError
from headgate.model.identity import JobKey, VertexId
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator, Reaction
from headgate.options.yarn import YarnOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.fake_yarn import FakeYarn
from headgate.testing.faults import Fault, FaultKind

FIXTURES = Path(__file__).parents[3] / "fixtures" / "yarn"
ORDERS, CLICKS = "application_1767225600000_0001", "application_1767225600000_0002"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DEFAULT = JobSettings(options=AutoscalerOptions())


def recorded(name: str) -> Any:
    """Read an answer of the ResourceManager."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


class Yarn:
    """A fake YARN cluster with two Flink applications, and the ports in front of it."""

    def __init__(self, manager: FakeYarn, orders: FakeFlink, clicks: FakeFlink) -> None:
        """Ask nothing yet."""
        self.manager, self.orders, self.clicks = manager, orders, clicks
        self.look()

    def look(self, settings: JobSettings = DEFAULT, **options: Any) -> None:
        """Begin anew with other options."""
        self.options = replace(YarnOptions(name="yarn", urls=(self.manager.url,)), **options)
        self.managers = ResourceManagers(self.options)
        self.applications = Applications(self.options, lambda *_: settings)
        self.fetcher = YarnJobListFetcher("yarn", self.managers, self.applications)
        self.collector = ClustersMetricCollector(self.applications)
        self.realizer = YarnScalingRealizer(self.applications)

    async def keys(self) -> list[str]:
        """List the jobs."""
        return [str(job.key) for job in (await self.fetcher.fetch()).jobs]

    async def close(self) -> None:
        """Close the connections."""
        await self.applications.close()
        await self.managers.close()


@pytest.fixture
async def yarn() -> AsyncIterator[Yarn]:
    """Serve the recorded applications, two of which have a Flink behind them."""
    async with AsyncExitStack() as stack:
        orders = await stack.enter_async_context(FakeFlink([chain(job_id="a" * 32, name="orders job", vertices=3)]))
        clicks = await stack.enter_async_context(FakeFlink([chain(job_id="b" * 32, name="clicks job", vertices=2)]))
        flinks = {ORDERS: orders, CLICKS: clicks}
        manager = await stack.enter_async_context(FakeYarn(recorded("apps")["apps"]["app"], flinks))
        yarn = Yarn(manager, orders, clicks)
        yield yarn
        await yarn.close()


def test_only_running_flink_applications_are_read() -> None:
    """Oldest first; what has no application master yet, is over, or is of another kind is left out."""
    assert [one.id for one in read_applications(recorded("apps"))] == [ORDERS, CLICKS]


@pytest.mark.parametrize("answer", [recorded("no-apps"), {"apps": {}}, {"apps": {"app": []}}])
def test_a_cluster_may_have_no_applications(answer: Any) -> None:
    """Which versions of Hadoop say differently."""
    assert read_applications(answer) == ()


async def test_every_application_is_a_cluster(yarn: Yarn) -> None:
    """Named after YARN cluster and application; a slash cannot stand in a cluster's name."""
    listed = await yarn.fetcher.fetch()
    assert [job.key for job in listed.jobs] == [
        JobKey("yarn:orders", "orders job"),
        JobKey("yarn:clicks:session", "clicks job"),
    ]
    assert listed.failures == {}


async def test_only_what_is_wanted_is_asked_of_the_manager(yarn: Yarn) -> None:
    """Running Flink applications, by type and state."""
    await yarn.keys()
    path, query, _ = yarn.manager.requests[0]
    assert path == "/ws/v1/cluster/apps"
    assert query == {"applicationTypes": "Apache Flink", "states": "RUNNING"}


async def test_applications_may_be_chosen_by_name(yarn: Yarn) -> None:
    """The others are not even asked."""
    yarn.look(applications="ord*")
    assert await yarn.keys() == ["yarn:orders/orders job"]
    assert yarn.clicks.requests == []


async def test_an_application_submitted_anew_keeps_its_name(yarn: Yarn) -> None:
    """Its jobs are the same jobs to Headgate, though the id is another one; the old connection is closed."""
    before = await yarn.keys()
    again = "application_1767225600000_0009"
    yarn.manager.apps[0]["id"] = again
    yarn.manager.flinks[again] = yarn.manager.flinks.pop(ORDERS)
    assert sorted(await yarn.keys()) == sorted(before)


async def test_two_applications_of_one_name_are_told_apart(yarn: Yarn) -> None:
    """The older one has the name, the younger one its id added."""
    yarn.manager.apps[1]["name"] = "orders"
    assert await yarn.keys() == ["yarn:orders/orders job", f"yarn:orders ({CLICKS})/clicks job"]


async def test_an_application_that_ends_takes_its_jobs_with_it(yarn: Yarn) -> None:
    """It is no failure; whoever still asks about its jobs is told that they are gone."""
    jobs = {job.key.name: job for job in (await yarn.fetcher.fetch()).jobs}
    yarn.manager.apps[0]["state"] = "FINISHED"
    listed = await yarn.fetcher.fetch()
    assert [job.key.name for job in listed.jobs] == ["clicks job"]
    assert listed.failures == {}
    with pytest.raises(NotFoundError, match="yarn:orders does not run"):
        await yarn.collector.query_topology(jobs["orders job"])
    with pytest.raises(NotFoundError):
        await yarn.realizer.realize_parallelism_overrides(jobs["orders job"], {VertexId("v"): 2})
    yarn.collector.forget(jobs["orders job"].key)


async def test_an_application_that_does_not_answer_is_a_failure(yarn: Yarn) -> None:
    """The other one is listed all the same."""
    yarn.orders.plant(Fault(kind=FaultKind.STATUS, status=500, text="no leader"))
    listed = await yarn.fetcher.fetch()
    assert [job.key.name for job in listed.jobs] == ["clicks job"]
    assert list(listed.failures) == ["yarn:orders"]
    assert "no leader" in listed.failures["yarn:orders"]


async def test_without_a_manager_every_application_is_unseen_not_gone(yarn: Yarn) -> None:
    """Each that ran last is a failure; before the first answer the YARN cluster itself is."""
    yarn.manager.standby = True
    assert list((await yarn.fetcher.fetch()).failures) == ["yarn"]
    yarn.manager.standby = False
    await yarn.keys()
    yarn.manager.standby = True
    assert list((await yarn.fetcher.fetch()).failures) == ["yarn:orders", "yarn:clicks:session"]


async def test_the_active_manager_is_found_among_several(yarn: Yarn) -> None:
    """One is not there and one stands by; who answered is asked first from then on."""
    async with FakeYarn([], {}) as standby:
        standby.standby = True
        await yarn.close()
        yarn.look(urls=("http://127.0.0.1:9", standby.url, yarn.manager.url))
        first = await yarn.keys()
        assert first == await yarn.keys()
        assert len(standby.requests) == 1


async def test_jobs_are_observed_and_changed_through_the_proxy(yarn: Yarn) -> None:
    """Samples and requests are those of the Flink behind it."""
    (job, _) = (await yarn.fetcher.fetch()).jobs
    sample = await yarn.collector.update_metrics(job, NOON)
    assert sample.job == job.key
    middle = sample.topology.vertices[1].id
    assert await yarn.realizer.realize_parallelism_overrides(job, {middle: 3})
    assert yarn.orders.asked("resource-requirements", "PUT") == 1
    assert (await yarn.collector.query_jm_metrics(job))["taskSlotsTotal"] == 64


async def test_jobs_of_other_clusters_go_to_whoever_looks_after_them(yarn: Yarn) -> None:
    """One collector and one realizer serve a service that has Flink clusters beside YARN."""
    await yarn.keys()
    elsewhere = SimulatedStage()
    collector = ClustersMetricCollector(yarn.applications, elsewhere.collector)
    realizer = YarnScalingRealizer(yarn.applications, elsewhere.realizer)
    assert (await collector.update_metrics(elsewhere.job, NOON)).job == elsewhere.job.key
    assert await realizer.realize_parallelism_overrides(elsewhere.job, elsewhere.wish)
    collector.forget(elsewhere.job.key)
    gone = replace(elsewhere.job, key=JobKey("yarn:gone", "job"))
    with pytest.raises(NotFoundError):
        await collector.query_topology(gone)


async def test_the_cycle_rescales_a_job_on_yarn(yarn: Yarn) -> None:
    """From the ResourceManager's list to the request at its Flink, by the same cycle as anywhere."""
    options = AutoscalerOptions(
        metrics_window=timedelta(minutes=1),
        stabilization_interval=timedelta(),
        busy_time_aggregator=BusyTimeAggregator.AVG,
        reaction=Reaction.WINDOWED,
    )
    await yarn.close()
    yarn.look(settings=JobSettings(options=options))
    autoscaler = EmbeddedAutoscaler(
        jobs=yarn.fetcher, collector=yarn.collector, realizer=yarn.realizer, longest_window=timedelta(minutes=1)
    )
    yarn.orders.jobs["a" * 32].rate = 2_000.0
    for tick in range(1, 9):
        for flink in (yarn.orders, yarn.clicks):
            flink.advance(10)
        await autoscaler.observe(NOON + tick * timedelta(seconds=10))
    reasons = {str(one.job): one.reason for one in await autoscaler.decide(NOON + timedelta(seconds=80))}
    assert reasons["yarn:orders/orders job"] is Reason.RESCALED
    assert yarn.orders.asked("resource-requirements", "PUT") == 1


async def test_who_asks_is_said_where_yarn_wants_to_know(yarn: Yarn) -> None:
    """By simple authentication, at the manager and through the proxy."""
    yarn.manager.wanted_user = "head gate"
    assert await yarn.keys() == []
    await yarn.close()
    yarn.look(user="head gate")
    assert len(await yarn.keys()) == 2


async def test_credentials_stay_with_yarn(yarn: Yarn, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go to manager and proxy; past the proxy, where an application chooses the address, none are sent."""
    monkeypatch.setenv("TICKET", "Negotiate abc")
    yarn.look(headers={"Authorization": "${env:TICKET}"})
    await yarn.keys()
    assert {headers.get("Authorization") for _, _, headers in yarn.manager.requests} == {"Negotiate abc"}
    yarn.manager.apps[0]["amRPCAddress"] = yarn.orders.url.removeprefix("http://")
    yarn.manager.apps[1]["amRPCAddress"] = "evil.example.org/steal?x=:80"
    yarn.orders.requests.clear()
    await yarn.close()
    yarn.look(headers={"Authorization": "${env:TICKET}"}, direct=True)
    listed = await yarn.fetcher.fetch()
    assert [job.key.name for job in listed.jobs] == ["orders job"]
    assert "no address that could be asked" in listed.failures["yarn:clicks:session"]
    assert not [one for one in yarn.orders.requests if "Authorization" in one.headers]


async def test_the_tracking_url_is_not_followed(yarn: Yarn) -> None:
    """An application may have a say in it; the proxy is where the operator said that it is."""
    yarn.manager.apps[0]["trackingUrl"] = "http://127.0.0.1:9/steal"
    yarn.manager.apps[1]["id"] = "../../ws/v1/cluster"
    listed = await yarn.fetcher.fetch()
    assert [job.key.name for job in listed.jobs] == ["orders job"]
    assert "no application id" in listed.failures["yarn:clicks:session"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"name": "a/b"}, "without a slash"),
        ({"urls": ()}, "urls of yarn are missing"),
        ({"urls": ("manager:8088",)}, "does not begin with http"),
        ({"proxy_url": "proxy:80"}, "does not begin with http"),
    ],
)
def test_options_that_reach_nothing_are_refused(options: dict[str, Any], why: str) -> None:
    """With the reason, and without the address, which may hold a password."""
    with pytest.raises(ValueError, match=why):
        YarnOptions(**{"name": "yarn", "urls": ("http://manager:8088",), **options})


def test_a_configuration_may_be_of_yarn_alone() -> None:
    """Then there are no other clusters, and a name belongs to one of them only."""
    flags = {"clusters": "[]", "yarn": "[{name: lake, urls: [http://manager:8088], applications: 'orders*'}]"}
    (lake,) = load(None, {}, flags).options.yarn
    assert (lake.name, lake.urls, lake.applications) == ("lake", ("http://manager:8088",), "orders*")
    with pytest.raises(ConfigError, match="is that of an application on YARN"):
        load(None, {}, {**flags, "clusters": "[{name: 'lake:orders', url: http://flink}]"})
    with pytest.raises(ConfigError, match="the name lake stands twice"):
        load(None, {}, {**flags, "clusters": "[{name: lake, url: http://flink}]"})
