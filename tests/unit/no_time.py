"""Async tests that wait for as long as they like, and last no time: the clock of their loop jumps to the next timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import wraps
from selectors import DefaultSelector, SelectorKey
from typing import Any, ParamSpec

from headgate.simulate.inline import InlineExecutor

P = ParamSpec("P")


class JumpingSelector(DefaultSelector):
    """Does not wait for a timer, but says that the time until then has passed."""

    def __init__(self) -> None:
        """Begin at zero."""
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Give what is ready; without a timer there is nothing to wait for but the world outside."""
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout:
            self.now_s += timeout
        return ready


class LateExecutor(InlineExecutor):
    """
    Does at once what is handed to a thread; what is called says how long that takes, and is answered only then.

    Attributes:
        takes_s: set by what is called, in seconds.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer at once what says nothing else."""
        super().__init__(max_workers=1)
        self._loop = loop
        self.takes_s = 0.0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now."""
        self.takes_s = 0.0
        done = super().submit(fn, *args, **kwargs)
        if not self.takes_s:
            return done
        answer: Future[Any] = Future()
        error = done.exception()
        tell = (lambda: answer.set_exception(error)) if error else (lambda: answer.set_result(done.result()))
        self._loop.call_later(self.takes_s, tell)
        return answer


class JumpingLoop(asyncio.SelectorEventLoop):
    """
    A loop whose clock stands still while anything can be done, and then jumps.

    Attributes:
        threads: what stands for them.
    """

    def __init__(self) -> None:
        """Begin at zero, without threads."""
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)
        self.threads = LateExecutor(self)
        self.set_default_executor(self.threads)

    def time(self) -> float:
        """Give the seconds that have passed."""
        return self._jumping.now_s


def in_no_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test that waits for nothing outside of its process on such a loop."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run
