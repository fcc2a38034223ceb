"""
The simulation against a real Flink: the same jobs, the same options, the same targets in the same order.

What is compared is what Headgate asked for, cycle by cycle with repetitions left out; not when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from tests.flink.conftest import RunHeadgate, RunJob

from headgate.demo.loadjob import SINK, SOURCE, LoadJobSpec
from headgate.model.decision import Decision
from headgate.simulate import ClusterSettings, RestartSettings, Scenario, read_scenario, simulate
from headgate.simulate.loadjob import simulated_job
from headgate.testing.load_jobs import RATE_PER_S, UTILIZATION_TARGET, branches, two_stages
from headgate.testing.process import RunningService

pytestmark = pytest.mark.flink

Targets = Sequence[Mapping[str, int]]

OPTIONS: Mapping[str, object] = {
    "job.autoscaler.scale-down.interval": "0 s",
    "job.autoscaler.scaling.parallelism-alignment.mode": "OFF",
}
"""Neither an hour's wait before shrinking nor key groups move what arithmetic says."""
QUIET = timedelta(seconds=20)
"""So long without another change, what was decided is final."""
OPERATORS = {f"Source: {SOURCE}": SOURCE, f"{SINK}: Writer": SINK}
"""Flink's names of the vertices at both ends."""
LIMIT = timedelta(minutes=6)

LAB_CLUSTER = ClusterSettings(
    slots=8,
    checkpoint_interval=timedelta(seconds=2),
    cooldown=timedelta(),
    stabilization=timedelta(seconds=1),
    metric_refresh=timedelta(seconds=1),
    restart=RestartSettings(base=timedelta(seconds=1)),
)
"""The cluster of the fixtures, as it is simulated."""


@pytest.mark.long
def test_the_simulated_and_the_real_jobs_are_given_the_same_parallelism(
    run_job: RunJob, run_headgate: RunHeadgate, tmp_path: Path
) -> None:
    """Two stages from below and branches from above, step by step to the optimum, and then no more."""
    starts = ((two_stages("two-stages"), 1), (branches("branches"), 4))
    began = datetime.now(UTC)
    for spec, start in starts:
        run_job(spec, start)
    service = run_headgate(OPTIONS)
    for spec, start in starts:
        real = real_targets(service, f"lab/{spec.name}", began)
        assert simulated_targets(spec, start, service.config, tmp_path) == real
        assert dict(real[-1]) == spec.analytic_parallelism(RATE_PER_S, UTILIZATION_TARGET)


def real_targets(service: RunningService, job: str, began: datetime) -> Targets:
    """Wait until nothing more is changed, and give what was."""
    seen: list[Decision] = []

    def settled() -> bool:
        seen[:] = service.decisions(job, since=began)
        acted = [decision.at for decision in seen if decision.acts]
        return bool(acted) and datetime.now(UTC) - acted[-1] > QUIET

    service.until(settled, limit=LIMIT)
    return targets(seen)


def simulated_targets(spec: LoadJobSpec, start: int, config: Path, directory: Path) -> Targets:
    """Simulate the job under the very options of the service."""
    scenario = replace(
        scenario_of(config, directory),
        jobs=(simulated_job(spec, start),),
        cluster=LAB_CLUSTER,
        duration=LIMIT,
        step=timedelta(milliseconds=100),
    )
    return targets(simulate(scenario).job.decisions)


def scenario_of(config: Path, directory: Path) -> Scenario:
    """Take the options of a service's file that a scenario has too."""
    options = yaml.safe_load(config.read_text(encoding="utf-8"))
    kept = {key: value for key, value in options.items() if key.startswith(("job.autoscaler.", "collect.", "decide."))}
    file = directory / "options.yaml"
    stand_in = {"vertices": [{"name": "any", "curve.rate": 1}]}
    file.write_text(yaml.safe_dump({"jobs": [stand_in], **kept}), encoding="utf-8")
    return read_scenario(file, {})


def targets(decisions: Sequence[Decision]) -> Targets:
    """Give what was asked for, by vertex, one after the other."""
    asked = [
        {OPERATORS.get(proposal.name, proposal.name): proposal.wanted for proposal in decision.proposals}
        for decision in decisions
        if decision.acts
    ]
    return [*asked[:1], *(later for earlier, later in pairwise(asked) if later != earlier)]
