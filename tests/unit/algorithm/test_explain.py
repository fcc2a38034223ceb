"""What people read about a decision."""

from __future__ import annotations

from dataclasses import replace

from headgate.algorithm.decide import decide
from headgate.algorithm.explain import explain
from headgate.model.metrics import NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, chain, evaluated, sample


def test_a_rescale_is_told_step_by_step() -> None:
    """Header, sentence, window, then every vertex with its numbers and each step that bit."""
    topology = chain({"in": 2, "agg": 1})
    known = evaluated(topology, {"agg": 3.46}, backlog=True)
    vertices = {
        vertex: replace(
            metrics,
            metrics={
                **metrics.metrics,
                ScalingMetric.LOAD: 0.5,
                ScalingMetric.SCALE_UP_RATE_THRESHOLD: 90.0,
                ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: float("inf"),
            },
        )
        for vertex, metrics in known.vertices.items()
    }
    options = AutoscalerOptions(scale_up_max_factor=1.0)

    lines = explain(decide(sample(topology), replace(known, vertices=vertices), options, START))

    assert lines == (
        "prod/orders at 2026-01-01 00:00:00 UTC: Rescale (UtilizationTarget)",
        "  agg: 100/s true rate, needs 346/s (target 242/s at 0.70), 1 -> 2",
        "  window 100% covered, at least 10 samples a vertex",
        "  the job is working off a backlog: nothing shrinks",
        "  in: stays at 2",
        "    busy 0.50, true rate 200/s, target 140/s, within its band 90/s to unlimited/s",
        "  agg: 1 -> 2",
        "    busy 0.50, true rate 100/s, target 242/s, outside its band 90/s to unlimited/s",
        "    1 -> 4 UtilizationTarget: 346/s needed to run 0.70 busy, factor 3.46",
        "    4 -> 2 ScaleUpFactor: one step adds at most 1 times 1",
    )


def test_a_job_that_is_not_ready_tells_what_it_waits_for() -> None:
    """Why nothing was decided, and what ends it."""
    why = NotReady(reason=Reason.STABILIZING, message="42 s of stabilization are left")

    lines = explain(decide(sample(chain({"in": 1})), why, AutoscalerOptions(), START))

    assert lines[1:] == (
        "  42 s of stabilization are left",
        "  waiting until the job has run for its stabilization interval",
    )


def test_a_vertex_nobody_measured_is_told_as_such() -> None:
    """A vertex that came after the evaluation has no numbers."""
    lines = explain(
        decide(sample(chain({"in": 1, "new": 3})), evaluated(chain({"in": 1}), {}), AutoscalerOptions(), START)
    )

    assert lines[-2:] == ("  new: stays at 3", "    not measured")
