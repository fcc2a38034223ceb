"""What external metrics do to a decision, present, missing and too old."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.explain import explain
from headgate.algorithm.signals import added_rates, blindness, source_of
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, Signal, VertexSample
from headgate.model.state import UNSEEN, DelayedScaleDown, JobState, Wish
from headgate.model.topology import ShipStrategy, Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import GateScope, IfMissing, SignalOptions, SignalUse
from headgate.testing.builders import at, chain, evaluated, sample

NOW = at(600)
GRAPH = chain({"source": 4, "agg": 4, "sink": 4})


def signal(use: SignalUse | None = None, name: str = "metric", **others: object) -> SignalOptions:
    """Declare a signal."""
    return SignalOptions(name=name, source="there", use=use, **others)  # type: ignore[arg-type]


def options(*signals: SignalOptions, **others: object) -> AutoscalerOptions:
    """Make options of a job that uses these signals and shrinks without waiting."""
    wishes = {"scale_down_interval": timedelta(), **others}
    return AutoscalerOptions(signals_in_force=signals, alignment_mode="OFF", **wishes)  # type: ignore[arg-type]


def seen(values: Mapping[str, float], *, age_s: float = 10, graph: Topology = GRAPH) -> JobSample:
    """Give a sample with signals of that age."""
    measured = {name: Signal(value=value, measured_at=at(600 - age_s)) for name, value in values.items()}
    return replace(sample(graph, tick=NOW), signals=measured)


def decided(
    using: AutoscalerOptions, of: JobSample, factors: Mapping[str, float], state: JobState = UNSEEN
) -> Decision:
    """Decide for vertices that need so many times what they have."""
    return decide(of, evaluated(of.topology, factors), using, NOW, state)


def wanted(decision: Decision) -> dict[str, int]:
    """Give what each vertex is to run at."""
    return {proposal.name: proposal.wanted for proposal in decision.proposals}


def reasons(decision: Decision, vertex: str) -> list[Reason]:
    """Give what moved a vertex, in order."""
    return [step.reason for one in decision.proposals if one.name == vertex for step in one.steps]


def test_without_signals_a_decision_is_the_very_same() -> None:
    """A sample's signals that nobody declared move nothing and are not told of."""
    factors = {"source": 3.0, "agg": 0.3}
    plain = decided(options(), sample(GRAPH, tick=NOW), factors)
    assert decided(options(), seen({"metric": 1.0}), factors) == plain
    assert plain.signals == {}
    assert wanted(plain) == {"source": 12, "agg": 2, "sink": 4}


@pytest.mark.parametrize("use", [use for use in SignalUse if use is not SignalUse.GATE])
def test_while_a_signal_is_missing_the_job_grows_and_does_not_shrink(use: SignalUse) -> None:
    """What is known asks for less, but perhaps only because something is not known."""
    decision = decided(options(signal(use)), seen({}), {"source": 3.0, "agg": 0.3})
    assert wanted(decision) == {"source": 12, "agg": 4, "sink": 4}
    assert reasons(decision, "agg")[-1] is Reason.SIGNAL_MISSING
    assert decision.outcome is Outcome.RESCALE


def test_a_signal_too_old_is_missing_and_says_how_old_it_is() -> None:
    """One at its greatest age still counts; what lies ahead of our clock by more than that does not either."""
    using = options(signal(SignalUse.UPPER_LIMIT, max_age=timedelta(minutes=2)))
    for age_s, shrinks in ((120, True), (121, False), (-120, True), (-121, False)):
        decision = decided(using, seen({"metric": 100}, age_s=age_s), {"agg": 0.3})
        assert (wanted(decision)["agg"] < 4) is shrinks
    old = decided(using, seen({"metric": 100}, age_s=310), {"agg": 0.3})
    (step,) = [step for one in old.proposals for step in one.steps if step.reason is Reason.SIGNAL_MISSING]
    assert step.detail == "signal metric is missing: it is 310 s old, at most 120 s are believed; nothing shrinks"
    assert old.reason is Reason.LIMITED


def test_a_signal_without_a_use_holds_nothing_and_is_explained() -> None:
    """Evaluators and plugins may want it; the decision shows it, or why it is missing."""
    using = options(signal(name="depth", unit="records"), signal(name="gone"))
    decision = decided(using, seen({"depth": 1234.0}), {"agg": 0.3})
    assert wanted(decision)["agg"] < 4
    lines = explain(decision)
    assert "  signal depth: 1234 records, 10 s old" in lines
    assert "  signal gone: not known, missing: it could not be had" in lines


def test_signals_are_explained_of_a_job_that_stays_as_it_is() -> None:
    """Also where nothing is proposed."""
    balanced = replace(evaluated(GRAPH, {}), balanced=True)
    decision = decide(seen({"metric": 5}), balanced, options(signal(SignalUse.UPPER_LIMIT)), NOW)
    assert "  signal metric: 5, 10 s old (upper-limit)" in explain(decision)


def test_a_missing_signal_keeps_wishes_as_they_were() -> None:
    """A wish to shrink that began in the light goes on waiting; in the dark none begins."""
    using = options(signal(SignalUse.UPPER_LIMIT), scale_down_interval=timedelta(hours=1))
    assert decided(using, seen({}), {"agg": 0.3}).delayed == {}
    wish = DelayedScaleDown(first_at=at(0), wishes=(Wish(at=at(0), parallelism=2, outside=True),))
    waiting = JobState(delayed={VertexId("agg"): wish})
    assert decided(using, seen({}), {"agg": 0.3}, waiting).delayed == {"agg": wish}
    granted = replace(using, scale_down_interval=timedelta(minutes=5))
    held = decided(granted, seen({}), {"agg": 0.3}, waiting)
    assert wanted(held)["agg"] == 4
    assert held.delayed == {"agg": wish}
    assert wanted(decided(granted, seen({"metric": 100}), {"agg": 0.3}, waiting))["agg"] == 2


def test_growth_may_be_told_to_wait_too() -> None:
    """Where exceeding the limit is worse than falling behind."""
    using = options(signal(SignalUse.UPPER_LIMIT, if_missing=IfMissing.HOLD))
    assert wanted(decided(using, seen({}), {"agg": 3.0}))["agg"] == 4
    assert wanted(decided(using, seen({"metric": 100}), {"agg": 3.0}))["agg"] == 12


@pytest.mark.parametrize(("cpu", "grows"), [(0.79, True), (0.8, False), (0.93, False)])
def test_a_closed_gate_holds_growth_alone(cpu: float, grows: bool) -> None:  # noqa: FBT001
    """Shrinking relieves the cluster, so it goes on."""
    gate = signal(SignalUse.GATE, condition="< 0.8", unit="of all CPUs")
    decision = decided(options(gate), seen({"metric": cpu}), {"source": 3.0, "agg": 0.5})
    assert wanted(decision) == {"source": 12 if grows else 4, "agg": 2, "sink": 4}
    if not grows:
        (step,) = [step for one in decision.proposals for step in one.steps if step.reason is Reason.GATE]
        assert step.detail == f"signal metric is {cpu:g} of all CPUs, growth needs < 0.8"


def test_a_gate_may_hold_any_change() -> None:
    """Only in the hours that somebody's calendar allows, for example."""
    gate = signal(SignalUse.GATE, condition=">= 1", gates=GateScope.ANY)
    assert set(wanted(decided(options(gate), seen({"metric": 0}), {"source": 3.0, "agg": 0.5})).values()) == {4}
    assert wanted(decided(options(gate), seen({"metric": 1}), {"source": 3.0, "agg": 0.5}))["agg"] == 2


def test_a_missing_gate_stops_only_shrinking() -> None:
    """The monitoring may be down while the job must grow."""
    gate = signal(SignalUse.GATE, condition="< 0.8")
    assert wanted(decided(options(gate), seen({}), {"source": 3.0, "agg": 0.5})) == {"source": 12, "agg": 4, "sink": 4}


@pytest.mark.parametrize(
    ("connections", "per_subtask", "most"),
    [(100, 10.0, 10), (109, 10.0, 10), (40, 10.0, 4), (0, 10.0, 4), (-5, 10.0, 4), (0.6, 0.1, 6), (1e300, 1.0, 12)],
)
def test_a_vertex_grows_no_further_than_its_upper_limit(connections: float, per_subtask: float, most: int) -> None:
    """Parallelism times the share of a subtask stays within the value; who is above it already stays there."""
    limit = signal(SignalUse.UPPER_LIMIT, vertex="sink", per_subtask=per_subtask)
    decision = decided(options(limit), seen({"metric": connections}), {"sink": 3.0, "agg": 3.0})
    assert wanted(decision) == {"source": 4, "agg": 12, "sink": most}
    assert (Reason.SIGNAL_LIMIT in reasons(decision, "sink")) is (most < 12)


def test_an_upper_limit_never_shrinks_by_itself() -> None:
    """When less is to be had than is taken, growth ends; what the load asks for may still shrink."""
    limit = signal(SignalUse.UPPER_LIMIT, vertex="sink")
    assert wanted(decided(options(limit), seen({"metric": 1}), {"sink": 3.0}))["sink"] == 4
    assert wanted(decided(options(limit), seen({"metric": 1}), {"sink": 0.5}))["sink"] == 2


def test_vertices_share_an_upper_limit_by_what_they_want() -> None:
    """Of 20 subtasks in all 12 run; the 8 that are left go to both, in proportion, and a shrinking one makes room."""
    limit = signal(SignalUse.UPPER_LIMIT)
    assert wanted(decided(options(limit), seen({"metric": 20}), {"source": 4.0, "agg": 2.0})) == {
        "source": 10,
        "agg": 6,
        "sink": 4,
    }
    roomy = wanted(decided(options(limit), seen({"metric": 20}), {"source": 4.0, "agg": 2.0, "sink": 0.5}))
    assert sum(roomy.values()) == 20
    assert roomy["sink"] == 2


def test_tied_vertices_are_cut_together() -> None:
    """A FORWARD edge ties the sink to a vertex that would be allowed more."""
    tied = replace(GRAPH, edges=tuple(replace(edge, ship_strategy=ShipStrategy.FORWARD) for edge in GRAPH.edges))
    limit = signal(SignalUse.UPPER_LIMIT, vertex="sink")
    decision = decided(options(limit), seen({"metric": 6}, graph=tied), {"agg": 3.0})
    assert wanted(decision) == {"source": 6, "agg": 6, "sink": 6}


def test_a_lag_belongs_to_one_source() -> None:
    """The only one, or the one that is named; where that is nobody, or several, it is missing and nothing shrinks."""
    assert source_of(GRAPH, signal(SignalUse.LAG)) == "source"
    assert source_of(GRAPH, signal(SignalUse.LAG, vertex="sour*")) == "source"
    assert source_of(GRAPH, signal(SignalUse.LAG, vertex="sink")) is None
    two = Topology(vertices=GRAPH.vertices, edges=GRAPH.edges[1:])
    assert source_of(two, signal(SignalUse.LAG)) is None
    lacking = blindness(seen({"metric": 1}, graph=two), options(signal(SignalUse.LAG)), NOW)
    assert lacking == {"metric": "it belongs to one source, and the job has 2"}


def test_a_lag_that_the_engine_tells_is_not_missed() -> None:
    """Its signal may be gone: the engine's own counts, unless the operator said otherwise."""
    told = VertexSample(measured_at=NOW, values={Measure.LAG: 5.0})
    of = replace(seen({}), vertices={VertexId("source"): told})
    assert wanted(decided(options(signal(SignalUse.LAG)), of, {"agg": 0.5}))["agg"] == 2
    assert wanted(decided(options(signal(SignalUse.LAG, over_engine=True)), of, {"agg": 0.5}))["agg"] == 4


def test_added_rates_add_up_and_never_take_away() -> None:
    """Of one source, from any number of signals that count."""
    using = options(
        signal(SignalUse.ADDED_RATE, "a"),
        signal(SignalUse.ADDED_RATE, "b", vertex="source"),
        signal(SignalUse.ADDED_RATE, "below"),
        signal(SignalUse.ADDED_RATE, "elsewhere", vertex="sink"),
        signal(SignalUse.ADDED_RATE, "gone"),
    )
    of = seen({"a": 100.0, "b": 20.0, "below": -50.0, "elsewhere": 9.0})
    assert added_rates(of, using, NOW) == {"source": 120.0}
    assert added_rates(of, using, NOW + timedelta(minutes=2)) == {}


def test_the_same_sample_gives_the_same_decision() -> None:
    """Signals come with the sample, and time is an argument."""
    using = options(signal(SignalUse.UPPER_LIMIT), signal(SignalUse.GATE, "cpu", condition="< 0.5"))
    of = seen({"metric": 20, "cpu": 0.2})
    assert decided(using, of, {"agg": 3.0}) == decided(using, of, {"agg": 3.0})
