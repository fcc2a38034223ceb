"""An event loop that needs no threads: what is handed to one is done at once, where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class InlineExecutor(ThreadPoolExecutor):
    """
    Does at once, and in the same thread, what the loop hands to threads.

    Nothing blocks in a simulation: threads would only make it slow, and its order a matter of chance.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - handed to whoever awaits it, as a thread would
            future.set_exception(error)
        return future


def inline_loop() -> asyncio.AbstractEventLoop:
    """Make such a loop; whoever made it closes it."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(InlineExecutor(max_workers=1))
    return loop
