"""What decision plugins of others answer, held to the rules of the job, from the worker process to the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.algorithm.explain import explain
from headgate.control.deciding import PluginDecider
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.plugins.catalog import Tables
from headgate.plugins.host import PluginHost
from headgate.testing.builders import at, chain, context, evaluated, sample
from headgate.testing.fakes import RecordingEvents

A, B = VertexId("a"), VertexId("b")
GRAPH = chain({"a": 2, "b": 8})
CODE = """
from headgate.ports import Change

class Fixed:
    priority = 1

    def __init__(self, parameters):
        self.wants = {vertex: int(parameters[vertex]) for vertex in ("a", "b") if vertex in parameters}

    def decide(self, ctx, decision, change):
        return Change(parallelism=self.wants)
"""

Asking = Callable[..., Any]


@pytest.fixture
def decided(installed: Callable[..., None], hosting: Callable[..., PluginHost]) -> Asking:
    """Return what decides for a job of which `a` wants to grow from 2 to 4, with a plugin that wants this."""
    installed("strangers", {"headgate.decision_plugins": {"fixed": "Fixed"}}, CODE)

    async def decided(wants: Mapping[str, int], seen: JobSample, known: EvaluatedMetrics, **options: Any) -> Decision:
        table = {"mine.class": "fixed", **{f"mine.{vertex}": str(wanted) for vertex, wanted in wants.items()}}
        decider = PluginDecider(host=hosting(Tables(executors=table)), events=RecordingEvents())
        job = context(options=AutoscalerOptions(custom_executors=("mine",), **options))
        return await decider.decide(job, seen, known, at(0), JobState())

    return decided


def _busy(known: EvaluatedMetrics, load: float) -> EvaluatedMetrics:
    b = known.vertices[B]
    busy = replace(b, metrics={**b.metrics, ScalingMetric.LOAD: load})
    return replace(known, vertices={**known.vertices, B: busy})


async def test_a_plugin_does_not_shrink_a_busy_vertex_whose_lag_is_in_doubt(decided: Asking) -> None:
    """It wants 4 of 8: the vertex is busy, and nobody knows how much waits. What it does not concern is done."""
    seen = replace(sample(GRAPH), values={JobMeasure.LAG_ORIGIN: float(LagOrigin.DOUBTED)})
    known = _busy(evaluated(GRAPH, {"a": 2.0}), 0.95)
    found = await decided({"a": 4, "b": 4}, seen, known)

    assert (found.outcome, found.targets) == (Outcome.RESCALE, {A: 4, B: 8})
    assert any("4 -> 8 Busy: busy 0.95" in line for line in explain(found))


async def test_a_plugin_does_not_shrink_an_idle_vertex_whose_lag_is_in_doubt(decided: Asking) -> None:
    """Each doubt holds by itself."""
    seen = replace(sample(GRAPH), values={JobMeasure.LAG_ORIGIN: float(LagOrigin.DOUBTED)})
    found = await decided({"a": 4, "b": 4}, seen, evaluated(GRAPH, {"a": 2.0}), scale_down_interval=timedelta())

    assert found.targets == {A: 4, B: 8}
    assert found.proposals[1].steps[-1].reason is Reason.LAG_DOUBTED


async def test_a_plugin_grows_no_further_in_one_step_than_allowed(decided: Asking) -> None:
    """From 8 to 100 under a factor of 1 ends at 16, with the reason in what `explain` shows."""
    found = await decided({"a": 4, "b": 100}, sample(GRAPH), evaluated(GRAPH, {"a": 2.0}), scale_up_max_factor=1.0)

    assert found.targets == {A: 4, B: 16}
    assert [step.reason for step in found.proposals[1].steps] == [Reason.DECISION_PLUGIN, Reason.SCALE_UP_FACTOR]
    assert "    100 -> 16 ScaleUpFactor: one step adds at most 1 times 8" in explain(found)
