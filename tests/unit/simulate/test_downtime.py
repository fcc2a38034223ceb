"""The closed loop of the downtime model: what it says after some rescales is what the next ones take."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.engines.simulated.cluster import START
from headgate.engines.simulated.restart import Cause, Restart
from headgate.model.downtime import Downtime
from headgate.simulate import Run, Simulation, read_scenario

SCENARIO = """
duration: 13 min
collect.interval: 5 s
decide.interval: 10 s
cluster: {checkpoint-interval: 10 s, cooldown: 5 s, restart: {base: 6 s, restore-rate: 100000000}}
jobs:
  - name: pipe
    vertices:
      - {name: source, curve.rate: 100000, load: {rate: 500, amplitude: 300, period: 3 min}}
      - {name: count, curve.rate: 100, parallelism: 4, state-bytes: 1e9}
job.autoscaler:
  metrics.window: 40 s
  stabilization.interval: 10 s
  scale-down.interval: 0 s
  restart.time: 1 min
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Let a job follow a wave for a while."""
    file = tmp_path / "wave.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return Simulation(read_scenario(file, {})).run()


def _predicted(run: Run, restart: Restart) -> Downtime | None:
    """Give what was said of a restart when it was decided."""
    began = START + timedelta(seconds=restart.began_s)
    *_, decided = (each for each in run.job.decisions if each.acts and each.at <= began)
    return decided.evaluated.downtime if decided.evaluated else None


def test_a_rescale_takes_what_those_before_it_taught(run: Run) -> None:
    """Nothing is said before the first; the second is the first that teaches more than one number."""
    rescales = [restart for restart in run.job.rescales if restart.cause is Cause.RESCALE]
    said = [(_predicted(run, restart), restart.ended_s - restart.began_s) for restart in rescales]

    assert len(said) > 2
    assert said[0][0] is None
    for predicted, took_s in said[1:]:
        assert predicted is not None
        assert predicted.low.total_seconds() <= took_s <= predicted.high.total_seconds()
    last, _ = said[-1]
    assert last is not None
    assert last.high < timedelta(seconds=20), "what is reckoned with is no longer a minute"
