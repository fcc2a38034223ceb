"""Whatever signals say: no limit is passed, nothing shrinks in the dark, and a closed gate lets no growth through."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headgate.algorithm.decide import decide
from headgate.algorithm.signals import matching
from headgate.model.samples import JobSample, Signal
from headgate.model.topology import ShipStrategy, Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import Condition, IfMissing, SignalOptions, SignalUse
from headgate.testing.builders import at, chain, evaluated, sample

NOW = at(600)
NAMES = ("source", "agg", "sink")
PARALLELISM = st.fixed_dictionaries({name: st.integers(1, 20) for name in NAMES})
FACTORS = st.fixed_dictionaries({name: st.sampled_from([0.1, 0.5, 1.0, 1.7, 4.0]) for name in NAMES})
WAYS = st.sampled_from([ShipStrategy.HASH, ShipStrategy.FORWARD])
LIMITS = st.builds(
    SignalOptions,
    name=st.just("metric"),
    source=st.just("there"),
    use=st.just(SignalUse.UPPER_LIMIT),
    vertex=st.sampled_from([None, *NAMES, "s*"]),
    per_subtask=st.sampled_from([0.3, 1.0, 7.0]),
)
VALUES = st.none() | st.floats(-10, 500, allow_nan=False)


def graph(parallelism: dict[str, int], ways: tuple[ShipStrategy, ShipStrategy]) -> Topology:
    """Give a chain with these ways of shipping."""
    plain = chain(parallelism)
    edges = (replace(edge, ship_strategy=how) for edge, how in zip(plain.edges, ways, strict=True))
    return replace(plain, edges=tuple(edges))


def seen(topology: Topology, value: float | None) -> JobSample:
    """Give a sample with or without the signal."""
    signals = {} if value is None else {"metric": Signal(value=value, measured_at=NOW)}
    return replace(sample(topology, tick=NOW), signals=signals)


@given(PARALLELISM, FACTORS, VALUES, LIMITS, st.tuples(WAYS, WAYS))
def test_no_upper_limit_is_passed_and_nothing_shrinks_without_it(
    parallelism: dict[str, int],
    factors: dict[str, float],
    value: float | None,
    limit: SignalOptions,
    ways: tuple[ShipStrategy, ShipStrategy],
) -> None:
    """Together its vertices take no more than there is, or than they took before; FORWARD ends stay equal."""
    options = AutoscalerOptions(signals_in_force=(limit,), scale_down_interval=timedelta())
    topology = graph(parallelism, ways)
    decision = decide(seen(topology, value), evaluated(topology, factors), options, NOW)
    wanted, members = decision.targets, [each.id for each in matching(topology, limit)]
    before, after = sum(topology.parallelism[each] for each in members), sum(wanted[each] for each in members)
    if value is None:
        assert all(wanted[name] >= topology.parallelism[name] for name in topology.parallelism)
    else:
        assert after <= max(before, value / limit.per_subtask + 1e-6)
    for edge in topology.edges:
        ends = edge.source, edge.target
        if edge.ship_strategy is ShipStrategy.FORWARD and len({topology.parallelism[end] for end in ends}) == 1:
            assert len({wanted[end] for end in ends}) == 1


@given(PARALLELISM, FACTORS, VALUES, st.sampled_from(IfMissing))
def test_through_a_closed_gate_nothing_grows(
    parallelism: dict[str, int], factors: dict[str, float], value: float | None, if_missing: IfMissing
) -> None:
    """Through an open one all that would grow does; a gate that is missing is as its option says."""
    gate = SignalOptions(name="metric", source="there", use=SignalUse.GATE, condition="< 100", if_missing=if_missing)
    plain = AutoscalerOptions(scale_down_interval=timedelta())
    topology = chain(parallelism)
    asked = decide(seen(topology, value), evaluated(topology, factors), plain, NOW).targets
    gated = replace(plain, signals_in_force=(gate,))
    wanted = decide(seen(topology, value), evaluated(topology, factors), gated, NOW).targets
    is_open = if_missing is IfMissing.GROW if value is None else Condition.parse("< 100").holds(value)
    for name, running in topology.parallelism.items():
        may_shrink = value is not None
        most = asked[name] if is_open else min(asked[name], running)
        assert wanted[name] == (most if may_shrink else max(most, running))
