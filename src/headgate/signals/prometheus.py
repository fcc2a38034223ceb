"""Signals from Prometheus, or whatever speaks its HTTP API: instant queries, many of them in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from typing import Any

from headgate.errors import HeadgateError, UnreachableError
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.answers import Answer
from headgate.signals.placeholders import fill_query, values_for
from headgate.signals.source import Clock, DeclaredSource, now_utc, reading
from headgate.signals.web import Web

_PATH = "/api/v1/query"
_TOGETHER = 50
"""Queries in one call at most: one that Prometheus refuses sends all of them on their own ways."""
_REMEMBERED = 10_000
_LABEL = "headgate_query"
"""Tells the results of queries that are asked together apart."""
_FAULTY = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
"""What Prometheus answers to a query that it cannot read, or that cannot be reckoned."""
_LONGEST = 300
_LOOKBACK = timedelta(minutes=5)
"""Prometheus' own: how old a sample may be that an instant query still gives."""


@dataclass(frozen=True, slots=True)
class PromQuery:
    """One query as it is asked."""

    text: str
    lookback: timedelta
    """How old a sample may be: no older than the signal itself."""


class PrometheusSource(DeclaredSource[PromQuery]):
    """Asks one Prometheus. A query must give exactly one series, or a scalar."""

    def __init__(
        self, options: SignalSourceOptions, declared: Sequence[SignalOptions], *, clock: Clock = now_utc
    ) -> None:
        """Open nothing yet."""
        super().__init__(options, declared, clock=clock)
        self._web = Web(options)
        self._alone: set[PromQuery] = set()

    async def close(self) -> None:
        """Close the connections; nothing is asked any more."""
        await super().close()
        await self._web.close()

    def _question(self, signal: SignalOptions, ctx: JobContext) -> PromQuery:
        text = fill_query(signal.query or "", values_for(ctx, signal), comment="#")
        return PromQuery(text, min(signal.max_age, _LOOKBACK))

    async def _ask(self, questions: Sequence[PromQuery]) -> Mapping[PromQuery, Answer]:
        found = await asyncio.gather(*(self._ask_group(group) for group in self._groups(questions)))
        return {question: answer for answers in found for question, answer in answers.items()}

    def _groups(self, questions: Sequence[PromQuery]) -> Iterator[Sequence[PromQuery]]:
        together = sorted(
            (each for each in questions if each not in self._alone), key=lambda each: (each.lookback, each.text)
        )
        for _, alike in groupby(together, key=lambda each: each.lookback):
            queries = list(alike)
            yield from (queries[begin : begin + _TOGETHER] for begin in range(0, len(queries), _TOGETHER))
        yield from ([each] for each in questions if each in self._alone)

    async def _ask_group(self, group: Sequence[PromQuery]) -> Mapping[PromQuery, Answer]:
        if len(group) == 1:
            return {group[0]: await self._ask_alone(group[0])}
        try:
            status, answer = await self._send(_joined(group), group[0].lookback)
        except HeadgateError as error:
            return dict.fromkeys(group, Missing(why=str(error)))
        if status == HTTPStatus.OK:
            series = _by_place(answer)
            return {each: self._of_series(series.get(str(place), [])) for place, each in enumerate(group)}
        # One of them is faulty, or gives a scalar, which can have no label: each for itself.
        return dict(zip(group, await asyncio.gather(*map(self._ask_alone, group)), strict=True))

    async def _ask_alone(self, query: PromQuery) -> Answer:
        try:
            status, answer = await self._send(query.text, query.lookback)
        except HeadgateError as error:
            return Missing(why=str(error))
        self._remember(query, joins=status == HTTPStatus.OK and answer["data"]["resultType"] == "vector")
        if status != HTTPStatus.OK:
            return Missing(why=f"{self.name} refuses the query: {_error(answer, status)}")
        data = answer["data"]
        if data["resultType"] == "scalar":
            return self._of_series([{"value": data["result"]}])
        if data["resultType"] != "vector":
            return Missing(why=f"the query gives a {data['resultType']}, expected one number")
        return self._of_series(data["result"])

    def _remember(self, query: PromQuery, *, joins: bool) -> None:
        if joins:
            self._alone.discard(query)
        elif len(self._alone) < _REMEMBERED:
            self._alone.add(query)

    async def _send(self, query: str, lookback: timedelta) -> tuple[HTTPStatus, Any]:
        limit_s = self.options.timeout.total_seconds()
        form = {"query": query, "timeout": f"{limit_s:g}", "lookback_delta": f"{lookback.total_seconds():g}"}
        status, answer = await self._web.post(_PATH, form)
        if status not in {HTTPStatus.OK, *_FAULTY}:
            message = f"{self.name} answered {status.value}: {_error(answer, status)}"
            raise UnreachableError(message)
        if not isinstance(answer, dict) or (status == HTTPStatus.OK and not _is_result(answer)):
            message = f"{self.name} answered {status} with JSON that is not Prometheus'"
            raise UnreachableError(message)
        return status, answer

    def _of_series(self, series: Sequence[Mapping[str, Any]]) -> Answer:
        if not series:
            return Missing(why="the query gives no result")
        if len(series) > 1:
            return Missing(why=f"the query gives {len(series)} results, expected one. Hint: sum() or max() them")
        if "value" not in series[0]:
            return Missing(why="the query gives a histogram, expected a number")
        at_s, value = series[0]["value"]
        return reading(value, datetime.fromtimestamp(float(at_s), UTC), "the result")


def _joined(queries: Sequence[PromQuery]) -> str:
    """Ask several things at once, each result with its place in a label; a query may end in a comment."""
    parts = (f'label_replace(({query.text}\n), "{_LABEL}", "{place}", "", "")' for place, query in enumerate(queries))
    return " or ".join(parts)


def _by_place(answer: Mapping[str, Any]) -> Mapping[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for series in answer["data"]["result"]:
        found.setdefault(series["metric"].get(_LABEL, ""), []).append(series)
    return found


def _is_result(answer: Mapping[str, Any]) -> bool:
    data = answer.get("data")
    return isinstance(data, dict) and isinstance(data.get("result"), list) and "resultType" in data


def _error(answer: Any, status: HTTPStatus) -> str:
    told = answer.get("error") if isinstance(answer, dict) else None
    return str(told or status.phrase)[:_LONGEST]
