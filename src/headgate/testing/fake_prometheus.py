"""
The query interface of a Prometheus with a clock of its own, for tests: it keeps what it is told was scraped.

Of PromQL it understands what Headgate asks: a selector with a range, and `group by` over a selector.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.testing.fake_web import WebAnswer, WebRequest

_QUERY = re.compile(r"(?P<name>\w*)\{(?P<matchers>.*)\}\[(?P<range>\d+)ms\]")
_GROUP = re.compile(r"group by \((?P<labels>[^)]*)\) \(\{(?P<matchers>.*)\}\)")
_MATCHER = re.compile(r'(?P<label>\w+)(?P<sign>=~?)"(?P<value>(?:[^"\\]|\\.)*)"')
_LOOKBACK_S = 300.0

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Scraped:
    """One line of a scraped page."""

    labels: Labels
    """With `__name__`."""
    value: float


@dataclass
class FakePrometheus:
    """
    The server's memory; `respond` answers for a `FakeWeb`.

    Attributes:
        now_s: its clock.
        queries: everything that was asked, in order.
        instead: what is answered instead of results, where it is set.
    """

    now_s: float = 0.0
    queries: list[str] = field(default_factory=list)
    instead: WebAnswer | None = None
    _series: dict[tuple[tuple[str, str], ...], dict[float, float]] = field(default_factory=dict)

    def scrape(self, page: Iterable[Scraped], at_s: float | None = None) -> None:
        """Take a page, by default now."""
        for line in page:
            samples = self._series.setdefault(tuple(sorted(line.labels.items())), {})
            samples[self.now_s if at_s is None else at_s] = line.value

    def respond(self, request: WebRequest) -> WebAnswer:
        """Answer a query."""
        query = request.form["query"]
        self.queries.append(query)
        return self.instead or WebAnswer(text=json.dumps({"status": "success", "data": self._evaluate(query)}))

    def _evaluate(self, query: str) -> Mapping[str, Any]:
        if grouping := _GROUP.fullmatch(query):
            return self._group(grouping["labels"].split(", "), grouping["matchers"])
        asked = _QUERY.fullmatch(query)
        if asked is None:
            message = f"this fake does not understand {query}"
            raise ValueError(message)
        found = self._select(f'__name__="{asked["name"]}",{asked["matchers"]}', int(asked["range"]) / 1000)
        return {
            "resultType": "matrix",
            "result": [
                {"metric": labels, "values": [[at_s, str(value)] for at_s, value in sorted(samples.items())]}
                for labels, samples in found
            ],
        }

    def _group(self, by: list[str], matchers: str) -> Mapping[str, Any]:
        groups = {
            tuple((label, labels[label]) for label in by if label in labels)
            for labels, _ in self._select(matchers, _LOOKBACK_S)
        }
        return {
            "resultType": "vector",
            "result": [{"metric": dict(group), "value": [self.now_s, "1"]} for group in sorted(groups)],
        }

    def _select(self, matchers: str, range_s: float) -> Iterable[tuple[Labels, Mapping[float, float]]]:
        tests = [_test_of(match) for match in _MATCHER.finditer(matchers)]
        for key, samples in self._series.items():
            labels = dict(key)
            recent = {at_s: value for at_s, value in samples.items() if self.now_s - range_s <= at_s <= self.now_s}
            if recent and all(test(labels) for test in tests):
                yield labels, recent


def _test_of(match: re.Match[str]) -> Callable[[Labels], bool]:
    label, value = match["label"], re.sub(r"\\(.)", r"\1", match["value"]) if match["sign"] == "=" else match["value"]
    if match["sign"] == "=":
        return lambda labels: labels.get(label, "") == value
    return lambda labels: re.fullmatch(value, labels.get(label, "")) is not None
