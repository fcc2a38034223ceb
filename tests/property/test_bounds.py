"""What made a job sick is never reached before it is forgotten, for any numbers, options, plugins and actuators."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headgate.algorithm.alignment import AlignmentMode
from headgate.algorithm.bounds import within
from headgate.algorithm.decide import LoadChain, decide
from headgate.algorithm.plan import groups
from headgate.algorithm.review import amended
from headgate.algorithm.rules import rules_of
from headgate.control.redeployment import Redeployment
from headgate.model.decision import ConfigChanges, Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.rollback import ParallelismBound, Side
from headgate.model.samples import EngineSettings
from headgate.model.state import DelayedScaleDown, JobState, Wish
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation, Parity
from headgate.testing.builders import START, at, context, evaluated, sample

NAMES = [VertexId(name) for name in ("v0", "v1", "v2", "v3")]
EXPIRY = at(3600)
NOW = at(1800)
BY_REDEPLOY = Redeployment(applies=lambda _: True)

parallelisms = st.integers(1, 24)
factors = st.floats(0, 6, allow_nan=False)


def bounds_of(*vertices: VertexId, least: int = 0) -> st.SearchStrategy[tuple[ParallelismBound, ...]]:
    """Draw bounds of these vertices, often several of one."""
    bound = st.builds(
        ParallelismBound,
        vertex=st.sampled_from(vertices),
        parallelism=parallelisms,
        side=st.sampled_from(Side),
        expires_at=st.just(EXPIRY),
        why=st.just("it failed"),
    )
    return st.lists(bound, min_size=least, max_size=6).map(tuple)


wishes = st.builds(
    lambda wanted: DelayedScaleDown(first_at=START, wishes=(Wish(at=NOW, parallelism=wanted, outside=True),)),
    parallelisms,
)
states = st.builds(
    JobState,
    bounds=bounds_of(*NAMES),
    delayed=st.dictionaries(st.sampled_from(NAMES), wishes, max_size=2),
    job_wide=st.none() | parallelisms,
)
options = st.builds(
    lambda least, spare, **others: AutoscalerOptions(min_parallelism=least, max_parallelism=least + spare, **others),
    st.integers(1, 30),
    st.integers(0, 30),
    scale_down_max_factor=st.floats(0, 1),
    scale_down_interval=st.sampled_from([timedelta(), timedelta(minutes=1)]),
    alignment_mode=st.sampled_from([None, *(str(mode) for mode in AlignmentMode if not mode.is_legacy)]),
    vertex_exclude_ids=st.sampled_from([(), ("v1",)]),
    parity=st.sampled_from(Parity),
    deviations_off=st.sampled_from([(), (Deviation.FORWARD_EQUAL,), (Deviation.NO_DRAG,)]),
)


@st.composite
def graphs(draw: st.DrawFn) -> Topology:
    """Draw a chain of up to four vertices whose ends run at the same parallelism or not."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    ship = st.sampled_from([ShipStrategy.HASH, ShipStrategy.FORWARD, ShipStrategy.REBALANCE])
    together = draw(st.none() | parallelisms)
    return Topology(
        vertices=tuple(
            Vertex(
                id=name,
                name=name,
                parallelism=together or draw(parallelisms),
                max_parallelism=draw(st.sampled_from([24, 128])),
                partitions=draw(st.sampled_from([None, None, 6, 30])),
            )
            for name in names
        ),
        edges=tuple(Edge(source=u, target=v, ship_strategy=draw(ship)) for u, v in itertools.pairwise(names)),
    )


def is_crossed(state: JobState, running: int, vertex: VertexId, wanted: int) -> bool:
    """Tell by the words of the rule whether a change goes to where the job was sick, or further into it."""
    for bound in state.bounds:
        above = bound.side is Side.BELOW and wanted >= bound.parallelism and wanted > running
        below = bound.side is Side.ABOVE and wanted <= bound.parallelism and wanted < running
        if bound.vertex == vertex and (above or below):
            return True
    return False


def crosses(decision: Decision, state: JobState) -> bool:
    """Tell whether a decision takes any vertex across any bound."""
    changes = decision.changes.values()
    return any(is_crossed(state, change.current, change.vertex, change.wanted) for change in changes)


def _decided(graph: Topology, needs: list[float], option: AutoscalerOptions, state: JobState) -> Decision:
    factor = {str(vertex): need for vertex, need in zip(graph.by_id, needs, strict=False)}
    return decide(sample(graph), evaluated(graph, factor), option, NOW, state)


def _rescale(graph: Topology, needs: list[float], option: AutoscalerOptions, state: JobState) -> Decision:
    """Return a decision that changes something, or might."""
    return replace(_decided(graph, needs, option, state), outcome=Outcome.RESCALE)


needs = st.lists(factors, min_size=len(NAMES), max_size=len(NAMES))


@given(graph=graphs(), needed=needs, option=options, state=states)
def test_no_decision_crosses_a_bound(
    graph: Topology, needed: list[float], option: AutoscalerOptions, state: JobState
) -> None:
    """
    Not by load, not by limits, alignment, a wish that waited or an equal end.

    Nothing moves only for a bound, and ends that must be equal stay so.
    """
    decision = _decided(graph, needed, option, state)
    free = _decided(graph, needed, option, replace(state, bounds=()))

    assert not crosses(decision, state)
    if decision.changes:
        assert free.changes
    if Deviation.FORWARD_EQUAL in rules_of(option):
        assert all(len({decision.targets[vertex] for vertex in tied}) == 1 for tied in groups(graph))


@given(graph=graphs(), needed=needs, option=options, state=states, gives=st.none() | st.integers(-3, 40))
def test_no_alignment_of_somebodys_own_crosses_a_bound(
    graph: Topology, needed: list[float], option: AutoscalerOptions, state: JobState, gives: int | None
) -> None:
    """Whatever it gives, for whatever vertex."""
    factor = {str(vertex): need for vertex, need in zip(graph.by_id, needed, strict=False)}
    decision = decide(sample(graph), evaluated(graph, factor), option, NOW, state, align=lambda *_: gives)
    assert not crosses(decision, state)


@given(graph=graphs(), needed=needs, option=options, state=states)
def test_a_bound_that_has_expired_holds_nothing(
    graph: Topology, needed: list[float], option: AutoscalerOptions, state: JobState
) -> None:
    """The decision is the one of a job that was never sick."""
    old = replace(state, bounds=tuple(replace(bound, expires_at=NOW) for bound in state.bounds))
    assert _decided(graph, needed, option, old) == _decided(graph, needed, option, replace(state, bounds=()))


@given(
    graph=graphs(),
    needed=needs,
    option=options,
    state=states,
    asked=st.dictionaries(st.sampled_from(NAMES), st.integers(-3, 40)),
)
def test_no_plugin_crosses_a_bound(
    graph: Topology, needed: list[float], option: AutoscalerOptions, state: JobState, asked: dict[VertexId, int]
) -> None:
    """Whatever it answers, for whatever vertex."""
    wanted = _rescale(graph, needed, option, state)
    assert wanted.evaluated is not None
    rules = LoadChain.of(sample(graph), wanted.evaluated, option, NOW, state=state)
    decision = amended(wanted, asked, ConfigChanges(), rules, plugin="p")
    assert not crosses(decision, state)


@given(graph=graphs(), needed=needs, option=options, state=states, config=st.booleans())
def test_no_redeploy_of_a_whole_job_crosses_a_bound(
    graph: Topology, needed: list[float], option: AutoscalerOptions, state: JobState, *, config: bool
) -> None:
    """With one parallelism for all of its vertices, also where only configuration changes."""
    decision = _rescale(graph, needed, option, state)
    if config:
        decision = replace(decision, config=ConfigChanges(overrides={"a": "b"}))
    running, ctx = sample(graph, settings=EngineSettings(adaptive=False)), context(options=option)
    planned = BY_REDEPLOY.planned(ctx, running, state, decision)
    started = BY_REDEPLOY.of(ctx, running, state, planned)

    assert not crosses(planned, state)
    assert started
    if planned.outcome is Outcome.RESCALE:
        following = [vertex for vertex in graph.vertices if vertex.parallelism == state.job_wide] or graph.vertices
        wanted = started.after.parallelism or 0
        assert not any(is_crossed(state, vertex.parallelism, vertex.id, wanted) for vertex in following)
    old = replace(state, bounds=tuple(replace(bound, expires_at=NOW) for bound in state.bounds))
    free = replace(state, bounds=())
    assert BY_REDEPLOY.planned(ctx, running, old, decision) == BY_REDEPLOY.planned(ctx, running, free, decision)


@given(graph=graphs(), option=options, state=states)
def test_the_short_way_for_jobs_in_balance_is_the_long_one(
    graph: Topology, option: AutoscalerOptions, state: JobState
) -> None:
    """A bound moves no vertex of a job whose numbers ask for nothing."""
    remembering = JobState(bounds=state.bounds)
    inside = tuple(
        replace(vertex, partitions=None, max_parallelism=max(vertex.max_parallelism, vertex.parallelism))
        for vertex in graph.vertices
    )
    calm = replace(graph, vertices=inside)
    balanced = replace(evaluated(calm, {}), balanced=True)
    short = decide(sample(calm), balanced, option, NOW, remembering)
    long = decide(sample(calm), replace(balanced, balanced=False), option, NOW, remembering)
    assert replace(short, evaluated=None) == replace(long, evaluated=None)


@given(sick=bounds_of(NAMES[0], least=1), current=parallelisms, wanted=st.integers(0, 60))
def test_what_is_within_is_wanted_as_far_as_may_be(
    sick: tuple[ParallelismBound, ...], current: int, wanted: int
) -> None:
    """It lies between what runs and what is wanted, and the next step towards that would cross."""
    state = JobState(bounds=sick)
    found = within(sick, NAMES[0], current, wanted, NOW)
    step = 1 if wanted > current else -1

    assert min(current, wanted) <= found.parallelism <= max(current, wanted)
    assert not is_crossed(state, current, NAMES[0], found.parallelism)
    assert bool(found.why) is (found.parallelism != wanted)
    if found.why:
        assert is_crossed(state, current, NAMES[0], found.parallelism + step)
    assert within(sick, NAMES[0], current, wanted, EXPIRY).parallelism == wanted
    assert within(sick, NAMES[1], current, wanted, NOW).parallelism == wanted
