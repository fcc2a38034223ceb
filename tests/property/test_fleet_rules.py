"""What is told of a whole fleet in arrays agrees with what is told of each of its jobs in words."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headgate.algorithm.decide import decide
from headgate.algorithm.readiness import readiness
from headgate.model.decision import Outcome
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.pipeline.evaluation import Answers
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import Candidate
from headgate.samplelog.rows import decision_table, read_decision
from headgate.testing.builders import at, sample

NOW = 300
NAMES = [VertexId(name) for name in ("v0", "v1", "v2", "v3")]


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Draw a chain of up to four vertices, some finished, some at or above their bounds."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    ship = st.sampled_from([ShipStrategy.HASH, ShipStrategy.FORWARD, ShipStrategy.REBALANCE])
    return Topology(
        vertices=tuple(
            Vertex(
                id=name,
                name=name,
                parallelism=draw(st.integers(1, 6)),
                max_parallelism=draw(st.sampled_from([4, 8, 128])),
                partitions=draw(st.sampled_from([None, 4, 8])),
                finished=draw(st.sampled_from([False, False, False, True])),
            )
            for name in names
        ),
        edges=tuple(Edge(source=u, target=v, ship_strategy=draw(ship)) for u, v in itertools.pairwise(names)),
    )


@st.composite
def jobs(draw: st.DrawFn) -> list[JobSample]:
    """Draw the ticks of a job whose vertices are as busy as it takes to be about balanced; some ticks are missing."""
    topology, busy = draw(topologies()), {}
    ticks = [second for second in range(0, NOW + 1, 30) if draw(st.sampled_from([True] * 15 + [False]))]
    for vertex in topology.vertices:
        busy[vertex.id] = draw(st.sampled_from([0.62, 0.6, 0.55, 0.5, 0.3, 0.9]))
    missing = draw(st.sampled_from([None, None, None, topology.vertices[-1].id]))
    begins = at(draw(st.sampled_from([-3600, -3600, 250])))
    made = [replace(sample(topology, tick=at(second)), running_since=begins) for second in ticks]
    return [
        replace(
            each,
            vertices={
                vertex: VertexSample(measured_at=each.at, values=_values(share, second))
                for vertex, share in busy.items()
                if vertex != missing or second < NOW / 2
            },
        )
        for each, second in zip(made, ticks, strict=True)
    ]


def _values(busy: float, second: int) -> dict[Measure, float]:
    counted = {Measure.NUM_RECORDS_IN: 100.0 * second, Measure.NUM_RECORDS_OUT: 100.0 * second}
    return counted | {Measure.LOAD: busy, Measure.ACCUMULATED_BUSY_TIME: 1000 * busy * second}


def _answers(fleet: list[list[JobSample]], options: AutoscalerOptions) -> tuple[list[Candidate], Answers]:
    evaluator = InProcessEvaluator(collect_interval=timedelta(seconds=30), keep=timedelta(hours=1))
    named = [[replace(each, job=JobKey(f"c{number}", "job")) for each in job] for number, job in enumerate(fleet)]
    for job in named:
        for each in job:
            evaluator.append([each])
    latest = [job[-1] for job in named if job]
    candidates = [Candidate(sample=each, options=options, window_from=at(0)) for each in latest]
    found = evaluator.evaluate(candidates, at(NOW))
    assert isinstance(found, Answers)
    return candidates, found


options = st.builds(
    AutoscalerOptions,
    metrics_window=st.just(timedelta(seconds=NOW)),
    stabilization_interval=st.sampled_from([timedelta(), timedelta(seconds=60)]),
    parity=st.sampled_from(Parity),
    min_parallelism=st.integers(1, 3),
    max_parallelism=st.sampled_from([3, 200]),
    vertex_exclude_ids=st.sampled_from([(), ("v0",)]),
)


@given(fleet=st.lists(jobs(), min_size=1, max_size=4), chosen=options)
def test_the_screen_lets_nobody_through_who_is_not_ready(
    fleet: list[list[JobSample]], chosen: AutoscalerOptions
) -> None:
    """The array rule may ask too often, but never decides a job ready that the rule in words refuses."""
    candidates, found = _answers(fleet, chosen)

    for place, candidate in enumerate(candidates):
        spans = found.spans.of_job(found.fleet.layout, place)
        pace = found.asked.paces[place]
        refused = readiness(candidate.sample, chosen, spans=spans, pace=pace, now=at(NOW))
        assert bool(found.passing[place]) == (refused is None)


@given(fleet=st.lists(jobs(), min_size=1, max_size=4), chosen=options)
def test_a_balanced_job_would_be_left_alone(fleet: list[list[JobSample]], chosen: AutoscalerOptions) -> None:
    """Whom the array rule calls balanced, the policies leave alone, too: the decision is the same in every field."""
    candidates, found = _answers(fleet, chosen)

    for candidate in candidates:
        answer = found[candidate.sample.job]
        if isinstance(answer, EvaluatedMetrics) and answer.balanced:
            short = decide(candidate.sample, answer, chosen, at(NOW))
            long = decide(candidate.sample, replace(answer, balanced=False), chosen, at(NOW))
            assert (short.outcome, short.reason) == (Outcome.KEEP, Reason.BALANCED)
            assert short == long
            assert read_decision(decision_table([short]).to_pylist()[0]) == short
