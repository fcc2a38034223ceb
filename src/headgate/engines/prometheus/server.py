"""Asks one Prometheus server for series; what it refuses, or answers in part only, is no answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from headgate.engines.flink.shared import together
from headgate.errors import HeadgateError, UnreachableError
from headgate.options.prometheus import PrometheusOptions
from headgate.options.signals import SignalSourceOptions
from headgate.signals.web import Web

_PATH = "/api/v1/query"
_LONGEST = 300
_CALLS_IN_FLIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The samples of one series, as many as were asked for."""

    labels: Mapping[str, str]
    samples: Mapping[float, float]
    """Finite values by the second that they were scraped at, oldest first."""


class PrometheusServer:
    """The server that scrapes one cluster. The session opens with the first call; close it in the same event loop."""

    def __init__(self, cluster: str, options: PrometheusOptions) -> None:
        """
        Keep the options; nothing is resolved or opened yet.

        Args:
            cluster: which Flink cluster it scrapes, for messages.
            options: those of a cluster whose `url` is set.
        """
        self.name = f"prometheus of cluster {cluster}"
        self.options = options
        self._limit_s = options.timeout.total_seconds()
        self._web = Web(_reached(self.name, options))

    async def ask(self, query: str) -> Sequence[Series]:
        """
        Give the series that a query finds.

        Raises:
            UnreachableError: no answer, or none that is whole.
        """
        try:
            status, answer = await self._web.post(_PATH, {"query": query, "timeout": f"{self._limit_s:g}"})
        except HeadgateError as error:
            # also what is refused for good elsewhere: credentials rotate, and a collector tries again
            raise UnreachableError(str(error)) from error
        if status != HTTPStatus.OK:
            message = f"{self.name} refuses {query}: {_told(answer, 'error') or status.phrase}"
            raise UnreachableError(message)
        if warnings := _told(answer, "warnings"):
            message = f"{self.name} answers {query} in part only: {warnings}"
            raise UnreachableError(message)
        try:
            # of a large cluster this takes a while, in which other jobs must not stand still
            return await asyncio.to_thread(_read_result, answer)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"{self.name} answers {query} with JSON that is not Prometheus'"
            raise UnreachableError(message) from error

    async def ask_all(self, queries: Sequence[str]) -> list[Sequence[Series]]:
        """Ask several things at once, as `ask`; the first failure is raised once all have ended."""
        return await together(map(self.ask, queries))

    async def close(self) -> None:
        """Close the connections; nothing is asked any more."""
        await self._web.close()


def _reached(name: str, options: PrometheusOptions) -> SignalSourceOptions:
    return SignalSourceOptions(
        name=name,
        type="prometheus",
        url=options.url or "",
        token="" if options.token_file is None else f"${{file:{options.token_file}}}",
        headers=options.headers,
        ca_file=options.ca_file,
        timeout=options.timeout,
        max_calls_in_flight=_CALLS_IN_FLIGHT,
    )


def _read_result(answer: Any) -> tuple[Series, ...]:
    return tuple(_read_series(each) for each in answer["data"]["result"])


def _read_series(series: Mapping[str, Any]) -> Series:
    samples = series["values"] if "values" in series else [series["value"]]
    read = ((float(at_s), float(value)) for at_s, value in samples)
    return Series(labels=dict(series["metric"]), samples={at_s: value for at_s, value in read if math.isfinite(value)})


def _told(answer: Any, what: str) -> str:
    told = answer.get(what) if isinstance(answer, dict) else None
    return str(told or "")[:_LONGEST]
