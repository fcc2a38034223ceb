"""Somebody's realizer on its thread: what it leaves behind, what it costs while it blocks, what is told of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from datetime import timedelta
from threading import Event
from typing import Any

import psutil
import pytest

from headgate.errors import PluginError, UnreachableError
from headgate.model.decision import ConfigChanges
from headgate.plugins.aside import ThreadedRealizer
from headgate.plugins.ready import Plugin
from headgate.testing.builders import context

NAMED = Plugin(name="mine", distribution="ours", port=None, secrets=("hush-hush",))
SOON = timedelta(milliseconds=200)


class Blocking:
    """Blocks its own loop until it is let go, or raises."""

    def __init__(self) -> None:
        """Block."""
        self.free = Event()
        self.calls = 0

    async def realize_parallelism_overrides(self, _ctx: Any, _overrides: Mapping[Any, int], /) -> bool:
        """Block."""
        self.calls += 1
        return self.free.wait()

    async def realize_config_overrides(self, _ctx: Any, changes: ConfigChanges, /) -> bool:
        """Raise."""
        message = "token hush-hush is no good"
        raise (UnreachableError(message) if changes.removals else RuntimeError(message))


def test_a_realizer_that_cannot_be_made_leaves_nothing_behind() -> None:
    """Neither a thread nor an open file, however often it is tried."""

    def make() -> Blocking:
        raise KeyError

    threads, files = set(threading.enumerate()), psutil.Process().num_fds()
    for _ in range(5):
        with pytest.raises(KeyError):
            ThreadedRealizer(make, SOON, NAMED)
    for left in set(threading.enumerate()) - threads:
        left.join(5)
        assert not left.is_alive()
    assert psutil.Process().num_fds() <= files


async def test_a_realizer_that_blocks_is_not_waited_for_again() -> None:
    """Until it is free: then it is asked as before."""
    blocking = Blocking()
    realizer = ThreadedRealizer(lambda: blocking, SOON, NAMED)
    with pytest.raises(PluginError, match="gave no answer within"):
        await realizer.realize_parallelism_overrides(context(), {})
    with pytest.raises(PluginError, match="plugin mine of ours still blocks its thread"):
        await realizer.realize_parallelism_overrides(context(), {})
    assert blocking.calls == 1
    blocking.free.set()
    while True:
        try:
            assert await realizer.realize_parallelism_overrides(context(), {})
        except PluginError:
            await asyncio.sleep(0)
        else:
            break


@pytest.mark.parametrize("removals", [frozenset[str](), frozenset({"a"})])
async def test_what_a_realizer_raises_is_told_without_its_secrets(removals: frozenset[str]) -> None:
    """Also what ports speak of."""
    realizer = ThreadedRealizer(Blocking, SOON, NAMED)
    with pytest.raises((PluginError, UnreachableError), match=r"token \*\*\* is no good"):
        await realizer.realize_config_overrides(context(), ConfigChanges(removals=removals))
