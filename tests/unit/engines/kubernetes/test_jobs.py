"""The jobs of FlinkDeployments and FlinkSessionJobs: they come and go, and their resources say what they want."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.engines.kubernetes.conftest import Stage

from headgate.config.jobs import JobSettings
from headgate.engines.kubernetes.jobs import KubernetesJobListFetcher
from headgate.engines.kubernetes.resources import Plural
from headgate.errors import NotFoundError
from headgate.model.identity import JobKey
from headgate.options.kubernetes import KubernetesOptions
from headgate.testing.fake_job import chain
from headgate.testing.fake_operator import flink_deployment, flink_session_job
from headgate.testing.faults import Fault, FaultKind

ORDERS = JobKey("k8s:flink.orders", "orders-job")
CLICKS = JobKey("k8s:flink.shared", "clicks")


async def keys(stage: Stage) -> list[JobKey]:
    """List the jobs."""
    return [job.key for job in (await stage.fetcher.fetch()).jobs]


async def test_every_deployment_is_a_cluster(stage: Stage) -> None:
    """Named after Kubernetes cluster, namespace and deployment; a session cluster has the jobs of its session jobs."""
    listed = await stage.fetcher.fetch()
    assert [job.key for job in listed.jobs] == [ORDERS, CLICKS]
    assert listed.failures == {}


async def test_a_job_that_somebody_submitted_by_hand_is_left_alone(stage: Stage) -> None:
    """No resource would hold what is decided for it; nor does it take the name from one that has a resource."""
    stage.shared.jobs = {"c" * 32: chain(job_id="c" * 32, name="clicks", vertices=1), **stage.shared.jobs}
    assert await keys(stage) == [ORDERS, CLICKS]


async def test_what_a_job_wants_stands_in_its_resource(stage: Stage) -> None:
    """Under either prefix, nested or not; what is wrong in it is told."""
    await stage.edit({"flinkConfiguration": {"job": {"autoscaler": {"metrics.window": "7min"}}}})
    assert (await stage.job()).options.metrics_window == timedelta(minutes=7)
    await stage.edit({"flinkConfiguration": {"kubernetes.operator.job.autoscaler.utilization.target": "much"}})
    told = (await stage.job()).faults
    assert "utilization.target" in told[0]
    assert (await stage.job()).options.scaling_enabled is False


async def test_settings_are_put_together_when_something_of_them_changed(stage: Stage) -> None:
    """The resource, or what the service rests on: for a thousand jobs at each look that would take seconds."""
    seen: list[str] = []

    def settings_of(key: JobKey, own: Mapping[str, str]) -> JobSettings:
        seen.append(key.name)
        return stage.settings_of(key, own)

    basis = [object()]
    stage.fetcher = KubernetesJobListFetcher(stage.opened[-1], settings_of, basis=lambda: basis[0])
    for _ in range(2):
        assert await keys(stage) == [ORDERS, CLICKS]
    assert seen == ["orders-job", "clicks"]
    await stage.edit(job_autoscaler_utilization_target="0.5")
    assert (await stage.job()).options.utilization_target == 0.5
    assert seen == ["orders-job", "clicks", "orders-job"]
    basis[0] = object()
    await keys(stage)
    assert seen[3:] == ["orders-job", "clicks"]


async def test_a_resource_reaches_nothing_of_the_service(stage: Stage) -> None:
    """Addresses, classes and stores are for whoever runs Headgate to name."""
    await stage.edit({"flinkConfiguration": {"job.autoscaler.flink.rest-client.timeout": "9 s", "headgate.x": "y"}})
    assert any("ignored" in text for text in (await stage.job()).faults)


async def test_the_operators_own_autoscaler_is_not_headgates_switch(stage: Stage) -> None:
    """Off there is what Headgate needs; on, the job is only advised, and its owner is told."""
    await stage.edit(job_autoscaler_enabled="false")
    assert (await stage.job()).options.enabled is True
    await stage.edit(job_autoscaler_enabled="true")
    job = await stage.job()
    assert (job.options.enabled, job.options.scaling_enabled) == (True, False)
    assert "the operator's own autoscaler scales this job" in job.faults[0]


async def test_what_the_operator_complains_of_is_told(stage: Stage) -> None:
    """To whoever hears Headgate's events."""
    await stage.status(error="Could not parse value")
    assert (await stage.job()).faults == ("the operator says: Could not parse value",)


async def test_namespaces_and_labels_narrow_the_search(stage: Stage) -> None:
    """The cluster of a session job need not have the label itself."""
    stage.look(namespaces=("elsewhere",))
    assert await keys(stage) == []
    assert {request.path.partition("/v1beta1/")[2] for request in stage.api.requests} == {
        "namespaces/elsewhere/flinkdeployments",
        "namespaces/elsewhere/flinksessionjobs",
    }
    stage.api.objects[Plural.SESSION_JOB, "flink", "clicks"]["metadata"]["labels"] = {"team": "web"}
    stage.look(namespaces=(), label_selector="team=web")
    assert await keys(stage) == [CLICKS]


async def test_long_lists_come_in_pages(stage: Stage) -> None:
    """Where a page comes too late because too much has changed, the list is begun anew, once."""
    for number in range(600):
        stage.api.objects[Plural.DEPLOYMENT, "many", f"n{number:03}"] = {
            "metadata": {"namespace": "many", "name": f"n{number:03}", "resourceVersion": "1"},
            "spec": {"job": {"state": "suspended"}},
        }
    assert await keys(stage) == [ORDERS, CLICKS]
    stage.api.expiring = 1
    assert await keys(stage) == [ORDERS, CLICKS]
    stage.api.expiring = 2
    listed = await stage.fetcher.fetch()
    assert listed.jobs == ()
    assert "had changed too much" in listed.failures["k8s:flink.orders"]


@pytest.mark.parametrize("plural", list(Plural))
async def test_a_missing_right_is_named(stage: Stage, plural: Plural) -> None:
    """Waiting does not help: whoever runs the cluster must grant it."""
    stage.api.forbidden = {("list", plural)}
    assert f"the verb list on {plural} of group flink.apache.org" in (await stage.fetcher.fetch()).failures["k8s"]


async def test_an_operator_that_is_not_installed_is_told(stage: Stage) -> None:
    """It is no cluster without jobs."""
    stage.api.plurals = set()
    assert (
        "definition of flinkdeployments.flink.apache.org is not installed"
        in (await stage.fetcher.fetch()).failures["k8s"]
    )


async def test_a_namespace_that_cannot_be_looked_at_leaves_the_others(stage: Stage) -> None:
    """What ran there is a failure and not gone; it is not asked meanwhile, and known again afterwards."""
    stage.look(namespaces=("flink",))
    assert await keys(stage) == [ORDERS, CLICKS]
    stage.api.silent = True
    asked = len(stage.orders.requests)
    listed = await stage.fetcher.fetch()
    assert set(listed.failures) == {ORDERS.cluster, CLICKS.cluster}
    assert len(stage.orders.requests) == asked
    stage.api.silent = False
    assert await keys(stage) == [ORDERS, CLICKS]


async def test_a_cluster_that_cannot_be_looked_at_leaves_its_neighbours(stage: Stage) -> None:
    """The session cluster that the selector leaves out is asked for alone, so that fails alone."""
    for plural, name in ((Plural.SESSION_JOB, "clicks"), (Plural.DEPLOYMENT, "orders")):
        stage.api.objects[plural, "flink", name]["metadata"]["labels"] = {"team": "web"}
    stage.look(label_selector="team=web")
    for _ in range(2):
        stage.api.forbidden = {("get", "flinkdeployments")}
        listed = await stage.fetcher.fetch()
        assert [job.key for job in listed.jobs] == [ORDERS]
        assert set(listed.failures) == {CLICKS.cluster}
        stage.api.forbidden = set()
        assert await keys(stage) == [ORDERS, CLICKS]


async def test_a_jobmanager_that_does_not_answer_is_a_failure(stage: Stage) -> None:
    """The others are listed all the same."""
    stage.orders.plant(Fault(kind=FaultKind.STATUS, status=500, text="no leader"))
    listed = await stage.fetcher.fetch()
    assert [job.key for job in listed.jobs] == [CLICKS]
    assert "no leader" in listed.failures[ORDERS.cluster]


@pytest.mark.parametrize(
    ("status", "why"), [("DEPLOYING", "its JobManager is DEPLOYING"), ("MISSING", "MISSING: no image")]
)
async def test_a_deployment_that_starts_is_not_there_yet(stage: Stage, status: str, why: str) -> None:
    """Nobody listens there; its job is not gone, and not asked about."""
    await keys(stage)
    await stage.status(jobManagerDeploymentStatus=status, error="no image" if status == "MISSING" else None)
    listed = await stage.fetcher.fetch()
    assert [job.key for job in listed.jobs] == [CLICKS]
    assert why in listed.failures[ORDERS.cluster]


async def test_a_deployment_that_is_suspended_or_deleted_takes_its_job_with_it(stage: Stage) -> None:
    """That is no failure; whoever still asks about it is told that it is gone."""
    job = await stage.job()
    stage.api.objects[Plural.DEPLOYMENT, "flink", "orders"]["spec"]["job"]["state"] = "suspended"
    listed = await stage.fetcher.fetch()
    assert [job.key for job in listed.jobs] == [CLICKS]
    assert listed.failures == {}
    with pytest.raises(NotFoundError, match=r"k8s:flink\.orders does not run"):
        await stage.realizer.realize_parallelism_overrides(job, stage.wish(2))


async def test_a_port_is_a_number(stage: Stage) -> None:
    """Whoever writes a resource must not choose the host that Headgate talks to, with its token."""
    await stage.edit(rest_port="80@evil.example.org/")
    assert "its rest.port is no port" in (await stage.fetcher.fetch()).failures[ORDERS.cluster]


async def test_another_port_is_another_address(stage: Stage) -> None:
    """The old connection is closed."""
    await keys(stage)
    old = stage.opened[-1].running[ORDERS.cluster].client
    await stage.edit(rest_port=stage.shared.url.rpartition(":")[2])
    await keys(stage)
    assert stage.opened[-1].running[ORDERS.cluster].client is not old


async def test_session_clusters_are_asked_for_once(stage: Stage) -> None:
    """Two session jobs of one cluster are two jobs of it."""
    stage.shared.add(chain(job_id="d" * 32, name="views", vertices=1))
    await stage.operator.create(Plural.SESSION_JOB, flink_session_job("views", "shared"))
    assert await keys(stage) == [ORDERS, CLICKS, JobKey("k8s:flink.shared", "views")]


async def test_a_session_job_whose_cluster_is_not_there_waits(stage: Stage) -> None:
    """It has no job yet."""
    del stage.api.objects[Plural.DEPLOYMENT, "flink", "shared"]
    listed = await stage.fetcher.fetch()
    assert [job.key for job in listed.jobs] == [ORDERS]
    assert listed.failures == {}


async def test_a_deployment_that_comes_is_listed(stage: Stage) -> None:
    """At the next look, without a restart."""
    stage.operator.flinks = {**stage.operator.flinks, "later": stage.shared}
    await keys(stage)
    await stage.operator.create(Plural.DEPLOYMENT, flink_deployment("later", stage.shared))
    assert JobKey("k8s:flink.later", "clicks") in await keys(stage)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"name": "a/b"}, "without a slash"),
        ({"rest_url": "flink:8081"}, "does not begin with http"),
        ({"rest_url": "http://{host}:8081"}, "another place than"),
        ({"rest_url": "http://{deployment:8081"}, "another place than"),
    ],
)
def test_options_that_reach_nothing_are_refused(options: dict[str, Any], why: str) -> None:
    """With the reason."""
    with pytest.raises(ValueError, match=why):
        KubernetesOptions(**{"name": "k8s", **options})
