"""Kubernetes' API for threads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import UnreachableError
from headgate.kube.api import KubernetesApi
from headgate.kube.blocking import BlockingApi
from headgate.kube.login import Login
from headgate.testing.fake_kubernetes import write_kubeconfig
from headgate.testing.fake_web import FakeWeb, WebAnswer


@pytest.fixture
async def server() -> AsyncIterator[FakeWeb]:
    """Give an API server that knows its version."""
    async with FakeWeb(WebAnswer(text=json.dumps({"major": "1"}))) as server:
        yield server


@pytest.fixture
def api(server: FakeWeb, tmp_path: Path) -> BlockingApi:
    """Give the way there."""
    return BlockingApi(Login(kubeconfig=str(write_kubeconfig(server.url, tmp_path))), subject="test")


async def version(api: KubernetesApi) -> Any:
    """Ask for the server's version."""
    return await api.call("GET", "/version")


async def test_many_threads_ask_over_one_connection(api: BlockingApi) -> None:
    """Which is made by whoever comes first, and by nobody else."""

    def ask_all() -> list[Any]:
        with ThreadPoolExecutor(8) as threads:
            return list(threads.map(api.run, [version] * 8))

    assert await asyncio.to_thread(ask_all) == [{"major": "1"}] * 8
    await asyncio.to_thread(api.close)


async def test_a_closed_one_gives_up_what_is_under_way_and_opens_again(api: BlockingApi, server: FakeWeb) -> None:
    """Whoever waits is told; what is asked later has a connection of its own."""
    server.answer = WebAnswer(after_s=60)
    waiting = asyncio.create_task(asyncio.to_thread(api.run, version))
    await server.asked.wait()
    await asyncio.to_thread(api.close)
    with pytest.raises(UnreachableError, match="asked no more"):
        await waiting
    server.answer = WebAnswer()
    assert await asyncio.to_thread(api.run, version) == {}
    await asyncio.to_thread(api.close)
    await asyncio.to_thread(api.close)
