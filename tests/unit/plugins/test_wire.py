"""Values on their way from a worker process: of the promised type, or refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.topology import Topology
from headgate.plugins.kinds import Kind
from headgate.plugins.making import methods_of
from headgate.plugins.worker.wire import packed, promised_by, unpacked
from headgate.ports import Change, DecisionPlugin, EvaluatorPlugin, MetricEvaluator, Unrecoverable
from headgate.testing.builders import at, chain, evaluated, sample
from headgate.testing.conformance import material

ANSWER = promised_by(MetricEvaluator, "evaluate")


@dataclass
class Foreign:
    """A class of the plugin's own."""

    at: datetime


@pytest.mark.parametrize(
    ("promised", "value"),
    [
        (ANSWER, evaluated(chain({"a": 1, "b": 2}), {"a": math.inf})),
        (ANSWER, NotReady(reason=Reason.NO_SAMPLES, message="none")),
        (JobSample, material.watched().samples[-1]),
        (Topology, chain({"a": 1, "b": 2})),
        (
            promised_by(DecisionPlugin, "decide"),
            Change(
                parallelism={VertexId("a"): 2}, config=ConfigChanges(overrides={"k": "v"}, removals=frozenset({"x"}))
            ),
        ),
        (bool | Unrecoverable, Unrecoverable(evidence="it died 9 times")),
        (Change | None, None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_is_promised_arrives_as_it_was(promised: Any, value: object) -> None:
    """Every value that a port gives."""
    assert unpacked(promised, packed(value)) == value


def test_numbers_of_other_libraries_become_plain_ones() -> None:
    """Most formulas give NumPy's."""
    promised = promised_by(EvaluatorPlugin, "override")
    (value,) = unpacked(promised, packed({"LAG": np.float64(2.5)})).values()
    assert type(value) is float
    assert unpacked(int, packed(np.int64(3))) == 3


def test_a_word_stands_for_a_member() -> None:
    """`LAG` is what the metric is called."""
    promised = promised_by(EvaluatorPlugin, "override")
    assert unpacked(promised, packed({"LAG": 1})) == {ScalingMetric.LAG: 1.0}


@pytest.mark.parametrize(
    ("promised", "value"),
    [
        (float, "fast"),
        (int, 2.5),
        (int, True),
        (bool, 1),
        (Mapping[str, float], {"a": None}),
        (Mapping[str, float], [1, 2]),
        (Mapping[ScalingMetric, float], {"SPEED": 1.0}),
        (EvaluatedMetrics, NotReady(reason=Reason.NO_SAMPLES, message="none")),
        (ANSWER, None),
        (datetime, datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the point
    ],
)
def test_anything_else_is_refused(promised: Any, value: object) -> None:
    """Also deep inside, and what only looks alike."""
    with pytest.raises(ValueError, match=r"is no|has no time zone"):
        unpacked(promised, packed(value))


@pytest.mark.parametrize(
    "value", [object(), lambda: 1, {"a": object()}, Foreign], ids=["object", "code", "deep", "class"]
)
def test_what_is_no_value_is_not_sent(value: object) -> None:
    """Nothing of a plugin's own crosses over."""
    with pytest.raises(ValueError, match="is no value of the model"):
        packed(value)


def test_a_class_of_ones_own_is_not_the_promised_one() -> None:
    """Even if it has the same fields."""
    with pytest.raises(ValueError, match="Foreign is no JobSample"):
        unpacked(JobSample, packed(Foreign(at=at(0))))


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.is_isolated])
def test_every_method_of_an_isolated_kind_promises_something(kind: Kind) -> None:
    """A port whose answers could not be read would fail at its first call."""
    for method in methods_of(kind):
        assert promised_by(kind.port, method) is not None or method == "forget"


def test_a_sample_keeps_its_graph() -> None:
    """Edges and order included."""
    one = sample(chain({"a": 1, "b": 2}))
    assert unpacked(JobSample, packed(one)).topology.inputs == one.topology.inputs
