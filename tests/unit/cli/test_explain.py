"""`headgate explain`, from the words on the command line to the decision in the log and the state in the store."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.algorithm.decide import decide
from headgate.cli import app
from headgate.model.identity import VertexId
from headgate.model.rollback import ParallelismBound, Rollback, Run, Side
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.samplelog.writer import SampleLog
from headgate.stores.sql import SqlStateStore
from headgate.testing.builders import ORDERS, chain, evaluated, sample

GRAPH = chain({"source": 2, "agg": 2})
NAMED = replace(GRAPH, vertices=tuple(replace(vertex, name=vertex.name.upper()) for vertex in GRAPH.vertices))
NOW = datetime.now(UTC)
TOMORROW = NOW + timedelta(days=1)
WHY = "checker restart-loop: 3 failures within 10 min since the rescale"
SICK = Run(job_id="j1", fingerprint=GRAPH.fingerprint, parallelism={VertexId("agg"): 4})
STATE = JobState(
    rollback=Rollback(decision_id="d1", at=NOW, run=SICK, target={VertexId("agg"): 2}, why=WHY),
    bounds=(ParallelismBound(vertex=VertexId("agg"), parallelism=4, side=Side.BELOW, expires_at=TOMORROW, why=WHY),),
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write the service's file, and the decision that its last cycle made."""
    path = tmp_path / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: prod, url: 'http://127.0.0.1:1'}}]\n"
        f"state-store: sqlite:///{tmp_path}/headgate.db\nlog.path: {tmp_path}/log\n"
    )
    made = decide(sample(GRAPH), evaluated(GRAPH, {"agg": 3.0}), AutoscalerOptions(), NOW, STATE)
    log = SampleLog(tmp_path / "log")
    log.append([sample(NAMED, tick=NOW)])
    log.append_decisions([made])
    return path


def remember(config: Path, state: JobState) -> None:
    """Put a state into the service's store."""
    store = SqlStateStore(f"sqlite:///{config.parent}/headgate.db")
    store.save(ORDERS, state, 0)
    store.close()


def call(*words: str | Path) -> Result:
    """Run `headgate`."""
    return CliRunner().invoke(app, list(map(str, words)))


def test_the_decision_and_what_is_remembered_are_told(config: Path) -> None:
    """The step that a bound has made, why the job was taken back, until when nothing is scaled, and each bound."""
    remember(config, STATE)
    told = call("explain", str(ORDERS), "--config", config).output
    assert "    6 -> 3 RollbackBound: with 4 subtasks or more the job was sick: checker restart-loop: 3 fail" in told
    assert f"  taken back at {NOW:%Y-%m-%d %H:%M:%S} UTC: decision d1, as {WHY}; back to AGG 2; nothing is " in told
    assert f"  AGG: with 4 subtasks or more the job was sick: {WHY}; remembered until {TOMORROW:%Y-%m-%d %H:%M}" in told


def test_a_job_that_nothing_is_remembered_of_is_explained_all_the_same(config: Path) -> None:
    """Also where the store cannot be asked, which is said beside it."""
    told = call("explain", str(ORDERS), "--config", config)
    assert (told.exit_code, "taken back" in told.output) == (0, False)
    config.write_text(config.read_text().replace("headgate.db", "none/headgate.db"))
    spoiled = call("explain", str(ORDERS), "--config", config)
    assert spoiled.exit_code == 0
    assert spoiled.stdout == told.stdout
    assert "what is remembered of the job's last rescales is not known" in spoiled.stderr


def test_a_machine_gets_the_decision_from_one_command_and_the_state_from_the_other(config: Path) -> None:
    """Rollback, pause and bounds with their values."""
    remember(config, replace(STATE, rollback=STATE.rollback and replace(STATE.rollback, paused_until=NOW)))
    decision = json.loads(call("explain", str(ORDERS), "--config", config, "--json").output)
    state = json.loads(call("state", "show", str(ORDERS), "--config", config).output)["state"]
    assert decision["outcome"] == "Rescale"
    (bound,) = state["bounds"]
    assert (state["rollback"]["why"], bound["parallelism"], bound["side"]) == (WHY, 4, "BELOW")
    assert datetime.fromisoformat(state["rollback"]["paused_until"]) == NOW
