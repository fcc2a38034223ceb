"""The declarations keep to Prometheus' conventions, and nothing that is evaluated is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from headgate.control.runner import Work
from headgate.model.events import EventReason
from headgate.model.metrics import JobMetric, ScalingMetric
from headgate.model.reasons import Reason
from headgate.telemetry import families
from headgate.telemetry.board import Board
from headgate.telemetry.collector import FleetCollector
from headgate.telemetry.families import SECTIONS, Family, Kind

ROOT = Path(__file__).parents[3]
HOW_TO = ROOT / "docs" / "how-to" / "watch-headgate.md"
RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"

ALL = [family for section in SECTIONS.values() for family in section]
VALUES = {
    "tick": {work.name.lower() for work in Work},
    "reason": {*EventReason, *Reason},
    "check": {check.name for check in Board().health.ready()},
    "holder": {"self", "others", "nobody"},
}


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


def test_every_metric_of_the_reference_has_its_family() -> None:
    """Its counters, and what its gauges give but NaN: one of present value and mean of each metric."""
    theirs = {family.reference for family in ALL if family.reference}
    averages = {"LOAD.Average", "TRUE_PROCESSING_RATE.Average", "TARGET_DATA_RATE.Average"}
    others = {f"{metric}.Current" for metric in ScalingMetric if f"{metric}.Average" not in averages}
    assert theirs == {"scalings", "balanced", "errors"} | averages | others


@pytest.mark.parametrize("text", [HOW_TO, RULES], ids=lambda path: path.name)
def test_only_what_there_is_is_named(text: Path) -> None:
    """A query copied from the page finds something, and a rule can fire."""
    named = set(re.findall(r"headgate_[a-z_]+", text.read_text(encoding="utf-8")))
    assert named
    assert named <= {name for family in ALL for name in _series(family)}


def test_rules_ask_for_labels_that_there_are() -> None:
    """And for values of them: a reason, a check or a tick that is called otherwise would never fire."""
    for family, matchers in _selectors(RULES.read_text(encoding="utf-8")):
        for label, values in re.findall(r'(\w+)[!=]=?~?"([^"]*)"', matchers):
            assert label in family.labels
            assert set(values.split("|")) <= VALUES[label]


@pytest.mark.parametrize("page", ["watch-headgate", "run-on-kubernetes"])
def test_scrapes_keep_the_label_that_names_a_job(page: str) -> None:
    """Prometheus has a `job` of its own: without being told to it would show that one in every alert."""
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
    scrapes = [one for block in blocks for one in block.get("scrape_configs", ())]
    scrapes += [one for block in blocks if block.get("kind") == "ServiceMonitor" for one in block["spec"]["endpoints"]]
    assert len(scrapes) == 2
    assert all(one.get("honor_labels") or one.get("honorLabels") for one in scrapes)


def test_rules_are_what_prometheus_reads() -> None:
    """Each has a name of its own, an expression, and says what is the matter."""
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    assert all(rule.keys() - {"for"} == {"alert", "expr", "labels", "annotations"} for rule in group["rules"])
    assert all(rule["annotations"].keys() == {"summary"} for rule in group["rules"])
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"])


def _selectors(text: str) -> Iterator[tuple[Family, str]]:
    known = {name: family for family in ALL for name in _series(family)}
    return ((known[name], matchers) for name, matchers in re.findall(r"(headgate_[a-z_]+)\{([^}]*)\}", text))


def _series(family: Family) -> Iterator[str]:
    yield family.name
    if family.kind is Kind.HISTOGRAM:
        yield from (f"{family.name}_{part}" for part in ("bucket", "count", "sum"))
