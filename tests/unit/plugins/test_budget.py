"""Plugins that answer, but too slowly for a cycle: nobody else waits for them, and they are not asked twice at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.control.deciding import PluginDecider
from headgate.model.decision import Outcome
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackOptions
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.selected import SelectedEvaluator
from headgate.plugins.catalog import Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import Candidate
from headgate.testing.builders import at, chain, context, evaluated, sample
from headgate.testing.conformance import material
from headgate.testing.fakes import RecordingEvents

Hosting = Callable[..., PluginHost]

CODE = """
import time
from pathlib import Path
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason

class Patient:
    def __init__(self, parameters):
        self.folder = Path(parameters["folder"])

    def _wait(self):
        with (self.folder / "asked").open("a") as asked:
            asked.write("x")
        while not (self.folder / "go").exists():
            time.sleep(0.01)

    def evaluate(self, conf, collected, restart_time):
        self._wait()
        return NotReady(reason=Reason.NO_SAMPLES, message="at last")

    def decide(self, ctx, decision, change):
        self._wait()
        return None

    def check(self, ctx, evaluated):
        self._wait()
        return True
"""
POINTS = {
    "headgate.metric_evaluators": {"patient": "Patient"},
    "headgate.decision_plugins": {"patient": "Patient"},
    "headgate.unrecoverable_error_checkers": {"patient": "Patient"},
}
OWN, PLAIN = JobKey("prod", "own"), JobKey("prod", "plain")
OPTIONS = AutoscalerOptions(metrics_window=timedelta(minutes=5), stabilization_interval=timedelta())
INTERVAL = timedelta(seconds=10)
GRAPH = chain({"a": 2})


@pytest.fixture
def host(installed: Callable[..., None], hosting: Hosting, tmp_path: Path) -> PluginHost:
    """Give a host with a plugin that waits for a file, which has less time than that."""
    installed("slowcoaches", POINTS, CODE)
    tables = Tables(general={"slow.class": "patient", "slow.folder": str(tmp_path)})
    host = hosting(tables, deadline="30 s", budget="300 ms")
    for kind in (Kind.METRIC_EVALUATOR, Kind.DECISION_PLUGIN, Kind.UNRECOVERABLE_ERROR_CHECKER):
        host.ready(kind, "slow")
    return host


def test_a_slow_evaluator_leaves_the_other_jobs_their_answers(host: PluginHost, tmp_path: Path) -> None:
    """Its own job is not ready, is told of, and is asked for again when its earlier call has ended."""
    memory = InProcessEvaluator(collect_interval=INTERVAL, keep=timedelta(hours=1))
    watched = {job: material.watched(job=job) for job in (OWN, PLAIN)}
    for tick in zip(*(each.samples for each in watched.values()), strict=True):
        memory.append(tick)
    options = {OWN: replace(OPTIONS, evaluator="slow"), PLAIN: OPTIONS}
    candidates = [
        Candidate(sample=each.samples[-1], options=options[job], window_from=each.samples[0].at)
        for job, each in watched.items()
    ]
    events = RecordingEvents()
    selected = SelectedEvaluator(fleet=memory, windows=memory, host=host, events=events, collect_interval=INTERVAL)
    now = watched[OWN].samples[-1].at
    for _ in range(3):
        answers = selected.evaluate(candidates, now)
        late = answers[OWN]
        assert isinstance(answers[PLAIN], EvaluatedMetrics)
        assert isinstance(late, NotReady)
        assert late.reason is Reason.PLUGIN_FAILED
        assert late.message.startswith("plugin slow of slowcoaches gave no answer within 0.3 s")
    assert (tmp_path / "asked").read_text() == "x"
    assert {event.reason for event in events.told} == {EventReason.PLUGIN_FAILED}
    (tmp_path / "go").touch()
    while (last := selected.evaluate(candidates, now)[OWN]) == late:
        pass
    assert last == NotReady(reason=Reason.NO_SAMPLES, message="at last")


async def test_a_slow_decision_plugin_leaves_the_plain_decision(host: PluginHost, tmp_path: Path) -> None:
    """With a notice, and without a second question while the first is not answered."""
    options = AutoscalerOptions(custom_executors=("slow",), alignment_mode="OFF")
    decider = PluginDecider(host=host, events=RecordingEvents())
    answer = evaluated(GRAPH, {"a": 2.0})
    for _ in range(2):
        decision = await decider.decide(context(options=options), sample(GRAPH), answer, at(0), JobState())
        assert (decision.outcome, decision.targets) == (Outcome.RESCALE, {VertexId("a"): 4})
        assert decision.notices[-1].message.startswith("plugin slow of slowcoaches gave no answer within 0.3 s")
    assert (tmp_path / "asked").read_text() == "x"
    (tmp_path / "go").touch()


async def test_a_slow_checker_says_nothing(host: PluginHost, tmp_path: Path) -> None:
    """What it would have said comes too late."""
    options = AutoscalerOptions(rollback=RollbackOptions(checkers=("slow",)))
    events = RecordingEvents()
    decider = PluginDecider(host=host, events=events)
    assert await decider.examine(context(options=options), evaluated(GRAPH, {"a": 2.0}), at(0)) is None
    assert events.told == []
    (tmp_path / "go").touch()
