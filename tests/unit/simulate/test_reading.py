"""Scenarios from files: the examples work, and every fault is told together with its place."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.errors import ConfigError
from headgate.model.topology import ShipStrategy
from headgate.simulate import FailureKind, read_scenario
from headgate.simulate.simulation import Simulation

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "simulate").glob("*.yaml"))

SMALL = """
duration: 10 min
jobs:
  - name: small
    vertices:
      - {name: source, curve.rate: 1000, load.rate: 100, partitions: 2, partition-shares: [3, 1]}
      - {name: count, curve: {points: [{parallelism: 1, rate: 80}, {parallelism: 2, rate: 150}]}}
    edges:
      - {from: source, to: count, ship: BROADCAST, selectivity: 0.5}
failures:
  - {what: task-manager, at: 5 min, duration: 1 min, slots: 2}
job.autoscaler.utilization.target: 0.6
"""


def written(tmp_path: Path, text: str) -> Path:
    """Write a scenario."""
    file = tmp_path / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_says_it_all(tmp_path: Path) -> None:
    """Graph, curves, failures, options."""
    scenario = read_scenario(written(tmp_path, SMALL), {})
    small = scenario.jobs[0]
    assert list(small.vertices[0].partition_shares) == [3, 1]
    assert small.vertices[1].capacity_per_s(2) == 150
    assert small.edges[0].ship is ShipStrategy.BROADCAST
    assert scenario.failures[0].what is FailureKind.TASK_MANAGER
    assert scenario.autoscaler.utilization_target == 0.6


def test_flags_are_stronger_than_the_file(tmp_path: Path) -> None:
    """Any dotted key."""
    flags = {"duration": "1h", "job.autoscaler.utilization.target": "0.8", "cluster.slots": "7"}
    scenario = read_scenario(written(tmp_path, SMALL), flags)
    assert scenario.duration == timedelta(hours=1)
    assert scenario.autoscaler.utilization_target == 0.8
    assert scenario.cluster.slots == 7


def test_all_faults_are_told_together_with_their_places(tmp_path: Path) -> None:
    """A bad value, an unknown key with what may have been meant, a vertex without a curve, an unknown failure."""
    text = """
jobs:
  - name: bad
    vertices:
      - {name: a, curve.rate: -1}
      - {name: b, selectivty: 2, curve.rate: 1}
      - {name: c}
failures:
  - {what: fire, at: soon}
"""
    with pytest.raises(ConfigError) as failed:
        read_scenario(written(tmp_path, text), {})
    told = str(failed.value)
    for part in (
        "scenario.yaml:5: jobs[0].vertices[0].curve.rate: found '-1'",
        "jobs[0].vertices[1].selectivty: unknown option. Hint: did you mean selectivity?",
        "scenario.yaml:7: jobs[0].vertices[2]: a curve needs either rate or points",
        "failures[0].what: found 'fire', expected one of job, vertex",
        "failures[0].at: found 'soon', expected a duration",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("rest", "fault"),
    [
        ("    edges: [{from: source, to: nobody}]", "edge source -> nobody names a vertex"),
        ("    edges: [{from: source, to: count}, {from: count, to: source}]", "has a cycle"),
        ("failures: [{what: job, at: 1 h, job: other}]", "there is no job 'other', only small"),
        ("failures: [{what: vertex, at: 1 h, vertex: sink}]", "there is no vertex 'sink', only count, source"),
    ],
)
def test_what_names_nothing_is_a_fault(tmp_path: Path, rest: str, fault: str) -> None:
    """In the graph and in the failures."""
    head = SMALL.split("    edges:", maxsplit=1)[0]
    with pytest.raises(ConfigError, match=fault):
        read_scenario(written(tmp_path, head + rest), {})


def test_a_load_on_an_inner_vertex_is_a_fault(tmp_path: Path) -> None:
    """It would arrive nowhere."""
    text = SMALL.replace("{name: count,", "{name: count, load.rate: 5,")
    with pytest.raises(ConfigError, match="count has a load but is no source"):
        read_scenario(written(tmp_path, text), {})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(example: Path) -> None:
    """At least for a few minutes."""
    simulation = Simulation(read_scenario(example, {}))
    simulation.advance_to(timedelta(minutes=3))
    assert simulation.result.job.frames[-1].source_per_s > 0
