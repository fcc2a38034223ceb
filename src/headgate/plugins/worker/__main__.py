"""The worker process: answers one request after the other until nobody asks any more."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import signal
import socket
import sys
from typing import Any

from headgate import errors
from headgate.plugins.making import make, priority_of
from headgate.plugins.worker.channel import Channel
from headgate.plugins.worker.requests import ANSWERED, RAISED, Recipe, Request
from headgate.plugins.worker.wire import packed

_GRACE_S = 5.0
"""How long after its deadline a call ends this process, should nobody be left to kill it."""


class Worker:
    """Makes plugins when they are first asked, and asks them."""

    def __init__(self, runner: asyncio.Runner) -> None:
        """Run what is asynchronous in one loop, so that a plugin may keep connections."""
        self._runner = runner
        self._made: dict[Recipe, Any] = {}

    def reply(self, message: bytes) -> bytes:
        """Answer one request, whatever comes of it."""
        request: Request = pickle.loads(message)  # noqa: S301 - from the process that started this one
        signal.setitimer(signal.ITIMER_REAL, request.seconds + _GRACE_S)
        try:
            return ANSWERED.encode() + packed(self._answer(request))
        except Exception as error:  # noqa: BLE001 - it is anybody's code
            return RAISED.encode() + json.dumps([_name(error), str(error)]).encode()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _answer(self, request: Request) -> Any:
        plugin = self._plugin(request.recipe)
        if request.method is None:
            return priority_of(plugin)
        answer = getattr(plugin, request.method)(*request.arguments)
        return self._runner.run(_awaited(answer)) if inspect.isawaitable(answer) else answer

    def _plugin(self, recipe: Recipe) -> Any:
        if recipe not in self._made:
            self._made[recipe] = make(recipe.kind, recipe.target, recipe.mapping)
        return self._made[recipe]


async def _awaited(answer: Any) -> Any:
    return await answer


def _name(error: Exception) -> str:
    """Name the error, by Headgate's own class where it is one of those or derived from one."""
    ours = (each.__name__ for each in type(error).__mro__ if each.__module__ == errors.__name__)
    return next(ours, type(error).__name__)


def main(descriptor: int) -> None:
    """Serve the other end of a socket."""
    channel = Channel(socket.socket(fileno=descriptor))
    with asyncio.Runner() as runner:
        worker = Worker(runner)
        while True:
            try:
                channel.send(worker.reply(channel.receive()))
            except ConnectionError:
                return


if __name__ == "__main__":
    main(int(sys.argv[1]))
