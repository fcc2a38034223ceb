"""Signals from any HTTP service that answers in JSON: an address, and where in the answer the value stands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import jsonpath

from headgate.errors import HeadgateError
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.answers import Answer
from headgate.signals.placeholders import fill_path, fill_query, values_for
from headgate.signals.source import Clock, DeclaredSource, now_utc, reading
from headgate.signals.web import Web

_MILLIS_FROM = 1e11
"""Epoch numbers from here on are milliseconds: as seconds they would lie beyond the year 5000."""


@dataclass(frozen=True, slots=True)
class JsonQuestion:
    """One value of one answer."""

    path: str
    """What follows the address of the service."""
    value: str
    """JSONPath."""
    timestamp: str | None
    """JSONPath."""


class HttpSource(DeclaredSource[JsonQuestion]):
    """Asks one HTTP service by GET; what several signals find in one answer is asked once."""

    def __init__(
        self, options: SignalSourceOptions, declared: Sequence[SignalOptions], *, clock: Clock = now_utc
    ) -> None:
        """Open nothing yet."""
        super().__init__(options, declared, clock=clock)
        self._web = Web(options)

    async def close(self) -> None:
        """Close the connections; nothing is asked any more."""
        await super().close()
        await self._web.close()

    def _question(self, signal: SignalOptions, ctx: JobContext) -> JsonQuestion:
        values = values_for(ctx, signal)
        return JsonQuestion(
            path=fill_path(signal.path, values),
            value=fill_query(signal.query or "", values),
            timestamp=None if signal.timestamp is None else fill_query(signal.timestamp, values),
        )

    async def _ask(self, questions: Sequence[JsonQuestion]) -> Mapping[JsonQuestion, Answer]:
        paths = sorted({each.path for each in questions})
        documents = dict(zip(paths, await asyncio.gather(*map(self._document, paths)), strict=True))
        return {each: self._found(each, documents[each.path]) for each in questions}

    async def _document(self, path: str) -> Any:
        try:
            status, document = await self._web.get(path)
        except HeadgateError as error:
            return Missing(why=str(error))
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return Missing(why=f"{self.name} answered {status.value} {status.phrase}")
        return document

    def _found(self, question: JsonQuestion, document: Any) -> Answer:
        if isinstance(document, Missing):
            return document
        try:
            value = _only(document, question.value)
            at = self._clock() if question.timestamp is None else _instant(_only(document, question.timestamp))
        except (ValueError, jsonpath.JSONPathError) as error:
            return Missing(why=f"{self.name}: {error}")
        return reading(value, at, f"what stands at {question.value}")


def _only(document: Any, path: str) -> Any:
    found = jsonpath.findall(path, document)
    if len(found) != 1:
        message = f"{path} finds {len(found) or 'no'} values in the answer, expected one"
        raise ValueError(message)
    return found[0]


def _instant(value: Any) -> datetime:
    """Read epoch seconds, epoch milliseconds or ISO 8601; without a zone it is UTC."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
        number = float(value)
        return datetime.fromtimestamp(number / 1000 if number >= _MILLIS_FROM else number, UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        message = f"the time {value!r:.60} is neither epoch seconds or milliseconds nor ISO 8601"
        raise ValueError(message) from error
