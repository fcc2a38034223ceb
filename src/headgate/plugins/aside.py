"""
Somebody's realizer on a thread of its own, with a loop of its own: code that blocks there holds nobody else up.

Not in a worker process: it acts on the outside world, and killed in the middle of a call nobody would know what it did.
What does not answer in time counts as not answered, which realizers are asked again after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from threading import Thread
from typing import Any, TypeVar

from headgate.errors import HeadgateError, PluginError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext, ScalingRealizer

T = TypeVar("T")


class ThreadedRealizer:
    """A `ports.ScalingRealizer` around another one. Its thread ends with the process."""

    def __init__(self, make: Callable[[], ScalingRealizer], limit: timedelta, name: str, distribution: str) -> None:
        """
        Make the realizer on its thread, where its loop runs.

        Raises:
            Exception: whatever making it raises.
            TimeoutError: it took longer than `limit`.
        """
        self._limit = limit.total_seconds()
        self._name = name
        self._distribution = distribution
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name=f"headgate-realizer-{name}", daemon=True).start()
        self._realizer = asyncio.run_coroutine_threadsafe(_called(make), self._loop).result(self._limit)

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask the engine for these parallelisms."""
        return await self._within_limit(lambda: self._realizer.realize_parallelism_overrides(ctx, overrides))

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Change the job's configuration."""
        return await self._within_limit(lambda: self._realizer.realize_config_overrides(ctx, changes))

    async def _within_limit(self, call: Callable[[], Coroutine[Any, Any, bool]]) -> bool:
        # Called on the thread: a method that is not asynchronous at all blocks there as well, and not here.
        running = asyncio.run_coroutine_threadsafe(_awaited(call), self._loop)
        try:
            async with asyncio.timeout(self._limit):
                answer: bool = await asyncio.wrap_future(running)
                return answer
        except HeadgateError:
            raise
        except TimeoutError as error:
            what = f"gave no answer within {self._limit:g} s"
            raise PluginError(self._name, self._distribution, what) from error
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise PluginError(self._name, self._distribution, what) from error


async def _called(make: Callable[[], T]) -> T:
    return make()


async def _awaited(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return await call()
