"""What an agent writes is read back as it was; what is no report is refused with the reason."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.agent.reporting import body_of
from headgate.algorithm.decide import decide
from headgate.errors import RefusedError
from headgate.intake.reading import read_report
from headgate.model.events import Event
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.samples import EngineSettings, Signal, VertexSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, at, chain, evaluated, sample
from headgate.testing.strategies import events

GRAPH = chain({"source": 2, "agg": 2})
SAMPLE = replace(
    sample(GRAPH, tick=at(1.5), settings=EngineSettings(shared_workers=True, metric_refresh_s=2.5)),
    vertices={
        VertexId("source"): VertexSample(
            measured_at=at(1.25), epoch=3, values={Measure.LAG: 12.5, Measure.ROW_COST_ERROR: math.inf}
        )
    },
    values={JobMeasure.STATE_SIZE: 1e9},
    signals={"queue": Signal(value=0.5, measured_at=START, vertex=VertexId("agg"))},
    slots_total=4,
)
DECISION = decide(sample(GRAPH), evaluated(GRAPH, {"agg": 3.0}), AutoscalerOptions(), at(60), JobState())


def report(**told: Any) -> bytes:
    """Write what claims to be a report of this version."""
    return json.dumps({"version": 1, **told}).encode()


def test_samples_and_decisions_arrive_as_they_were_sent() -> None:
    """Every value, infinite ones, instants and the steps of the decision included."""
    arrived = read_report(body_of([SAMPLE, DECISION]))
    assert arrived.samples == (SAMPLE,)
    plain = replace(DECISION, evaluated=evaluated(GRAPH, {"agg": 3.0}))
    assert arrived.decisions == (plain,)


@settings(max_examples=20)
@given(st.lists(events(), max_size=5))
def test_events_arrive_as_they_were_sent(told: list[Event]) -> None:
    """Whatever they are about."""
    assert read_report(body_of(list(told))).events == tuple(told)


def test_a_measure_of_a_newer_agent_is_left_out() -> None:
    """The rest of its sample is as good as before."""
    told = json.loads(body_of([SAMPLE]))
    told["samples"][0]["vertices"]["source"]["values"]["of_tomorrow"] = 1.0
    assert read_report(json.dumps(told).encode()).samples == (SAMPLE,)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not a report"),
        (b"{", "not a report"),
        (b"[]", "version None, this Headgate reads 1"),
        (b'{"version": 2}', "version 2, this Headgate reads 1. Hint: run the same Headgate on both sides"),
        (report(decisions=[{"id": "d1"}]), "decisions.0.job: field required"),
        (report(samples=[{}]), "not a report"),
        (report(samples=7), "not a report"),
        (report(events="x"), "events: input should be a valid tuple"),
        (b"[" * 100_000, "not a report"),
        (b"\xff\xfe", "not a report"),
    ],
)
def test_what_is_no_report_is_refused(body: bytes, why: str) -> None:
    """Anybody may send anything; nothing of it counts in part."""
    with pytest.raises(RefusedError, match=why.replace(".", r"\.")):
        read_report(body)
