"""How these tests read a page: through the library's own parser, so that whatever it cannot read fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headgate.telemetry.board import Board
from headgate.telemetry.collector import FleetCollector
from headgate.telemetry.exposition import exposed

Page = Mapping[str, Mapping[tuple[str, ...], float]]
"""Name of a metric -> values of its labels, in the order of their names -> value."""


def parsed(text: str) -> Page:
    """Read a page."""
    page: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = tuple(value for _, value in sorted(sample.labels.items()))
            series = page.setdefault(sample.name, {})
            assert key not in series, f"{sample.name} {key} stands twice"
            series[key] = sample.value
    return page


@pytest.fixture
def parse() -> Callable[[str], Page]:
    """Read a page."""
    return parsed


@pytest.fixture
def scrape() -> Callable[[Board], Page]:
    """Read what a board shows now."""
    return lambda board: parsed(b"".join(exposed(FleetCollector(board).collect())).decode())
