"""The declarations keep to Prometheus' conventions, and nothing that is evaluated is left out."""

from __future__ import annotations

import re
from pathlib import Path

from headgate.model.metrics import JobMetric, ScalingMetric
from headgate.telemetry import families
from headgate.telemetry.board import Board
from headgate.telemetry.collector import FleetCollector
from headgate.telemetry.families import SECTIONS, Kind

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to" / "watch-headgate.md"

ALL = [family for section in SECTIONS.values() for family in section]


def test_names_follow_the_conventions() -> None:
    """Lower case under one prefix; a counter, and nothing else, ends in `_total`; no name stands twice."""
    for family in ALL:
        assert re.fullmatch(r"headgate_[a-z]+(_[a-z]+)*", family.name)
        assert family.name.endswith("_total") == (family.kind is Kind.COUNTER)
        assert family.help.endswith(".")
    assert len({family.name for family in ALL}) == len(ALL)


def test_every_evaluated_metric_has_its_family() -> None:
    """A metric added to the model is shown, or this fails."""
    assert families.VERTEX.keys() == set(ScalingMetric)
    assert families.JOB_WIDE.keys() == set(JobMetric)


def test_exactly_what_is_declared_is_shown() -> None:
    """The reference page is made from the declarations."""
    shown = [
        f"{metric.name}_total" if metric.type == "counter" else metric.name
        for metric in FleetCollector(Board()).collect()
    ]
    assert sorted(shown) == sorted(family.name for family in ALL)


def test_the_how_to_names_only_what_there_is() -> None:
    """A query copied from the page finds something."""
    named = set(re.findall(r"headgate_[a-z_]+", HOW_TO.read_text(encoding="utf-8")))
    assert named
    assert named <= {family.name for family in ALL}
