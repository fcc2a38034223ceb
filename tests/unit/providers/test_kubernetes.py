"""Replicas of Kubernetes, by answers that its API server was seen to give."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from headgate.errors import ConflictError, HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.ports import Workers
from headgate.providers.kubernetes import KubernetesProvider
from headgate.testing.fake_kubernetes import write_kubeconfig
from headgate.testing.fake_web import FakeWeb, WebAnswer

SCALE = "/apis/apps/v1/namespaces/flink/deployments/workers/scale"
PODS = "/api/v1/namespaces/flink/pods?labelSelector=app%3Dworkers"


@pytest.fixture
async def server() -> AsyncIterator[FakeWeb]:
    """Give an API server with a Deployment of two replicas, one of them ready."""
    async with FakeWeb(said(404, "not found")) as server:
        server.answers[SCALE] = scale(2)
        server.answers[PODS] = pods(
            {"name": "b", "ready": "True"},
            {"name": "pending"},
            {"name": "sick", "ready": "False"},
            {"name": "ending", "ready": "True", "deletionTimestamp": "2026-01-01T00:00:00Z"},
            {"name": "a", "ready": "True"},
        )
        yield server


@pytest.fixture
async def provider(server: FakeWeb, tmp_path: Path) -> AsyncIterator[KubernetesProvider]:
    """Give one that asks it."""
    provider = KubernetesProvider({"name": "workers", "namespace": "flink", "kubeconfig": kubeconfig(server, tmp_path)})
    yield provider
    await provider.close()


def kubeconfig(server: FakeWeb, folder: Path) -> str:
    """Write how the server is reached."""
    return str(write_kubeconfig(server.url, folder))


def scale(replicas: int, *, selector: str = "app=workers") -> WebAnswer:
    """Answer with a scale."""
    status = {"replicas": replicas, **({"selector": selector} if selector else {})}
    return WebAnswer(text=json.dumps({"kind": "Scale", "spec": {"replicas": replicas}, "status": status}))


def pods(*each: Mapping[str, str]) -> WebAnswer:
    """Answer with a list of pods."""
    items = []
    for pod in each:
        conditions = [{"type": "Ready", "status": pod["ready"]}] if "ready" in pod else None
        metadata = {key: value for key, value in pod.items() if key != "ready"}
        items.append({"metadata": metadata, "status": {"conditions": conditions}})
    return WebAnswer(text=json.dumps({"items": items}))


def said(status: int, message: str) -> WebAnswer:
    """Answer with a failure in Kubernetes' own form."""
    return WebAnswer(status=status, text=json.dumps({"kind": "Status", "message": message}))


async def test_pods_that_are_ready_are_counted(provider: KubernetesProvider) -> None:
    """Not those that wait for a node, are sick or go; nor does it matter how many were asked for."""
    assert await provider.workers() == Workers(wanted=2, ready=2, names=("a", "b"))


async def test_replicas_are_set_by_a_merge_of_that_one_field(provider: KubernetesProvider, server: FakeWeb) -> None:
    """Whatever else somebody changes at the same time stays."""
    assert await provider.request(5) is True
    (change,) = (request for request in server.requests if request.method == "PATCH")
    assert change.path == SCALE
    assert change.headers["Content-Type"] == "application/merge-patch+json"
    assert change.headers["Authorization"] == "Bearer t"


async def test_what_is_set_is_not_set_again(provider: KubernetesProvider, server: FakeWeb) -> None:
    """Each change would be a new revision in the audit log."""
    assert await provider.request(2) is False
    assert [request.method for request in server.requests] == ["GET"]


async def test_without_a_selector_the_controllers_number_counts(provider: KubernetesProvider, server: FakeWeb) -> None:
    """A custom resource need not tell which pods are its own."""
    server.answers[SCALE] = scale(3, selector="")
    assert await provider.workers() == Workers(wanted=3, ready=3)


async def test_a_number_that_nobody_has_set_can_be_set(provider: KubernetesProvider, server: FakeWeb) -> None:
    """Reading the scale of a custom resource without replicas is an internal error of Kubernetes; writing is none."""
    server.answers[SCALE] = said(500, 'the spec replicas field ".spec.taskManager.replicas" does not exist')
    with pytest.raises(RefusedError, match="no number of replicas yet"):
        await provider.workers()
    with pytest.raises(UnreachableError):  # the same answer to the change, here
        await provider.request(1)
    assert [request.method for request in server.requests][-1] == "PATCH"


async def test_a_custom_resource_is_named_by_its_group(server: FakeWeb, tmp_path: Path) -> None:
    """Everything with a scale subresource can be scaled."""
    server.answers["/apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments/orders/scale"] = scale(1)
    place = {"group": "flink.apache.org", "version": "v1beta1", "plural": "flinkdeployments", "name": "orders"}
    provider = KubernetesProvider({**place, "kubeconfig": kubeconfig(server, tmp_path)})
    assert await provider.request(1) is False
    await provider.close()


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (said(401, "Unauthorized"), RefusedError, "Unauthorized. Hint: the token"),
        (said(403, "no"), RefusedError, "no. Hint: its role needs the verb get on deployments/scale of group apps"),
        (said(404, "gone"), NotFoundError, "gone. Hint: there must be such a resource"),
        (WebAnswer(status=404, text="404 page not found"), NotFoundError, "404 page not found"),
        (said(409, "has been modified"), ConflictError, "has been modified"),
        (said(422, "must be non-negative"), RefusedError, "must be non-negative"),
        (said(429, "storage is (re)initializing"), UnreachableError, "initializing"),
        (said(500, "etcd is away"), UnreachableError, "etcd is away"),
        (said(503, "not now"), UnreachableError, "not now"),
    ],
)
async def test_each_refusal_is_what_it_means(
    provider: KubernetesProvider, server: FakeWeb, answer: WebAnswer, error: type[HeadgateError], text: str
) -> None:
    """Those that pass are tried again, the others need somebody; each says which resource it is about."""
    server.answers[SCALE] = answer
    for call in (provider.workers, lambda: provider.request(7)):
        with pytest.raises(error) as refusal:
            await call()
        assert text in str(refusal.value)
        assert "deployments.apps/workers in namespace flink" in str(refusal.value)


async def test_pods_that_may_not_be_listed_are_told(provider: KubernetesProvider, server: FakeWeb) -> None:
    """That right is another one."""
    server.answers[PODS] = said(403, "pods is forbidden")
    with pytest.raises(RefusedError, match="the verb list on pods"):
        await provider.workers()


async def test_an_answer_that_does_not_come_is_not_waited_for(server: FakeWeb, tmp_path: Path) -> None:
    """Its time limit is the operator's."""
    server.answers[SCALE] = WebAnswer(after_s=30)
    limited = {"name": "workers", "namespace": "flink", "request-timeout": "50 ms"}
    provider = KubernetesProvider({**limited, "kubeconfig": kubeconfig(server, tmp_path)})
    with pytest.raises(UnreachableError, match=r"no answer within 0\.05 s"):
        await provider.workers()
    await provider.close()


async def test_nothing_but_replicas_is_changed(provider: KubernetesProvider, server: FakeWeb) -> None:
    """And nobody is asked."""
    with pytest.raises(RefusedError, match="not heap"):
        await provider.reconfigure({"heap": "1g"})
    assert not server.requests


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({}, "parameter name is missing"),
        ({"name": "w", "kind": "Pod"}, "kind is 'Pod'"),
        ({"name": "w", "group": "g", "version": "v1"}, "belong together"),
        ({"name": "w", "kind": "Deployment", "group": "g", "version": "v1", "plural": "p"}, "without kind"),
        ({"name": "w", "replicas": "3"}, "unknown parameter replicas"),
    ],
)
def test_a_wrong_parameter_is_named(wrong: Mapping[str, str], expected: str) -> None:
    """When it is made."""
    with pytest.raises(ValueError, match=expected):
        KubernetesProvider(wrong)


async def test_a_missing_client_is_an_extra() -> None:
    """Whoever reads it knows what to install."""
    program = """
import sys
sys.modules["kubernetes"] = None
from headgate.errors import ConfigError
from headgate.providers.kubernetes import KubernetesProvider
try:
    KubernetesProvider({"name": "workers"})
except ConfigError as error:
    print(error)
"""
    asked = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=PIPE)
    printed, _ = await asked.communicate()
    assert b"Hint: pip install headgate[kubernetes]" in printed
