"""A simulated job that its rescale makes sick: the rollback, and how it is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer
from typer.testing import CliRunner

from headgate.cli.simulate import simulate as command
from headgate.engines.simulated.restart import Cause
from headgate.model.events import EventReason
from headgate.model.measures import JobStatus
from headgate.options.rollback import RollbackOptions
from headgate.simulate import SicknessKind, Simulation, read_scenario
from headgate.testing.sick import QUICK

SCENARIO = """
duration: 5 min
collect.interval: 5 s
decide.interval: 20 s
cluster: {checkpoint-interval: 10 s, cooldown: 5 s, restart: {base: 5 s, retry-delay-max: 5 s}}
jobs:
  - name: pipe
    vertices:
      - {name: source, curve.rate: 100000, load.rate: 600}
      - {name: count, curve.rate: 100, parallelism: 3}
    sicknesses:
      - {what: network-memory, vertex: count, from: 7}
job.autoscaler:
  metrics.window: 40 s
  stabilization.interval: 10 s
  restart.time: 5 s
  catch-up.duration: 0 s
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Write the scenario."""
    file = tmp_path / "sick.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def test_a_file_may_say_at_which_parallelism_a_job_is_sick(written: Path) -> None:
    """The load asks for nine subtasks, seven fail: the job goes back to three and stays there."""
    simulation = Simulation(read_scenario(written, {}))
    run = simulation.run()
    assert simulation.scenario.jobs[0].sicknesses[0].what is SicknessKind.NETWORK_MEMORY
    assert run.job.parallelism["count"] == 3
    assert simulation.cluster.jobs["pipe"].status(300) is JobStatus.RUNNING
    assert [each.cause for each in run.job.rescales] == [Cause.RESCALE, Cause.RESCALE]
    (rollback,) = run.job.rollbacks
    assert "network buffers" in rollback.message


def test_after_its_pause_and_its_expiry_the_same_is_tried_again(written: Path) -> None:
    """Not before: a bound that has expired holds nothing."""
    rollback = RollbackOptions(pause=timedelta(seconds=30), bound_expiry=timedelta(minutes=2))
    scenario = replace(read_scenario(written, {}), autoscaler=replace(QUICK, rollback=rollback))
    run = Simulation(scenario).run()
    tried = [each for each in run.job.decisions if each.acts and max(to.wanted for to in each.changes.values()) >= 7]
    assert len(tried) == 2
    assert tried[1].at - run.job.rollbacks[0].at >= timedelta(minutes=2)


def test_more_memory_lets_a_job_run_at_what_made_it_sick(written: Path) -> None:
    """Whoever steps through a simulation may give the TaskManagers more, at which the job restarts."""
    simulation = Simulation(read_scenario(written, {}))
    simulation.advance_to(timedelta(seconds=45))
    simulation.cluster.raise_memory(network=2)
    run = simulation.run()
    assert run.job.parallelism["count"] >= 7
    assert EventReason.ROLLBACK not in {event.reason for event in run.events}


def test_the_command_tells_of_failures_and_rollbacks(written: Path, tmp_path: Path) -> None:
    """In its words, in the chart and in the file of numbers; failures that are alike are one line."""
    app = typer.Typer()
    app.command()(command)
    chart, numbers = tmp_path / "run.svg", tmp_path / "run.json"
    result = CliRunner().invoke(app, [str(written), "--chart", str(chart), "--json", str(numbers)])
    told = " ".join(result.output.split())
    assert result.exit_code == 0
    assert "takes back count 3 -> " in told
    assert "more like it until" in told
    names = [each.text for each in ET.parse(chart).getroot().iter("{http://www.w3.org/2000/svg}title")]  # noqa: S314
    assert names.count("rollback") == 1
    failures = json.loads(numbers.read_text(encoding="utf-8"))["jobs"]["pipe"]["failures"]
    assert len(failures) == names.count("failure") >= 2
    assert "Insufficient number of network buffers" in failures[0]["text"]
