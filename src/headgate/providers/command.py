"""Workers that a command of the operator's adds and removes, whatever they are."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from tempfile import TemporaryFile
from typing import IO

from headgate.errors import RefusedError, UnreachableError
from headgate.ports import Workers
from headgate.providers.parameters import Parameters

COUNT = "{count}"
"""In a command: the number that is asked for."""

_TIMEOUT = timedelta(seconds=30)
_LONGEST = 300


class CommandProvider:
    """
    Runs one command to count the workers and another one to set their number; neither goes through a shell.

    The second one may be run again with the same number, until the first one prints it.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Run nothing yet.

        Args:
            parameters: `count`, a command that prints how many workers there are; `request`, one with `{count}` in it,
                which asks for so many and does not wait for them; `timeout` of each, by default 30 s.

        Raises:
            ValueError: one is missing or cannot be split into words, or `{count}` is not in `request`.
        """
        read = Parameters(parameters, known=("count", "request", "timeout"))
        self._count = _words(read, "count", "a command that prints how many workers there are")
        self._request = _words(read, "request", f"a command with {COUNT} in it")
        if not any(COUNT in word for word in self._request):
            message = f"parameter request has no {COUNT} in it"
            raise ValueError(message)
        self._timeout_s = read.duration("timeout", _TIMEOUT).total_seconds()
        self._asked: int | None = None

    async def workers(self) -> Workers:
        """
        Run the command that counts.

        Raises:
            TransientError: it failed, took too long, or printed something else.
        """
        printed = (await self._run(self._count)).strip()
        if not (printed.isascii() and printed.isdigit()):
            message = f"{self._count[0]} printed {printed[:_LONGEST]!r}, which is no number of workers"
            raise UnreachableError(message)
        return Workers(wanted=int(printed) if self._asked is None else self._asked, ready=int(printed))

    async def request(self, count: int, /) -> bool:
        """
        Run the command that asks for workers, unless there are so many.

        Raises:
            RefusedError: `count` is below zero.
            TransientError: a command failed or took too long.
        """
        if count < 0:
            message = f"{count} workers cannot be had"
            raise RefusedError(message)
        ready = (await self.workers()).ready
        is_news = count != (ready if self._asked is None else self._asked)
        if is_news or ready != count:
            await self._run([word.replace(COUNT, str(count)) for word in self._request])
        self._asked = count
        return is_news

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """
        Refuse: there is no command for it.

        Raises:
            RefusedError: always.
        """
        message = f"{self._request[0]} only sets how many workers there are, not {', '.join(sorted(settings))}"
        raise RefusedError(message)

    async def close(self) -> None:
        """Do nothing: no command runs between calls."""

    async def _run(self, words: Sequence[str]) -> str:
        """Give what a command prints."""
        # Files, because a pipe stays open as long as anything that the command left behind.
        with TemporaryFile() as printed, TemporaryFile() as complaints:
            await self._finish(words, printed, complaints)
            printed.seek(0)
            return printed.read().decode(errors="replace")

    async def _finish(self, words: Sequence[str], printed: IO[bytes], complaints: IO[bytes]) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=DEVNULL, stdout=printed, stderr=complaints, start_new_session=True
            )
        except OSError as error:
            message = f"{words[0]} cannot be run: {error.strerror}. Hint: no shell is asked, so name a program"
            raise UnreachableError(message) from error
        try:
            async with asyncio.timeout(self._timeout_s):
                ended_with = await process.wait()
        except TimeoutError as error:
            message = f"{words[0]} did not end within {self._timeout_s:g} s and was killed"
            raise UnreachableError(message) from error
        finally:
            await _kill(process)
        if ended_with:
            message = f"{words[0]} ended with {ended_with}: {_first_line(complaints)}"
            raise UnreachableError(message)


async def _kill(process: Process) -> None:
    """End a command that has not ended, and whatever it started."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _words(read: Parameters, name: str, hint: str) -> list[str]:
    text = read.required(name, hint)
    try:
        return shlex.split(text)
    except ValueError as error:
        message = f"parameter {name} is {text!r}: {error}"
        raise ValueError(message) from error


def _first_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return lines[0][:_LONGEST] if lines else "it does not say why"
