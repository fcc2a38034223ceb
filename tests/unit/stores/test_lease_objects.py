"""What the answers of Kubernetes mean for Leases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.errors import ConflictError, HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.kube.login import Login
from headgate.stores.lease_objects import LeaseObject, LeaseObjects
from headgate.testing.fake_web import FakeWeb, WebAnswer

PLACE = "/apis/coordination.k8s.io/v1/namespaces/ops/leases"
LIST = f"{PLACE}?labelSelector=headgate/leases%3Dmine"


@pytest.fixture
async def server() -> AsyncIterator[FakeWeb]:
    """Give an API server."""
    async with FakeWeb(WebAnswer(status=404, text=json.dumps({"message": "not found"}))) as server:
        yield server


@pytest.fixture
async def objects(server: FakeWeb, tmp_path: Path) -> AsyncIterator[LeaseObjects]:
    """Give those with the prefix `mine`."""
    content = {
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(content))
    objects = LeaseObjects(Login(kubeconfig=str(file)), namespace="ops", prefix="mine")
    yield objects
    await asyncio.to_thread(objects.close)


def manifest(name: str, **spec: Any) -> Mapping[str, Any]:
    """Make one as the server gives it."""
    return {"metadata": {"name": name, "resourceVersion": "5"}, "spec": spec}


async def write(objects: LeaseObjects, shard: int, version: str = "5") -> LeaseObject | HeadgateError:
    """Write one."""
    wanted = LeaseObject(shard=shard, holder="a", token=2, duration=timedelta(seconds=1.5), version=version)
    return (await asyncio.to_thread(objects.write_all, [wanted]))[shard]


async def test_shards_and_seats_are_read_by_their_names(server: FakeWeb, objects: LeaseObjects) -> None:
    """What bears the label and another name is somebody else's; what is left out is nobody's."""
    full = {"holderIdentity": "a", "leaseTransitions": 3, "leaseDurationSeconds": 30}
    items = [manifest("mine-12", **full), manifest("mine-seat-7"), manifest("mine-x"), manifest("mine-1-2")]
    server.answers[LIST] = WebAnswer(text=json.dumps({"items": items}))
    held, free = await asyncio.to_thread(objects.read_all)
    assert held == LeaseObject(shard=12, holder="a", token=3, duration=timedelta(seconds=30), version="5")
    assert (free.shard, free.holder, free.token) == (-7, "", 0)


async def test_one_that_is_there_is_patched_and_a_new_one_posted(server: FakeWeb, objects: LeaseObjects) -> None:
    """Never put: that would make one anew that somebody has deleted."""
    for path in (PLACE, f"{PLACE}/mine-seat-7"):
        server.answers[path] = WebAnswer(text=json.dumps(manifest("mine-seat-7", holderIdentity="a")))
    await write(objects, -7)
    await write(objects, -7, version="")
    assert [(one.method, one.path) for one in server.requests] == [("PATCH", f"{PLACE}/mine-seat-7"), ("POST", PLACE)]


@pytest.mark.parametrize(
    ("status", "version", "error"),
    [
        (409, "5", ConflictError),
        (404, "5", ConflictError),  # deleted
        (409, "", ConflictError),
        (404, "", NotFoundError),  # no such namespace
        (403, "5", RefusedError),
        (500, "5", UnreachableError),
    ],
)
async def test_who_was_second_is_told_apart(
    server: FakeWeb, objects: LeaseObjects, status: int, version: str, error: type[HeadgateError]
) -> None:
    """From what is a fault of roles, options or the network."""
    server.answer = WebAnswer(status=status, text=json.dumps({"message": "no"}))
    server.answers[LIST] = WebAnswer(text=json.dumps({"items": [manifest("mine-1")]}))
    assert type(await write(objects, 1, version)) is error


async def test_a_name_that_somebody_else_has_taken_is_told(server: FakeWeb, objects: LeaseObjects) -> None:
    """Without the label it is never listed, so to try again would help nobody."""
    server.answers[PLACE] = WebAnswer(status=409, text=json.dumps({"message": "already exists"}))
    server.answers[LIST] = WebAnswer(text=json.dumps({"items": [manifest("mine-2")]}))
    refusal = await write(objects, 1, version="")
    assert isinstance(refusal, RefusedError)
    assert "the Lease mine-1 is somebody else's, as it has no label headgate/leases=mine" in str(refusal)


async def test_an_answer_that_nobody_expected_leaves_nothing_under_way(server: FakeWeb, objects: LeaseObjects) -> None:
    """It is raised once all that were to be written have had their turn."""
    server.answer = WebAnswer(text=json.dumps(manifest("mine")), after_s=0.05)
    server.answers[f"{PLACE}/mine-0"] = WebAnswer()
    wanted = [
        LeaseObject(shard=shard, holder="a", token=2, duration=timedelta(seconds=1), version="5") for shard in range(20)
    ]
    with pytest.raises(KeyError):
        await asyncio.to_thread(objects.write_all, wanted)
    assert len(server.requests) == len(wanted)
