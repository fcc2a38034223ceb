"""
Tells a Headgate service what the agent sees and does, so that it can be asked there too.

Best effort: what cannot be sent in time is lost, and the agent decides without anybody's answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event as Flag
from threading import Thread
from typing import Any
from urllib.request import HTTPRedirectHandler, Request

from headgate.agent.journal import Report, nowhere
from headgate.agent.log import LOGGER
from headgate.agent.plain import plain
from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.http_client import opener_for
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.samples import JobSample
from headgate.options.agent import AgentOptions

VERSION = 1
"""Of the report's form."""
PATH = "/v1/reports"
_CAPACITY = 1000
"""Values that wait to be sent; what comes beyond them is lost."""
_AT_ONCE = 100
"""Values in one report."""
_TIMEOUT_S = 5.0
_POLL_S = 0.5
_LONGEST_PAUSE_S = 60.0

_UNFIT = "it holds a line break or another character that cannot stand in a header. Hint: a file may end with one"

_LISTS = {JobSample: "samples", Decision: "decisions", Event: "events"}


class _NoRedirects(HTTPRedirectHandler):
    """A token is for the service that the options name, and for nobody that this one points to."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        """Follow none: it is an error then."""


class Reporter:
    """Sends what it is given in a thread of its own."""

    def __init__(self, url: str, token: str | None, ca_file: Path | None = None) -> None:
        """
        Start sending.

        Args:
            url: the service's.
            token: what it wants to see; None: nothing.
            ca_file: certificates to trust; None: the system's.

        Raises:
            ValueError: the certificates cannot be read.
        """
        self._url = url.rstrip("/") + PATH
        self._token = token
        self._opener = opener_for(self._url, _NoRedirects(), ca_file=ca_file)
        self._queue: Queue[JobSample | Decision | Event] = Queue(_CAPACITY)
        self._ended = Flag()
        self._thread = Thread(target=self._send_all, name="headgate-reports", daemon=True)
        self._thread.start()

    def report(self, value: JobSample | Decision | Event) -> None:
        """Take a value to be sent; it is lost where too many wait already."""
        with suppress(Full):
            self._queue.put_nowait(value)

    def close(self) -> None:
        """Send what waits, as far as that is quick, and end."""
        self._ended.set()
        self._thread.join(_TIMEOUT_S)

    def _send_all(self) -> None:
        pause = _POLL_S
        while not self._ended.is_set() or not self._queue.empty():
            values = list(self._next())
            if not values:
                continue
            failure = self._send(values)
            if failure is None:
                pause = _POLL_S
                continue
            with suppress(Exception):
                LOGGER.info("a report did not reach %s: %s", self._url, failure)
            if self._ended.wait(pause):
                return
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _next(self) -> Iterator[JobSample | Decision | Event]:
        with suppress(Empty):
            yield self._queue.get(timeout=_POLL_S)
            for _ in range(_AT_ONCE - 1):
                yield self._queue.get_nowait()

    def _send(self, values: list[JobSample | Decision | Event]) -> str | None:
        """Give why it could not be sent; None when it was."""
        try:
            request = Request(self._url, data=body_of(values), headers=self._headers(), method="POST")  # noqa: S310 - the options allow http and https only
            with self._opener.open(request, timeout=_TIMEOUT_S):
                return None
        except Exception as error:  # noqa: BLE001 - the network, the service, or a value that JSON does not take
            text = str(error) or type(error).__name__
            return text.replace(self._token, "***") if self._token else text

    def _headers(self) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return {"Content-Type": "application/json", **bearer}


def body_of(values: list[JobSample | Decision | Event]) -> bytes:
    """Write a report."""
    report: dict[str, Any] = {"version": VERSION, **{name: [] for name in _LISTS.values()}}
    for value in values:
        report[_LISTS[type(value)]].append(plain(value))
    return json.dumps(report).encode()


def open_reporter(options: AgentOptions, opened: ExitStack) -> Report:
    """
    Give what tells the service that the options name, or nobody.

    Raises:
        ConfigError: the token cannot be had, or cannot stand in a header; the certificates cannot be read.
    """
    if options.report_url is None:
        return nowhere
    try:
        token = resolve(options.report_token) if options.report_token else None
    except ValueError as error:
        raise ConfigError([f"report.token: {error}"]) from error
    if token is not None and not (token.isascii() and token.isprintable()):
        raise ConfigError([f"report.token: {_UNFIT}"])
    try:
        reporter = Reporter(options.report_url, token, options.report_ca_file)
    except ValueError as error:
        raise ConfigError([f"report.ca-file: {error}"]) from error
    opened.callback(reporter.close)
    return reporter.report
