"""What is shown of jobs over several cycles: nothing stays behind, and what counts goes on counting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.decide import decide, not_ready
from headgate.control import reports
from headgate.control.observation import Observation
from headgate.control.outcomes import unevaluated
from headgate.model.decision import Decision, Outcome
from headgate.model.events import EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import JobMetric, JobValue, ScalingMetric
from headgate.model.reasons import Reason
from headgate.telemetry.board import KEPT, Board
from headgate.testing.builders import ORDERS, at, chain, context, evaluated, sample

Page = Mapping[str, Mapping[tuple[str, ...], float]]
Scrape = Callable[[Board], Page]

OTHER = JobKey("prod", "returns")


def decided(
    seconds: float = 0, *, job: JobKey = ORDERS, factor: float = 1.0, graph: tuple[str, ...] = ("source", "agg")
) -> Decision:
    """Decide for a job of which the last vertex needs so many times its capacity."""
    topology = chain(dict.fromkeys(graph, 2))
    numbers = evaluated(topology, {graph[-1]: factor})
    return decide(sample(topology, job=job), numbers, context(job).options, at(seconds))


def waiting(seconds: float, *, job: JobKey = ORDERS) -> Decision:
    """Decide nothing, as there is no sample yet."""
    return not_ready(job, unevaluated(Observation(ctx=context(job))), at(seconds))


def acting(decision: Decision) -> Decision:
    """Carry the decision out."""
    return replace(decision, acts=True, reason=Reason.RESCALED)


def test_a_job_has_one_outcome_with_its_reason(scrape: Scrape) -> None:
    """Whatever it was before: a panel that counts jobs by reason counts each job once."""
    board = Board()
    for decision in (waiting(0), decided(30), decided(60, factor=4.0)):
        board.decided([decision])
        assert scrape(board)["headgate_job_outcome_info"] == {
            ("prod", "orders", decision.outcome.value, decision.reason.value): 1
        }


def test_a_vertex_that_left_the_graph_leaves_the_metrics(scrape: Scrape) -> None:
    """And one that came is there: the reference registers gauges once, at the first evaluation."""
    board = Board()
    board.decided([decided(0, graph=("source", "agg"))])
    board.decided([decided(30, graph=("source", "join"))])
    page = scrape(board)
    for name, series in page.items():
        if name.startswith("headgate_vertex_"):
            assert {vertex for _, _, vertex, _ in series} == {"source", "join"}, name


def test_a_job_that_vanished_leaves_the_metrics(scrape: Scrape) -> None:
    """All its gauges go with the first cycle without it; the other job stays."""
    board = Board()
    board.decided([decided(0), decided(0, job=OTHER)])
    board.decided([decided(30, job=OTHER)])
    gauges = {name: series for name, series in scrape(board).items() if not name.endswith("_total")}
    assert gauges["headgate_job_outcome_info"].keys() == {("prod", "returns", "Keep", "Balanced")}
    assert not [name for name, series in gauges.items() if any("orders" in labels for labels in series)]


def test_the_last_job_leaves_too(scrape: Scrape) -> None:
    """A cycle without any job is a cycle."""
    board = Board()
    board.decided([decided(0)])
    board.decided([])
    assert "headgate_job_outcome_info" not in scrape(board)


def test_counters_outlive_a_short_absence_but_not_the_job(scrape: Scrape) -> None:
    """A resubmitted job goes on counting; after an hour without it its series are let go of."""
    board = Board()
    late = KEPT.total_seconds()
    board.decided([decided(0)])
    board.decided([decided(30, job=OTHER)])
    board.decided([decided(60)])
    assert scrape(board)["headgate_job_balanced_total"] == {("prod", "orders"): 2, ("prod", "returns"): 1}
    board.decided([decided(60 + late, job=OTHER)])
    assert ("prod", "orders") in scrape(board)["headgate_job_balanced_total"]
    board.decided([decided(61 + late, job=OTHER)])
    assert scrape(board)["headgate_job_balanced_total"] == {("prod", "returns"): 3}


def test_a_cluster_that_is_gone_is_forgotten_with_its_jobs(scrape: Scrape) -> None:
    """Where each job has a cluster of its own their number would grow for ever."""
    board, away = Board(), JobKey("yarn:application_1", "orders")
    board.decided([decided(0), decided(0, job=away)])
    board.decided([decided(KEPT.total_seconds())])
    assert ("yarn:application_1", "Keep", "Balanced") in scrape(board)["headgate_decisions_total"]
    board.decided([decided(1 + KEPT.total_seconds())])
    assert scrape(board)["headgate_decisions_total"] == {("prod", "Keep", "Balanced"): 3}


def test_jobs_that_somebody_paused_are_counted_by_cluster(scrape: Scrape) -> None:
    """None is a number too: an alert on it has a series from the beginning."""
    board = Board()
    board.decided([decided(0), decided(0, job=OTHER)])
    assert scrape(board)["headgate_cluster_paused_jobs"] == {("prod",): 0}
    board.decided([replace(waiting(30), reason=Reason.PAUSED), decided(30, job=OTHER)])
    assert scrape(board)["headgate_cluster_paused_jobs"] == {("prod",): 1}


def test_what_is_done_what_is_said_and_what_is_left_are_counted_apart(scrape: Scrape) -> None:
    """A decision that could not be made is none of them; all of them stand by their reason."""
    board = Board()
    change = decided(0, factor=4.0)
    for decision in (waiting(0), change, acting(change), acting(change), decided(0)):
        board.decided([decision])
    page, job = scrape(board), ("prod", "orders")
    assert page["headgate_job_scalings_total"] == {job: 2}
    assert page["headgate_job_advice_total"] == {job: 1}
    assert page["headgate_job_balanced_total"] == {job: 1}
    assert page["headgate_decisions_total"] == {
        ("prod", "NotReady", "NoSamples"): 1,
        ("prod", "Rescale", change.reason.value): 1,
        ("prod", "Rescale", "Rescaled"): 2,
        ("prod", "Keep", "Balanced"): 1,
    }


def test_a_jobs_errors_are_counted_apart_from_those_of_the_fleet(scrape: Scrape) -> None:
    """Events are counted by reason and type, errors by job too."""
    board = Board()
    fault = ValueError("planted")
    for seconds in (0, 10):
        board.told(reports.job_error(ORDERS, fault, at(seconds), timedelta(minutes=30)))
    board.told(reports.fleet_error("jobs could not be evaluated", "planted", at(0)))
    board.told(reports.job_presence(ORDERS, appeared=True, why="", now=at(0)))
    page = scrape(board)
    assert page["headgate_job_errors_total"] == {("prod", "orders"): 2}
    assert page["headgate_events_total"] == {
        (EventReason.AUTOSCALER_ERROR, EventType.WARNING): 3,
        (EventReason.JOB_APPEARED, EventType.NORMAL): 1,
    }


def test_how_long_a_job_waits_for_the_same_reason(scrape: Scrape) -> None:
    """Seconds from the first decision with the reason; another reason in between begins anew."""
    board, job = Board(), ("prod", "orders")
    seen = []
    for decision in (decided(0), decided(30), waiting(60), waiting(90), decided(120)):
        board.decided([decision])
        page = scrape(board)
        seen.append((page["headgate_job_outcome_seconds"][job], page["headgate_job_not_ready_seconds"][job]))
    assert seen == [(0, 0), (30, 0), (0, 30), (30, 60), (0, 0)]


def test_a_job_that_never_gets_ready_says_how_long_even_if_its_reason_changes(scrape: Scrape) -> None:
    """Restarting over and over, it goes from one reason to the next and is silent with the reference."""
    board = Board()
    for number, reason in enumerate([Reason.STABILIZING, Reason.WINDOW_FILLING, Reason.JOB_NOT_RUNNING] * 3):
        board.decided([replace(waiting(30 * number), reason=reason)])
    page = scrape(board)
    assert page["headgate_job_outcome_seconds"] == {("prod", "orders"): 0}
    assert page["headgate_job_not_ready_seconds"] == {("prod", "orders"): 240}


def test_what_is_unknown_is_a_series_that_is_not_there(scrape: Scrape) -> None:
    """None, NaN and absent alike: a sum over jobs stays a number. Infinity is known, and shown."""
    decision = decided(0)
    assert decision.evaluated is not None
    agg, source = VertexId("agg"), VertexId("source")
    known = dict(decision.evaluated.vertices)
    known[agg] = replace(known[agg], metrics={ScalingMetric.LOAD: math.nan, ScalingMetric.LAG: 5.0})
    known[source] = replace(known[source], metrics={ScalingMetric.TRUE_PROCESSING_RATE: math.inf})
    job = {JobMetric.GC_PRESSURE: JobValue(), JobMetric.HEAP_MEMORY_USED: JobValue(current=7.0)}
    board = Board()
    board.decided([replace(decision, evaluated=replace(decision.evaluated, vertices=known, job=job))])
    page = scrape(board)
    assert "headgate_vertex_load_ratio" not in page
    assert page["headgate_vertex_lag_records"] == {("prod", "orders", "agg", "agg"): 5}
    assert page["headgate_vertex_true_processing_rate_records_per_second"] == {
        ("prod", "orders", "source", "source"): math.inf
    }
    assert "headgate_job_gc_pressure_ratio" not in page
    assert page["headgate_job_heap_used_bytes"] == {("prod", "orders"): 7}
    assert "headgate_job_heap_used_average_bytes" not in page
    assert not [name for name, series in page.items() if any(map(math.isnan, series.values()))]


def test_a_job_that_was_not_evaluated_shows_no_numbers(scrape: Scrape) -> None:
    """Old numbers would look like new ones; the outcome says why there are none."""
    board = Board()
    board.decided([decided(0)])
    board.decided([waiting(30)])
    page = scrape(board)
    assert page["headgate_job_outcome_info"] == {("prod", "orders", "NotReady", "NoSamples"): 1}
    assert not [name for name in page if name.startswith(("headgate_vertex_", "headgate_job_window_"))]


def test_the_recommended_parallelism_stands_beside_the_running_one(scrape: Scrape) -> None:
    """And the rate to be had at it: of what is recommended, so that it fits what then runs."""
    board = Board()
    decision = decided(0, factor=4.0)
    board.decided([decision])
    page, agg = scrape(board), ("prod", "orders", "agg", "agg")
    wanted = decision.targets[VertexId("agg")]
    assert wanted > 2
    assert page["headgate_vertex_parallelism"][agg] == 2
    assert page["headgate_vertex_recommended_parallelism"][agg] == wanted
    assert page["headgate_vertex_expected_processing_rate_records_per_second"][agg] == 100 * wanted


def test_what_would_change_within_its_band_is_not_recommended(scrape: Scrape) -> None:
    """Nobody has cause to change, so nothing does: the running parallelism is recommended, and its rate expected."""
    topology = chain({"source": 2, "agg": 2})
    numbers = evaluated(topology, {"agg": 4.0})
    agg = VertexId("agg")
    within = replace(numbers, vertices={**numbers.vertices, agg: replace(numbers.vertices[agg], outside=False)})
    board = Board()
    board.decided([decide(sample(topology), within, context().options, at(0))])
    page, labels = scrape(board), ("prod", "orders", "agg", "agg")
    assert page["headgate_vertex_recommended_parallelism"][labels] == 2
    assert page["headgate_vertex_expected_processing_rate_records_per_second"][labels] == 200


def test_a_vertex_keeps_its_name_in_a_decision_without_proposals(scrape: Scrape) -> None:
    """Under memory pressure nothing is proposed; a series that changed its labels would be another one."""
    board = Board()
    proposed = decided(0)
    named = tuple(replace(one, name=f"name of {one.vertex}") for one in proposed.proposals)
    pressed = replace(decided(30), proposals=(), reason=Reason.MEMORY_PRESSURE, outcome=Outcome.KEEP)
    board.decided([replace(proposed, proposals=named)])
    before = scrape(board)["headgate_vertex_parallelism"]
    board.decided([pressed])
    assert scrape(board)["headgate_vertex_parallelism"] == before
    assert ("prod", "orders", "agg", "name of agg") in before


@pytest.mark.parametrize(("backlog", "shown"), [(True, 1.0), (False, 0.0)])
def test_what_the_evaluation_rests_on_is_shown(scrape: Scrape, *, backlog: bool, shown: float) -> None:
    """Backlog, and how much of the window there was."""
    decision = decided(0)
    assert decision.evaluated is not None
    board = Board()
    numbers = replace(decision.evaluated, backlog=backlog, coverage=0.5, samples=3)
    board.decided([replace(decision, evaluated=numbers)])
    page, job = scrape(board), ("prod", "orders")
    assert page["headgate_job_backlog"] == {job: shown}
    assert page["headgate_job_window_coverage_ratio"] == {job: 0.5}
    assert page["headgate_job_window_samples"] == {job: 3}


def test_a_reading_does_not_change_while_the_next_cycle_is_written() -> None:
    """A scrape that began before a cycle shows the fleet before it, all of it."""
    board = Board()
    board.decided([decided(0)])
    reading = board.read()
    board.decided([waiting(30), waiting(30, job=OTHER)])
    board.told(reports.job_error(ORDERS, ValueError("planted"), at(30), timedelta(minutes=30)))
    (standing,) = reading.standings
    assert standing.decision.outcome is Outcome.KEEP
    assert dict(reading.decisions) == {("prod", Outcome.KEEP, Reason.BALANCED): 1}
    assert reading.counts[ORDERS].errors == 0
    assert reading.events == {}


def test_a_decision_before_its_turn_leaves_the_other_jobs_as_they_were(scrape: Scrape) -> None:
    """Who is not among the few that were decided for did not vanish; who is stands where it stands now."""
    board = Board()
    board.decided([decided(0), decided(0, job=OTHER)])
    board.decided_early([decided(3, factor=4.0)])

    assert {labels[1:3] for labels in scrape(board)["headgate_job_outcome_info"]} == {
        ("orders", "Rescale"),
        ("returns", "Keep"),
    }
    standings = {standing.decision.job: standing for standing in board.read().standings}
    assert (standings[ORDERS].since, standings[OTHER].since) == (at(3), at(0))


def test_a_decision_before_its_turn_is_counted() -> None:
    """It was made as any other."""
    board = Board()
    board.decided([decided(0), decided(0, job=OTHER)])
    board.decided_early([acting(decided(3, factor=4.0))])

    reading = board.read()

    assert sum(reading.decisions.values()) == 3
    assert reading.decisions["prod", Outcome.RESCALE, Reason.RESCALED] == 1


def test_a_decision_that_a_cycle_tells_again_is_counted_once() -> None:
    """The cycle has left the job at what was decided before its turn."""
    board, early = Board(), acting(decided(3, factor=4.0))
    board.decided([decided(0), decided(0, job=OTHER)])
    board.decided_early([early])
    board.decided([decided(2, job=OTHER), early])

    reading = board.read()

    assert sum(reading.decisions.values()) == 4
    assert {standing.decision.job: standing.decision.at for standing in reading.standings}[ORDERS] == at(3)


def test_the_cycle_after_it_goes_on_from_there() -> None:
    """What lasts since an early decision lasts since then; what is gone by the next cycle is gone."""
    board = Board()
    board.decided([decided(0), decided(0, job=OTHER)])
    board.decided_early([decided(3, factor=4.0)])
    board.decided([decided(10, factor=4.0)])

    (standing,) = board.read().standings
    assert (standing.decision.at, standing.since) == (at(10), at(3))
