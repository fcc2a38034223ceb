"""Whatever decision plugins answer, the rules of the job hold: each by its own words, and all by the one chain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.algorithm.alignment import AlignmentMode
from headgate.algorithm.decide import LoadChain, decide
from headgate.algorithm.policies import scaled
from headgate.algorithm.review import amended
from headgate.model.decision import ConfigChanges, Decision, Outcome, Proposal
from headgate.model.identity import VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.rollback import ParallelismBound, Side
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import DelayedScaleDown, JobState, Wish
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.options.signals import SignalOptions, SignalUse
from headgate.testing.builders import START, at, evaluated, sample

NAMES = [VertexId(name) for name in ("v0", "v1", "v2", "v3")]
HOUR = timedelta(hours=1)
NOW = at(3 * 3600)
GAUGE = SignalOptions(name="connections", source="there", use=SignalUse.UPPER_LIMIT, per_subtask=1.0)

parallelisms = st.integers(1, 24)
few = st.sampled_from([False, False, False, False, False, True])
"""One trouble at a time shows more than all of them."""
wanted_numbers = st.sampled_from([-3, 0, 1, 2, 3, 5, 8, 13, 20, 40, 100, 400])
answer = st.dictionaries(st.sampled_from(NAMES), wanted_numbers, min_size=1, max_size=2) | st.fixed_dictionaries(
    dict.fromkeys(NAMES, wanted_numbers)
)
answers = st.lists(answer, min_size=1, max_size=2)


def graphs(*shipping: ShipStrategy) -> st.SearchStrategy[Topology]:
    """Draw a chain of up to four vertices."""

    @st.composite
    def draw_graph(draw: st.DrawFn) -> Topology:
        names = NAMES[: draw(st.integers(1, len(NAMES)))]
        vertices = tuple(
            Vertex(
                id=name,
                name=name,
                parallelism=draw(parallelisms),
                max_parallelism=draw(st.sampled_from([24, 128])),
                partitions=draw(st.sampled_from([None, None, 6, 30])),
                slot_sharing_group="all",
            )
            for name in names
        )
        ship = st.sampled_from(shipping)
        edges = tuple(Edge(source=u, target=v, ship_strategy=draw(ship)) for u, v in itertools.pairwise(names))
        return Topology(vertices=vertices, edges=edges)

    return draw_graph()


@st.composite
def vertex_metrics(draw: st.DrawFn) -> VertexMetrics:
    """Draw what is known of a vertex: nothing, or how busy it is, what it needs and what limits its growth."""
    if draw(few) and draw(st.booleans()):
        return VertexMetrics(metrics={}, needed_capacity=None, factor=None, outside=False)
    factor = draw(st.floats(0, 6))
    load = 0.9 if draw(few) else draw(st.floats(0, 0.7))
    reasons = st.sampled_from([Reason.SKEW, Reason.DOWNSTREAM_LIMIT])
    return VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: 100.0, ScalingMetric.LOAD: load},
        needed_capacity=100 * factor,
        factor=factor,
        outside=factor != 1,
        limits={draw(reasons): draw(st.floats(1, 5))} if draw(few) else {},
    )


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A job at some moment, its options, and what is known of it."""

    sample: JobSample
    known: EvaluatedMetrics
    options: AutoscalerOptions
    state: JobState

    @property
    def is_doubted(self) -> bool:
        """Tell whether it is not known surely how much waits, or a signal is missing."""
        return self.sample.values[JobMeasure.LAG_ORIGIN] == LagOrigin.DOUBTED or bool(self.options.signals_in_force)


@st.composite
def jobs(draw: st.DrawFn) -> Drawn:
    """Draw jobs in doubt, behind, busy, sick and limited in every way."""
    graph = draw(graphs(ShipStrategy.HASH))
    origin = LagOrigin.DOUBTED if draw(few) else LagOrigin.OFFSETS
    seen = sample(graph, settings=EngineSettings(task_manager_cpus=1.0))
    options = AutoscalerOptions(
        alignment_mode="OFF",
        min_parallelism=draw(st.sampled_from([1, 1, 1, 10])),
        max_parallelism=draw(st.sampled_from([500, 500, 500, 15])),
        scale_up_max_factor=draw(st.sampled_from([100.0, 100.0, 1.0, 0.5])),
        scale_down_max_factor=draw(st.sampled_from([1.0, 1.0, 0.6, 0.3])),
        scale_down_interval=HOUR if draw(few) else timedelta(),
        vertex_exclude_ids=("v1",) if draw(few) else (),
        quota_cpu=draw(st.floats(1, 40)) if draw(few) else None,
        signals_in_force=(GAUGE,) if draw(few) else (),
    )
    return Drawn(
        sample=replace(seen, values={JobMeasure.LAG_ORIGIN: float(origin)}),
        known=EvaluatedMetrics(
            vertices={name: draw(vertex_metrics()) for name in graph.by_id},
            backlog=draw(few),
            coverage=1.0,
            samples=9,
        ),
        options=options,
        state=JobState(delayed=draw(st.dictionaries(st.sampled_from(NAMES), wishes(), max_size=2))),
    )


def wishes() -> st.SearchStrategy[DelayedScaleDown]:
    """Draw wishes to shrink that wait since long ago or not."""
    return st.builds(
        lambda since, wanted: DelayedScaleDown(
            first_at=since, wishes=(Wish(at=since, parallelism=wanted, outside=True),)
        ),
        st.sampled_from([NOW - HOUR, NOW - HOUR / 2]),
        parallelisms,
    )


def answered(job: Drawn, wanted: Sequence[Mapping[VertexId, int]]) -> tuple[Decision, Decision]:
    """Return what the job's numbers decide, taken for a rescale, and what plugins make of it."""
    own = replace(decide(job.sample, job.known, job.options, NOW, job.state), outcome=Outcome.RESCALE)
    chain = LoadChain.of(job.sample, job.known, job.options, NOW, state=job.state)
    found = own
    for answer in wanted:
        if found.outcome is Outcome.RESCALE:
            found = amended(found, answer, ConfigChanges(), chain, plugin="p")
    return own, chain.permitted(found)


def is_allowed(change: Proposal, job: Drawn) -> bool:
    """Tell by the words of the rules whether a vertex may be changed so."""
    vertex, options, known = job.sample.topology.by_id[change.vertex], job.options, job.known.vertices[change.vertex]
    running, wanted = change.current, change.wanted
    up, down = 1 + options.scale_up_max_factor, max(0.0, 1 - options.scale_down_max_factor)
    if known.factor is None or vertex.id in options.vertex_exclude_ids:
        return False
    if wanted > running:
        limits = [up, *known.limits.values()]
        most = [options.max_parallelism, vertex.max_parallelism, vertex.partitions or math.inf]
        return wanted <= min(scaled(running, limit) for limit in limits) and wanted <= min(most)
    busy = known.metrics[ScalingMetric.LOAD] > options.utilization_target
    waits = job.state.delayed.get(vertex.id)
    early = options.scale_down_interval > timedelta() and (waits is None or NOW - waits.first_at < HOUR)
    if busy or job.known.backlog or job.is_doubted or early:
        return False
    return wanted >= min(running, max(scaled(running, down), options.min_parallelism), vertex.largest)


@settings(max_examples=150)
@given(job=jobs(), wanted=answers)
def test_no_answer_breaks_a_rule(job: Drawn, wanted: Sequence[Mapping[VertexId, int]]) -> None:
    """Neither a limit nor a factor nor a doubt nor the quota; every step of the trail begins where the last ended."""
    _, found = answered(job, wanted)

    assert all(is_allowed(change, job) for change in found.changes.values())
    subtasks = max((proposal.wanted for proposal in found.proposals), default=0)
    grows = subtasks > max(proposal.current for proposal in found.proposals)
    if found.changes and grows and job.options.quota_cpu is not None:
        assert subtasks <= job.options.quota_cpu
    for proposal in found.proposals:
        places = [proposal.current, *(step.after for step in proposal.steps)]
        assert [step.before for step in proposal.steps] == places[:-1]
        assert places[-1] == proposal.wanted


@given(job=jobs(), wanted=answers)
def test_no_answer_shrinks_what_a_doubt_holds(job: Drawn, wanted: Sequence[Mapping[VertexId, int]]) -> None:
    """A veto of the smaller kind: in doubt no vertex is left with less than it has, whoever wants it."""
    doubted = replace(job, sample=replace(job.sample, values={JobMeasure.LAG_ORIGIN: float(LagOrigin.DOUBTED)}))
    _, found = answered(doubted, wanted)

    assert all(change.wanted > change.current for change in found.changes.values())


options = st.builds(
    lambda least, spare, **others: AutoscalerOptions(min_parallelism=least, max_parallelism=least + spare, **others),
    st.integers(1, 30),
    st.integers(0, 30),
    scale_up_max_factor=st.sampled_from([0.5, 1.0, 100.0]),
    scale_down_max_factor=st.floats(0, 1),
    scale_down_interval=st.sampled_from([timedelta(), HOUR]),
    alignment_mode=st.sampled_from([None, *(str(mode) for mode in AlignmentMode if not mode.is_legacy)]),
    vertex_exclude_ids=st.sampled_from([(), ("v1",)]),
    parity=st.sampled_from(Parity),
)
sick = st.builds(
    ParallelismBound,
    vertex=st.sampled_from(NAMES),
    parallelism=parallelisms,
    side=st.sampled_from(Side),
    expires_at=st.just(NOW + HOUR),
    why=st.just("it failed"),
)
states = st.builds(
    JobState,
    bounds=st.lists(sick, max_size=3).map(tuple),
    delayed=st.dictionaries(st.sampled_from(NAMES), wishes(), max_size=2),
)


@given(
    graph=graphs(ShipStrategy.HASH, ShipStrategy.FORWARD, ShipStrategy.REBALANCE),
    needed=st.lists(st.floats(0, 6), min_size=len(NAMES), max_size=len(NAMES)),
    option=options,
    state=states,
)
def test_a_plugin_gets_what_the_numbers_would_get(
    graph: Topology, needed: list[float], option: AutoscalerOptions, state: JobState
) -> None:
    """A job in balance of which a plugin wants what some load would ask for ends where that load would take it."""
    seen, balanced = sample(graph), evaluated(graph, {})
    factors = dict(zip(graph.by_id, needed, strict=False))
    asked = {vertex: scaled(graph.parallelism[vertex], factor) for vertex, factor in factors.items()}
    still = replace(
        decide(seen, balanced, option, START),
        at=NOW,
        outcome=Outcome.RESCALE,
        proposals=graph.unchanged,
    )
    chain = LoadChain.of(seen, balanced, option, NOW, state=state)
    by_plugin = amended(still, asked, ConfigChanges(), chain, plugin="p")
    by_load = decide(seen, evaluated(graph, {str(v): f for v, f in factors.items()}), option, NOW, state)

    assert by_plugin.changes.keys() == by_load.changes.keys()
    assert {v: each.wanted for v, each in by_plugin.changes.items()} == {
        v: each.wanted for v, each in by_load.changes.items()
    }
