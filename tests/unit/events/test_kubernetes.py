"""Which object of Kubernetes an event is about, and what becomes of it when the API says no."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from headgate.errors import ConflictError, RefusedError, UnreachableError
from headgate.events.kubernetes import KubernetesEventHandler
from headgate.events.kubernetes_objects import Objects, Place, flink_deployment
from headgate.kube.api import KubernetesApi
from headgate.kube.login import Login
from headgate.kube.pod import own_namespace
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.options.events import KubernetesEventOptions
from headgate.testing.conformance.event_handler import event
from headgate.testing.fake_kubernetes import write_kubeconfig
from headgate.testing.fake_web import FakeWeb, WebAnswer

FLINK = "/apis/flink.apache.org/v1beta1/namespaces/shop"
EVENTS = "/apis/events.k8s.io/v1/namespaces/{}/events"
ORDERS = JobKey("k8s:shop.orders", "orders")


@pytest.fixture
async def server() -> AsyncIterator[FakeWeb]:
    """Give an API server on which there is nothing."""
    async with FakeWeb(said(404, "not found")) as server:
        yield server


@pytest.fixture
def kubeconfig(server: FakeWeb, tmp_path: Path) -> str:
    """Write how it is reached."""
    return str(write_kubeconfig(server.url, tmp_path))


@pytest.fixture
async def handler(kubeconfig: str) -> AsyncIterator[KubernetesEventHandler]:
    """Give one whose home is the namespace `ops`."""
    handler = KubernetesEventHandler(KubernetesEventOptions(namespace="ops", kubeconfig=kubeconfig))
    yield handler
    await asyncio.to_thread(handler.close)


def said(status: int, message: str) -> WebAnswer:
    """Answer with a failure in Kubernetes' own form."""
    return WebAnswer(status=status, text=json.dumps({"kind": "Status", "message": message}))


def found(**content: Any) -> WebAnswer:
    """Answer with an object."""
    return WebAnswer(text=json.dumps({"metadata": {"uid": "1-2-3", "name": "n"}, **content}))


def session_job(name: str, *, deployment: str = "orders", job: str = "") -> Mapping[str, Any]:
    """Make a FlinkSessionJob."""
    spec, status = {"deploymentName": deployment}, {"jobStatus": {"jobName": job}}
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec, "status": status}


def posts(server: FakeWeb) -> list[str]:
    """Give where something was to be made or changed."""
    return [one.path for one in server.requests if one.method != "GET"]


async def tell(handler: KubernetesEventHandler, told: Event) -> None:
    """Hand an event over, from a thread as the queue does."""
    await asyncio.to_thread(handler.handle, told)


@pytest.mark.parametrize("subject", ["local", JobKey("local", "k8s:a.b"), "yarn:application_1_2", "k8s:.orders"])
def test_other_clusters_are_no_deployments(subject: JobKey | str) -> None:
    """Only the names that the job list of Kubernetes gives are."""
    assert flink_deployment(subject) is None


def test_a_deployments_name_may_have_dots_and_the_cluster_colons() -> None:
    """A namespace has neither."""
    place = flink_deployment("eu:k8s:shop.orders.v2")
    assert place is not None
    assert (place.namespace, place.name) == ("shop", "orders.v2")


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("by-name", ("FlinkSessionJob", "by-name")),
        ("Its Job", ("FlinkSessionJob", "b")),
        ("x", ("FlinkDeployment", "orders")),
    ],
)
async def test_in_a_session_cluster_it_is_the_session_job(
    server: FakeWeb, kubeconfig: str, job: str, expected: tuple[str, str]
) -> None:
    """Found by its own name or its Flink job's; a job that somebody submitted by hand has none."""
    server.answers[f"{FLINK}/flinkdeployments/orders"] = found(spec={})
    items = [session_job("by-name", deployment="other"), session_job("by-name"), session_job("b", job="Its Job")]
    server.answers[f"{FLINK}/flinksessionjobs"] = WebAnswer(text=json.dumps({"items": items}))
    api = KubernetesApi(Login(kubeconfig=kubeconfig), subject="test")
    place = await Objects().find(api, JobKey("k8s:shop.orders", job))
    await api.close()
    assert place is not None
    assert (place.kind, place.name) == expected
    assert place.uid


async def test_an_object_is_looked_up_once(server: FakeWeb, kubeconfig: str) -> None:
    """A job tells of itself often."""
    server.answers[f"{FLINK}/flinkdeployments/orders"] = found(spec={"job": {}})
    objects, api = Objects(), KubernetesApi(Login(kubeconfig=kubeconfig), subject="test")
    for _ in range(3):
        assert await objects.find(api, ORDERS)
    await api.close()
    assert len([one for one in server.requests if one.path.endswith("/orders")]) == 1


async def test_where_nothing_can_be_made_it_is_told_at_home(server: FakeWeb, handler: KubernetesEventHandler) -> None:
    """No such namespace, and the same where there is no right."""
    server.answers[EVENTS.format("ops")] = found()
    for status in (404, 403):
        server.answers[EVENTS.format("shop")] = said(status, "no")
        await tell(handler, event(subject=ORDERS))
    assert posts(server) == [EVENTS.format("shop"), EVENTS.format("ops")] * 2


async def test_it_is_said_again_once_it_has_worked(server: FakeWeb, handler: KubernetesEventHandler) -> None:
    """One line for each time that the rights go."""
    with capture_logs() as lines:
        for status in (403, 403, 201, 403):
            server.answers[EVENTS.format("ops")] = found() if status == 201 else said(status, "no")
            try:
                await tell(handler, event())
            except UnreachableError:
                continue
    assert [line["event"] for line in lines] == ["KubernetesEventsRefused"] * 2


async def test_an_event_that_the_api_will_not_take_is_refused(server: FakeWeb, handler: KubernetesEventHandler) -> None:
    """To try it again would help nobody."""
    server.answers[EVENTS.format("ops")] = said(422, "note: Invalid value")
    with pytest.raises(RefusedError, match="refuses the event k: note: Invalid value"):
        await tell(handler, event())


async def test_without_an_answer_it_waits(server: FakeWeb, handler: KubernetesEventHandler) -> None:
    """Neither fallback nor a line in the log: it is tried again."""
    server.answers[EVENTS.format("shop")] = said(503, "try again")
    with capture_logs() as lines, pytest.raises(UnreachableError, match="try again"):
        await tell(handler, event(subject=ORDERS))
    assert lines == []
    assert posts(server) == [EVENTS.format("shop")]


async def test_who_is_not_let_in_waits(server: FakeWeb, handler: KubernetesEventHandler) -> None:
    """A token that does not hold any more is mended sooner or later; it makes no event a bad one."""
    server.answers[f"{FLINK}/flinkdeployments/orders"] = said(401, "Unauthorized")
    with pytest.raises(UnreachableError, match=r"Unauthorized\. Hint: the token"):
        await tell(handler, event(subject=ORDERS))


async def test_without_a_kubeconfig_it_waits(server: FakeWeb, handler: KubernetesEventHandler, kubeconfig: str) -> None:
    """It may be written anew just now."""
    written = await asyncio.to_thread(Path(kubeconfig).read_text)
    await asyncio.to_thread(Path(kubeconfig).unlink)
    with pytest.raises(UnreachableError, match="there is no way to Kubernetes"):
        await tell(handler, event())
    await asyncio.to_thread(Path(kubeconfig).write_text, written)
    server.answers[EVENTS.format("ops")] = found()
    await tell(handler, event())
    assert posts(server) == [EVENTS.format("ops")]


async def test_an_event_that_vanishes_between_is_no_endless_matter(
    server: FakeWeb, handler: KubernetesEventHandler
) -> None:
    """It is there when it is to be made and gone when it is to be counted, each time."""
    server.answers[EVENTS.format("ops")] = said(409, "already exists")
    with pytest.raises(ConflictError, match="too many others"):
        await tell(handler, replace(event(), merge_interval=timedelta(minutes=1)))


def test_a_place_has_a_path() -> None:
    """A namespace is in none."""
    pod = Place(api_version="v1", kind="Pod", namespace="ops", name="headgate-0")
    assert pod.path == "/api/v1/namespaces/ops/pods/headgate-0"
    assert replace(pod, kind="Namespace", name="ops").path == "/api/v1/namespaces/ops"
    assert replace(pod, kind="StatefulSet", api_version="apps/v1").path.startswith("/apis/apps/v1/namespaces/ops/state")


@pytest.mark.parametrize("text", ["Secret/a", "Pod/", "Pod", "deployment/a", "Pod/A"])
def test_an_object_of_another_form_is_refused(text: str) -> None:
    """At once, not at the first event."""
    with pytest.raises(ValueError, match="write Deployment/headgate"):
        KubernetesEventOptions(object=text)


def test_the_own_namespace_is_known_in_a_pod_alone(tmp_path: Path) -> None:
    """Kubernetes writes it there."""
    file = tmp_path / "namespace"
    assert own_namespace(file) is None
    file.write_text("ops\n")
    assert own_namespace(file) == "ops"
