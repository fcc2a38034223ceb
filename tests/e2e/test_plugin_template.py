"""The plugin template, installed as anybody's distribution: its own tests pass, and options alone put it to use."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from headgate.plugins.kinds import Kind

TEMPLATE = Path(__file__).parents[2] / "examples" / "plugin-template"
PROGRAM = Path(__file__).with_name("plugin_template_program.py")
CYCLE = Path(__file__).with_name("plugin_template_cycle.py")

CONFIGURATION = """
clusters: []
mode: act
pipeline: in-process
log.path: MILL/log
job-lists: our-job-list
state-store: our-state-store
events.handlers: our-event-handler
signal-sources: [{name: numbers, type: number-files, settings: {directory: MILL}}]
signals: [{name: price, source: numbers, use: gate, condition: "< 1"}]
job.autoscaler:
  metrics.window: 5 min
  metrics.busy-time.aggregator: AVG
  stabilization.interval: 0
  catch-up.duration: 0
  metrics.collector.class: files
  metric.evaluator.class: careful
  metrics.custom-evaluators: lunch
  scaling.realizer.class: files
  scaling.custom-executors: thursdays
  scaling.parallelism-alignment.mode: POWER_OF_TWO
  rollback.checkers: standstill
  reactive.policy: thrifty
job.autoscaler.metrics.custom-evaluator.lunch: {class: daily-peak, factor: 2}
job.autoscaler.scaling.custom-executor.thursdays: {class: change-freeze, days: Thu}
headgate.plugins:
  files: {class: mill, directory: MILL}
  careful: {class: known-capacity, capacity: 100}
  thrifty: {class: licensed, licences: 9}
  our-resource-provider: {class: mill, directory: MILL}
  our-signal-source: {class: number-files, directory: MILL}
  our-state-store: {class: audited-memory, path: MILL/audit.log}
  our-event-handler: {class: json-lines, path: MILL/events.jsonl}
  our-job-list: {class: mill, directory: MILL}
"""

THURSDAY, SATURDAY = 1, 3
"""Of the first week of 2026."""

STATUS = {
    "job_id": "run-1",
    "state": "RUNNING",
    "started_at": 1767225600,
    "written_at": 1767225610,
    "stages": [
        {"name": "fetch", "parallelism": 1, "most": 16, "records_in": 10, "records_out": 10, "busy_ms": 5, "lag": 0},
        {"name": "grind", "parallelism": 2, "most": 16, "records_in": 10, "busy_ms": 5, "inputs": ["fetch"]},
    ],
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install a copy of the template into a directory of its own, without network."""
    copy, target = tmp_path_factory.mktemp("source") / "template", tmp_path_factory.mktemp("installed")
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, *offline, str(copy)], check=True, capture_output=True, text=True)
    return target


@pytest.fixture
def mill(tmp_path: Path) -> Path:
    """Give the directory of a Mill with one job, and a number in a file."""
    (tmp_path / "flour.status.json").write_text(json.dumps(STATUS))
    (tmp_path / "price.txt").write_text("0.31")
    return tmp_path


def run(target: Path, cwd: Path, arguments: Sequence[str]) -> str:
    """Run Python with the template on its path, and give what it printed."""
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    """Against what was installed, with Headgate's conformance suites; more than a hundred tests."""
    shutil.copytree(TEMPLATE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TEMPLATE / "pyproject.toml", tmp_path)
    output = run(installed, tmp_path, ["-m", "pytest", "-q", "-p", "no:cacheprovider"])
    assert int(output.split()[output.split().index("passed") - 1]) > 100


def test_every_kind_is_replaced_by_configuration_alone(installed: Path, mill: Path) -> None:
    """One file of options names the template's plugin of each kind; each answers, and nothing was imported here."""
    configuration = mill / "headgate.yaml"
    configuration.write_text(CONFIGURATION.replace("MILL", str(mill)))
    answers = json.loads(run(installed, mill, [str(PROGRAM), str(configuration)]))
    assert answers.keys() == {kind.name for kind in Kind}
    assert {distribution for distribution, _ in answers.values()} == {"headgate-mill"}
    assert {kind: answer for kind, (_, answer) in answers.items()} == {
        "METRIC_COLLECTOR": "['fetch', 'grind']",
        "METRIC_EVALUATOR": "5.714",
        "EVALUATOR_PLUGIN": "{'TARGET_DATA_RATE': 140.0}",
        "SCALING_REALIZER": "True",
        "DECISION_PLUGIN": "None",
        "ALIGNMENT_MODE": "8",
        "UNRECOVERABLE_ERROR_CHECKER": "False",
        "SCALING_POLICY": "[3, 3, 3]",
        "RESOURCE_PROVIDER": "True",
        "SIGNAL_SOURCE": "0.31",
        "STATE_STORE": "1",
        "EVENT_HANDLER": "None",
        "JOB_LIST": "mill/flour",
    }
    assert json.loads((mill / "flour.wishes.json").read_text())["parallelism"] == {"fetch": 1, "grind": 4}
    assert (mill / "workers.wanted").read_text() == "2"
    assert "RescaleNotReached" in (mill / "events.jsonl").read_text()
    assert "prod/orders is at version 1" in (mill / "audit.log").read_text()


def decided(installed: Path, mill: Path, weekday: int, load: str, *, evaluator: str = "careful") -> Any:
    """Let the template look after its job for five minutes, and give the decision."""
    configuration = mill / "headgate.yaml"
    text = CONFIGURATION.replace("MILL", str(mill)).replace("class: careful", f"class: {evaluator}")
    configuration.write_text(text)
    return json.loads(run(installed, mill, [str(CYCLE), str(configuration), str(weekday), load]))


def test_a_whole_cycle_goes_by_the_templates_plugins(installed: Path, mill: Path) -> None:
    """Listed, observed, evaluated, aligned and changed by them; events and states are where they put them."""
    decision = decided(installed, mill, SATURDAY, "busy")
    assert decision["reason"] == "Rescaled"
    assert "fetch: 100/s true rate, needs 486/s" in decision["message"]
    assert decision["targets"] == {"fetch": 5, "grind": 8}
    assert json.loads((mill / "flour.wishes.json").read_text())["parallelism"] == {"fetch": 5, "grind": 8}
    assert "asked the engine for fetch 1 -> 5, grind 2 -> 8" in (mill / "events.jsonl").read_text()
    assert "mill/flour is at version 1 and wants {'fetch': 5, 'grind': 8}" in (mill / "audit.log").read_text()


def test_its_decision_plugin_forbids(installed: Path, mill: Path) -> None:
    """On a frozen day the same decision is not made, and who forbade it is told."""
    decision = decided(installed, mill, THURSDAY, "busy")
    assert decision["reason"] == "ScalingVetoed"
    assert decision["message"].startswith("plugin thursdays forbids: fetch")
    assert not (mill / "flour.wishes.json").exists()


def test_its_evaluator_plugin_raises_what_the_built_in_evaluator_measured(installed: Path, mill: Path) -> None:
    """Twice the target rate at the source."""
    decision = decided(installed, mill, SATURDAY, "busy", evaluator="ds2")
    assert "(target 680/s at 0.70), 1 -> 2" in decision["message"]


def test_its_checker_stops_scaling(installed: Path, mill: Path) -> None:
    """A job that idles before its backlog is beyond recovery, with the evidence."""
    decision = decided(installed, mill, SATURDAY, "stuck", evaluator="ds2")
    assert decision["reason"] == "JobUnrecoverable"
    assert "fetch idles (load 0.00) with 5000 records waiting" in decision["message"]


def test_without_it_its_names_are_unknown(mill: Path) -> None:
    """The same configuration where the template is not installed: told which names there are."""
    configuration = mill / "headgate.yaml"
    configuration.write_text(CONFIGURATION.replace("MILL", str(mill)))
    with pytest.raises(AssertionError, match="no metric collector 'mill' is registered"):
        run(mill, mill, [str(PROGRAM), str(configuration)])
