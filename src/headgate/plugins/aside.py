"""
Somebody's realizer on a thread of its own, with a loop of its own: code that blocks there holds nobody else up.

Not in a worker process: it acts on the outside world, and killed in the middle of a call nobody would know what it did.
What does not answer in time counts as not answered, which realizers are asked again after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from datetime import timedelta
from threading import Thread
from typing import Any, TypeVar

from headgate.errors import HeadgateError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.plugins.ready import Plugin
from headgate.ports import JobContext, ScalingRealizer

T = TypeVar("T")


class ThreadedRealizer:
    """A `ports.ScalingRealizer` around another one. Its thread ends with the process, or when it cannot be made."""

    def __init__(self, make: Callable[[], ScalingRealizer], limit: timedelta, named: Plugin) -> None:
        """
        Make the realizer on its thread, where its loop runs.

        Args:
            make: makes it.
            limit: how long that and each call may take.
            named: tells of it, by its name and without its secrets; it has no port yet.

        Raises:
            Exception: whatever making it raises.
            TimeoutError: it took longer than `limit`.
        """
        self._limit = limit.total_seconds()
        self._named = named
        self._unanswered: Future[None] | None = None
        self._loop = asyncio.new_event_loop()
        Thread(target=self._run, name=f"headgate-realizer-{named.name}", daemon=True).start()
        try:
            self._realizer = asyncio.run_coroutine_threadsafe(_called(make), self._loop).result(self._limit)
        except BaseException:
            self._loop.call_soon_threadsafe(self._loop.stop)
            raise

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask the engine for these parallelisms."""
        return await self._within_limit(lambda: self._realizer.realize_parallelism_overrides(ctx, overrides))

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Change the job's configuration."""
        return await self._within_limit(lambda: self._realizer.realize_config_overrides(ctx, changes))

    async def _within_limit(self, call: Callable[[], Coroutine[Any, Any, bool]]) -> bool:
        if self._unanswered and not self._unanswered.done():
            what = "still blocks its thread with an earlier call"
            raise self._named.fault(what)
        # Called on the thread: a method that is not asynchronous at all blocks there as well, and not here.
        running = asyncio.run_coroutine_threadsafe(_awaited(call), self._loop)
        try:
            async with asyncio.timeout(self._limit):
                answer: bool = await asyncio.wrap_future(running)
                return answer
        except HeadgateError as error:
            raise self._named.masked(error) from None
        except TimeoutError as error:
            # A loop that is free answers this at once; one that is blocked when it is free again.
            self._unanswered = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop)
            what = f"gave no answer within {self._limit:g} s"
            raise self._named.fault(what) from error
        except Exception as error:
            raise self._named.failure(error) from error

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()


async def _called(make: Callable[[], T]) -> T:
    return make()


async def _awaited(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return await call()
