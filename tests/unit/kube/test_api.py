"""One call of Kubernetes' API, and what it leaves to the others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import UnreachableError
from headgate.kube.api import Answered, KubernetesApi
from headgate.kube.login import Login
from headgate.testing.fake_kubernetes import write_kubeconfig
from headgate.testing.fake_web import FakeWeb, WebAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLogin(Login):
    """Remembers every client that it gave."""

    given: list[Any] = field(default_factory=list)

    async def open(self) -> Any:
        """Give one."""
        self.given.append(await Login.open(self))
        return self.given[-1]

    @property
    def closed(self) -> list[bool]:
        """Tell of each whether it is closed."""
        return [client.rest_client.pool_manager.closed for client in self.given]


@dataclass(frozen=True, slots=True, kw_only=True)
class HangingLogin(Login):
    """Waits for a program that never ends."""

    async def open(self) -> Any:
        """Give nothing."""
        await asyncio.Event().wait()


@pytest.fixture
async def server() -> AsyncIterator[FakeWeb]:
    """Give an API server that takes its time for one path, and does not let in who asks for another."""
    async with FakeWeb() as server:
        server.answers["/slow"] = WebAnswer(text=json.dumps({"done": True}), after_s=0.5)
        server.answers["/denied"] = WebAnswer(status=401)
        yield server


@pytest.fixture
def login(server: FakeWeb, tmp_path: Path) -> WatchedLogin:
    """Give the way there."""
    return WatchedLogin(kubeconfig=str(write_kubeconfig(server.url, tmp_path)))


async def under_way(server: FakeWeb, api: KubernetesApi) -> asyncio.Task[Any]:
    """Begin the slow call."""
    task = asyncio.create_task(api.call("GET", "/slow"))
    await server.asked.wait()
    return task


async def test_a_call_that_is_not_let_in_leaves_the_others(server: FakeWeb, login: WatchedLogin) -> None:
    """The next one connects anew; the old connection ends with the last call that it serves."""
    api = KubernetesApi(login, subject="test")
    slow = await under_way(server, api)
    denials = await asyncio.gather(*(api.call("GET", "/denied") for _ in range(2)), return_exceptions=True)
    assert [type(denial) for denial in denials] == [Answered, Answered]
    assert await api.call("GET", "/next") == {}
    assert await slow == {"done": True}
    assert login.closed == [True, False]
    await api.close()
    assert login.closed == [True, True]


async def test_a_call_under_way_is_not_cut_off_at_the_end(server: FakeWeb, login: WatchedLogin) -> None:
    """It closes what it was the last to use."""
    api = KubernetesApi(login, subject="test")
    slow = await under_way(server, api)
    await api.close()
    await api.close()
    assert await slow == {"done": True}
    assert login.closed == [True]


async def test_credentials_that_do_not_come_hold_nobody_for_ever() -> None:
    """Each of those that wait for the same ones is told."""
    api = KubernetesApi(HangingLogin(opening_limit=timedelta(milliseconds=50)), subject="test")
    both = await asyncio.gather(*(api.call("GET", "/") for _ in range(2)), return_exceptions=True)
    assert [str(one) for one in both] == ["test: no credentials for Kubernetes within 0.05 s"] * 2
    assert {type(one) for one in both} == {UnreachableError}
